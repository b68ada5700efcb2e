"""Cases of the element-wise operators on one operand, of clamp, where and masked_fill, and copies."""

import torch

from op_case import ALL, FLOATS, INTS, case, channels_last, family, in_order, refuse, tensor

f32, f64, f16, bf16 = torch.float32, torch.float64, torch.float16, torch.bfloat16
u8, i8, i32, i64, boolean = torch.uint8, torch.int8, torch.int32, torch.int64, torch.bool
inf, nan = float("inf"), float("nan")

SPECIAL = torch.tensor([inf, -inf, nan, 0.0, -0.0, 1e-30, -1e-3, 0.3, -0.5, 2.5, -87.0, 88.5, 1e20])
# So large that a step of the computation may overflow: numbers that hide an element, for example.
LARGE = torch.tensor([1e30, -1e30, 4e9, -4e9, 7e12, -7e12, 3e27, -3e27, 3.4e38, -3.4e38, 200, -200])


def forms(name, *args, low=-4, high=4, dtype=f32, **kwargs):
    """Empty, 0-d, channels last, in place; for a few operators more elements than a block."""
    big = name in ("aten::exp.out", "aten::relu.out", "aten::gelu.out")
    for sizes in [(), (0,), (2, 0, 3), (1, 1)]:
        case(name, tensor(sizes, dtype, low, high), *args, **kwargs)
    x = tensor([2, 3, 2, 2], dtype, low, high)
    case(name, channels_last(x), *args, **kwargs)
    case(name, channels_last(x), *args, out_order=[0, 1, 2, 3], **kwargs)
    case(name, x, *args, out_order=[0, 2, 3, 1], **kwargs)
    case(name, in_order(x, [3, 1, 0, 2]), *args, out_order=[3, 1, 0, 2], **kwargs)
    case(name, tensor([3, 90 if big else 4], dtype, low, high), *args, **kwargs)


# Operators that compute integers as float: (name, range in which they are defined).
for op, low, high in [
        ("acos", -1, 1), ("acosh", 1, 9), ("asin", -1, 1), ("asinh", -9, 9), ("atan", -9, 9),
        ("atanh", -1, 1), ("cos", -9, 9), ("cosh", -5, 5), ("erf", -4, 4), ("erfc", -4, 4),
        ("exp", -9, 9),
        ("expm1", -5, 5), ("log", 0, 9), ("log10", 0, 9), ("log1p", -1, 9), ("log2", 0, 9),
        ("reciprocal", -4, 4), ("rsqrt", 0, 9), ("sigmoid", -9, 9), ("sin", -9, 9),
        ("sinh", -5, 5), ("sqrt", 0, 9), ("tan", -4, 4), ("tanh", -4, 4)]:
    with family("op_" + op):
        name = f"aten::{op}.out"
        for dtype in ALL:
            case(name, tensor([2, 5], dtype, low, high))
        forms(name, low=low, high=high)
        case(name, SPECIAL)
        case(name, SPECIAL.to(f64))
        case(name, SPECIAL.to(f16))
        if op == "sigmoid":
            case(name, LARGE)
        case(name, tensor([4], f32, low, high), out_dtype=f64, tolerance=(1e-5, 1e-6))
        refuse(name, tensor([4], i32, low, high), outs=tensor([4], i32))
        refuse(name, tensor([4], f32, low, high), outs=tensor([4], i64))

# Operators that keep the dtype, integers too.
for op in ["abs", "ceil", "floor", "neg", "relu", "round", "sign", "trunc"]:
    with family("op_" + op):
        name = f"aten::{op}.out"
        for dtype in FLOATS + INTS:
            case(name, tensor([2, 5], dtype))
        forms(name)
        case(name, SPECIAL)
        case(name, torch.tensor([0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 8388607.5, 16777216, -1e9]))
        case(name, torch.tensor([-2**63, 2**63 - 1]))
        case(name, tensor([4], i8), out_dtype=i32)
        if op == "sign":
            case(name, torch.tensor([True, False]))
        elif op != "abs":
            refuse(name, torch.tensor([True, False]), outs=tensor([2], boolean))

with family("op_bitwise_not"):
    for dtype in INTS + (boolean,):
        case("aten::bitwise_not.out", tensor([2, 5], dtype, -99, 99))
    forms("aten::bitwise_not.out", dtype=i32)
    refuse("aten::bitwise_not.out", tensor([2]), outs=tensor([2]))

for op in ["isinf", "isnan", "logical_not"]:
    with family("op_" + op):
        name = f"aten::{op}.out"
        expect = {"isinf": torch.isinf, "isnan": torch.isnan, "logical_not": torch.logical_not}[op]
        for value in [tensor([2, 5], dtype, -1, 1) for dtype in ALL] + [
                SPECIAL, SPECIAL.to(f16), SPECIAL.to(bf16), SPECIAL.to(f64), tensor([]),
                tensor([0, 2]), channels_last(tensor([1, 2, 2, 2], f32, -1, 1))]:
            case(name, value, expect=expect(value))
        case(name, SPECIAL, expect=expect(SPECIAL), out_dtype=f32)

with family("op_conj_physical"):
    for dtype in ALL:
        case("aten::_conj_physical.out", tensor([2, 3], dtype))


def of_float(name, *args, special=SPECIAL, **kwargs):
    for dtype in FLOATS:
        case(name, tensor([2, 6], dtype), *args, **kwargs)
    forms(name, *args, **kwargs)
    case(name, special, *args, **kwargs)


with family("op_gelu"):
    for approximate in ["none", "tanh"]:
        # PyTorch's vectorised code yields NaN for infinity; op_gelu_test.cpp expects the limits.
        of_float("aten::gelu.out", approximate=approximate, special=SPECIAL[2:])
    refuse("aten::gelu.out", tensor([2]), approximate="sin", outs=tensor([2]))
    refuse("aten::gelu.out", tensor([2], i32), outs=tensor([2], i32))

with family("op_elu"):
    of_float("aten::elu.out")
    of_float("aten::elu.out", 0.5, 2.0, 1.5)
    of_float("aten::elu.out", 2)

with family("op_leaky_relu"):
    of_float("aten::leaky_relu.out")
    of_float("aten::leaky_relu.out", 0.5)
    of_float("aten::leaky_relu.out", -1)

with family("op_logit"):
    for dtype in FLOATS:
        case("aten::logit.out", tensor([12], dtype, 0, 1))
        case("aten::logit.out", tensor([12], dtype, 0, 1), 0.125)
    case("aten::logit.out", tensor([4], boolean), 0.25)
    case("aten::logit.out", SPECIAL)
    case("aten::logit.out", SPECIAL, 1e-3)

for op in ["silu", "hardswish", "hardsigmoid"]:
    with family("op_" + op):
        of_float(f"aten::{op}.out")
        if op == "silu":
            case("aten::silu.out", LARGE)

with family("op_hardtanh"):
    for dtype in FLOATS + INTS:
        if dtype != u8:
            case("aten::hardtanh.out", tensor([2, 5], dtype))
        case("aten::hardtanh.out", tensor([2, 5], dtype), 1, 3)
    forms("aten::hardtanh.out", 0.0, 3.5)
    case("aten::hardtanh.out", SPECIAL, 0.0, 6.0)

with family("op_clamp"):
    name, tensor_name = "aten::clamp.out", "aten::clamp.Tensor_out"
    for dtype in FLOATS + INTS:
        case(name, tensor([2, 5], dtype), 1, 3)
        case(name, tensor([2, 5], dtype), 2)
        case(name, tensor([2, 5], dtype), None, 1)
        case(tensor_name, tensor([2, 5], dtype), tensor([5], dtype), tensor([2, 1], dtype))
    forms(name, -0.5, 2.25)
    for low, high in [(0.1, None), (None, 0.7), (3.0, 1.0), (nan, None), (None, nan), (1.0, nan)]:
        case(name, SPECIAL, low, high)
    case(name, tensor([5], i32), -1.5, 2)
    case(name, torch.tensor([200, 3], dtype=u8), -5, 100)
    for low, high in [(tensor([3]), None), (None, tensor([3])), (tensor([3]), tensor([])),
                      (tensor([2, 1, 3]), tensor([2, 1])), (tensor([3], f64), tensor([3], i32))]:
        case(tensor_name, tensor([2, 3]), low, high)
    case(tensor_name, SPECIAL, torch.full([13], nan), None)
    case(tensor_name, SPECIAL, torch.full([13], 0.5), torch.full([13], nan))
    refuse(name, tensor([2]), None, None, outs=tensor([2]))
    refuse(tensor_name, tensor([2]), tensor([3]), None, outs=tensor([2]))

with family("op_where"):
    name = "aten::where.self_out"
    for dtype in ALL:
        case(name, tensor([2, 5], boolean), tensor([2, 5], dtype), tensor([2, 5], dtype))
    for c, a, b in [((3,), (2, 3), (2, 3)), ((2, 3), (3,), ()), ((2, 1), (3,), (1, 3)), ((), (), ()),
                    ((0, 2), (2,), (1, 2)), ((2, 1, 2), (3, 1), (2,))]:
        case(name, tensor(c, boolean), tensor(a), tensor(b))
    for a, b in [(f32, f64), (u8, i8), (i64, f16), (i32, i64), (boolean, i32)]:
        case(name, tensor([6], boolean), tensor([6], a), tensor([6], b))
    case(name, torch.arange(13) % 2 == 0, SPECIAL, torch.zeros(13))
    case(name, torch.tensor([0, 255, 1], dtype=u8), tensor([3], i8), tensor([3], i8))
    case(name, torch.tensor([True, False]), torch.tensor([2**53 + 1, 1]), torch.tensor([5, -2**63]))
    x = channels_last(tensor([2, 3, 2, 2]))
    case(name, tensor([2, 3, 2, 2], boolean), x, x + 1, out_order=[0, 2, 3, 1])
    case(name, tensor([300], boolean), tensor([300]), tensor([300]))
    refuse(name, tensor([2]), tensor([2]), tensor([2]), outs=tensor([2]))

with family("op_masked_fill"):
    for dtype in ALL:
        case("aten::masked_fill.Scalar_out", tensor([2, 5], dtype), tensor([2, 5], boolean), 1)
        case("aten::masked_fill.Tensor_out", tensor([2, 5], dtype), tensor([5], boolean),
             torch.tensor(2).to(dtype))
    name = "aten::masked_fill.Scalar_out"
    case(name, tensor([2, 3]), tensor([3], boolean), -inf)
    case(name, tensor([2, 3]), tensor([4, 1, 1], boolean), 0.5)
    case(name, tensor([]), tensor([], boolean), 0.5)
    case(name, tensor([0, 3]), tensor([1, 3], boolean), 0.5)
    case(name, channels_last(tensor([1, 2, 2, 2])), tensor([2, 2], boolean), 9.0)
    case(name, tensor([300]), tensor([300], boolean), nan)
    refuse(name, tensor([3]), tensor([3]), 0.5, outs=tensor([3]))

with family("op_fill"):
    for dtype in ALL:
        case("aten::fill.Scalar_out", tensor([2, 3], dtype), 1)
        case("aten::fill.Tensor_out", tensor([2, 3], dtype), torch.tensor(2).to(dtype))
    for sizes in [(), (0, 2), (300,)]:
        case("aten::fill.Scalar_out", tensor(sizes), 0.1)
        case("aten::fill.Tensor_out", tensor(sizes), torch.tensor(0.1))
    case("aten::fill.Tensor_out", tensor([2], i64), torch.tensor(3, dtype=u8))
    case("aten::fill.Scalar_out", channels_last(tensor([1, 2, 2, 2])), nan)
    refuse("aten::fill.Tensor_out", tensor([2]), tensor([2]), outs=tensor([2]))

with family("op_copy"):
    for dtype in ALL:
        case("aten::copy.out", tensor([2, 3], dtype), tensor([2, 3], f32))
        case("aten::copy.out", tensor([2, 3], f32), tensor([3], dtype))
    x = tensor([2, 3, 2, 2])
    case("aten::copy.out", channels_last(x), tensor([2, 3, 2, 2]), out_order=[0, 2, 3, 1])
    case("aten::copy.out", x, channels_last(tensor([2, 3, 2, 2])), out_order=[0, 1, 2, 3])
    case("aten::copy.out", x, tensor([3, 1, 2]))
    case("aten::copy.out", tensor([0, 2]), tensor([2]))
    case("aten::copy.out", tensor([]), tensor([], i32))
    refuse("aten::copy.out", tensor([3]), tensor([2, 3]), outs=tensor([3]))
    refuse("aten::copy.out", tensor([3]), tensor([2]), outs=tensor([3]))

with family("op_to_copy"):
    for source in ALL:
        for target in ALL:
            x = tensor([6], source)
            case("aten::_to_copy.out", x, expect=x.to(target))
    for name, order in [("aten::_to_copy.out", None),
                        ("dim_order_ops::_to_dim_order_copy.out", [0, 2, 3, 1])]:
        x = tensor([2, 3, 2, 2])
        for source in [x, channels_last(x), in_order(x, [3, 1, 0, 2])]:
            rest = () if order is None else (False, order)
            case(name, source, *rest, expect=x.to(f16), out_order=[0, 2, 3, 1])
            case(name, source, *rest, expect=x, out_order=[0, 2, 3, 1])
    name = "dim_order_ops::_to_dim_order_copy.out"
    x = tensor([2, 3])
    case(name, x, False, None, expect=x.to(i32))
    case(name, x, True, [0, 1], expect=x)
    case(name, tensor([2, 3], i64), False, [1, 0], expect=torch.zeros(2, 3), compare=False,
         out_order=[1, 0])
    case(name, tensor([300], torch.int16), False, None, expect=torch.zeros(300), compare=False)
    case(name, torch.tensor(0.5), False, [], expect=torch.tensor(0))
    case(name, tensor([0, 3]), False, [0, 1], expect=tensor([0, 3], f64))
    refuse(name, x, False, [1, 0], outs=x)
    refuse(name, x, False, [0, 1, 2], outs=x)
    gray = tensor([2, 1, 3, 2])  # Wherever its only channel stands, the elements lie alike.
    for order in [[0, 1, 2, 3], [0, 2, 1, 3], [0, 2, 3, 1]]:
        case(name, gray, False, [0, 2, 3, 1], expect=gray.to(f16), out_order=order)
    refuse(name, gray, False, [0, 3, 1, 2], outs=gray)
    refuse(name, gray, False, [0, 2, 3, 4], outs=gray)

with family("op_clone"):
    for name, args in [("aten::clone.out", (None,)), ("aten::alias_copy.out", ()),
                       ("dim_order_ops::_clone_dim_order.out", (False, None)),
                       ("aten::lift_fresh_copy.out", ()), ("aten::detach_copy.out", ()),
                       ("llama::fallback.out", ())]:
        for value in [tensor([2, 3], dtype) for dtype in ALL] + [
                tensor([]), tensor([0, 2]), channels_last(tensor([2, 3, 2, 2])), SPECIAL]:
            case(name, value, *args, expect=value)
        refuse(name, tensor([2]), *args, outs=tensor([2], f64))
    x = tensor([2, 3, 4, 2])
    case("dim_order_ops::_clone_dim_order.out", x, False, [0, 2, 3, 1], expect=x,
         out_order=[0, 2, 3, 1])
    case("dim_order_ops::_clone_dim_order.out", channels_last(x), False, [0, 1, 2, 3], expect=x,
         out_order=[0, 1, 2, 3])
    gray = tensor([2, 1, 4, 2])
    case("dim_order_ops::_clone_dim_order.out", gray, False, [0, 2, 3, 1], expect=gray,
         out_order=[0, 2, 1, 3])
    refuse("dim_order_ops::_clone_dim_order.out", x, False, [0, 1, 2], outs=x)

with family("op_pow"):
    name, scalar_name = "aten::pow.Tensor_Tensor_out", "aten::pow.Tensor_Scalar_out"
    for dtype in FLOATS + INTS:
        case(name, tensor([2, 5], dtype), tensor([2, 5], dtype, 0, 3))
        for exponent in [0, 1, 2, 3]:
            case(scalar_name, tensor([5], dtype), exponent)
        case("aten::pow.Scalar_out", 3, tensor([5], dtype, 0, 4))
    for exponent in [0.5, -1, -2, 2.5, -0.5, 0.0, 2.0, inf]:
        case(scalar_name, SPECIAL, exponent)
        case(scalar_name, tensor([6], f16, 0, 3), exponent)
    case(scalar_name, tensor([6], i32), 2.5)
    case(scalar_name, tensor([6], i32), 2.0)
    case(scalar_name, tensor([6], boolean), 2)
    case(name, torch.tensor([1, -1, -1, 2, 0]), torch.tensor([-3, -3, -2, -1, -1]))
    case(name, torch.tensor([3, -7]), torch.tensor([63, 41]))
    for a, b in [((2, 1), (3,)), ((), ()), ((0, 2), (2,))]:
        case(name, tensor(a, f32, 0, 4), tensor(b))
    for a, b in [(f32, i32), (i8, i64), (i32, f64), (f16, f32)]:
        case(name, tensor([4], a, 0, 4), tensor([4], b, 0, 2))
    case("aten::pow.Scalar_out", 2.5, tensor([4], i32))
    case("aten::pow.Scalar_out", 1.0, SPECIAL)
    refuse(scalar_name, tensor([3], i32), -1, outs=tensor([3], i32))
