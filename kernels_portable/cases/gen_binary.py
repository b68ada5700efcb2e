"""Cases of the element-wise operators on two operands."""

import torch

from op_case import ALL, FLOATS, INTS, case, channels_last, family, in_order, refuse, tensor

f32, f64, f16, bf16 = torch.float32, torch.float64, torch.float16, torch.bfloat16
u8, i8, i16, i32, i64 = torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64
inf, nan = float("inf"), float("nan")

SPECIAL = torch.tensor([inf, -inf, nan, 0.0, -0.0, 1.5, -2.5, 3e38])


def nonzero(value):
    return torch.where(value == 0, torch.ones_like(value), value)


def shapes(name, change=lambda x: x, dtype=f32, **kwargs):
    """Broadcasting, empty and 0-d operands, other dim orders; for add also more than a block."""
    big = 260 if name == "aten::add.out" else 5
    for a, b in [((2, 3), (3,)), ((2, 1, 3), (4, 1)), ((3,), (2, 3)), ((), ()), ((2, 2), ()),
                 ((), (3,)), ((0, 3), (1, 3)), ((2, 0), (1,)), ((1, 1), (1,)),
                 ((1, 2, 1, 2, 1), (2, 1, 2))]:
        case(name, tensor(a, dtype), change(tensor(b, dtype)), **kwargs)
    a, b = tensor([2, 3, 2, 2], dtype), change(tensor([2, 3, 2, 2], dtype))
    case(name, channels_last(a), channels_last(b), **kwargs)
    case(name, channels_last(a), b, **kwargs)
    case(name, a, channels_last(b), out_order=[0, 1, 2, 3], **kwargs)
    case(name, channels_last(a), change(tensor([3, 1, 1], dtype)), **kwargs)
    case(name, in_order(a, [3, 1, 0, 2]), b, out_order=[2, 0, 3, 1], **kwargs)
    case(name, tensor([big], dtype), change(tensor([big], dtype)), **kwargs)
    case(name, tensor([2, big], dtype), change(tensor([big], dtype)), **kwargs)
    refuse(name, tensor([2, 3], dtype), change(tensor([2, 2], dtype)), outs=tensor([2, 3], dtype),
           **kwargs)


def mixed(name, pairs, change=lambda x: x, low=-4, **kwargs):
    """Operands of different dtypes, if PyTorch supports them."""
    for a, b in pairs:
        try:
            case(name, tensor([2, 3], a, low), change(tensor([3], b, low)), **kwargs)
        except RuntimeError:
            continue


PAIRS = [(f32, f64), (f16, bf16), (u8, i8), (i32, i64), (i64, f16), (torch.bool, f32), (i16, u8),
         (i8, i32), (f64, i64)]


def arithmetic(name, scalar_name, change=lambda x: x, bool_too=True, extra=()):
    types = ALL if bool_too else FLOATS + INTS
    for dtype in types:
        case(name, tensor([2, 3], dtype), change(tensor([2, 3], dtype)))
    shapes(name, change)
    mixed(name, PAIRS, change)
    mixed(name, [(i8, u8), (i64, i32)], change)
    case(name, SPECIAL, torch.tensor(2.0))
    case(name, tensor([3], i8), change(tensor([], i64)))      # A 0-d tensor does not widen,
    case(name, tensor([3], i8), change(tensor([], f64)))      # unless its category is higher.
    if scalar_name is None:
        return
    for dtype in types:
        for scalar in [2, 2.5] if dtype in FLOATS else [3]:
            case(scalar_name, tensor([2, 3], dtype), scalar)
    case(scalar_name, tensor([3], i32), 1.5)
    case(scalar_name, tensor([3], i8), 100)
    case(scalar_name, tensor([], f32), 0.5)
    case(scalar_name, tensor([0], f32), 0.5)
    case(scalar_name, SPECIAL, 2.0)
    case(scalar_name, channels_last(tensor([1, 2, 2, 3])), 2.0)


with family("op_add"):
    arithmetic("aten::add.out", "aten::add.Scalar_out")
    for dtype, alpha in [(f32, 2.5), (i32, 3), (f16, 0.5), (i64, -2), (f64, 1.0), (u8, 2)]:
        case("aten::add.out", tensor([4], dtype), tensor([4], dtype), alpha=alpha)
        case("aten::add.Scalar_out", tensor([4], dtype), 2, alpha)
    case("aten::add.out", tensor([3], u8), tensor([3], u8), out_dtype=f32)
    case("aten::add.out", tensor([3], f32), tensor([3], f32), out_dtype=f64)
    case("aten::add.out", torch.tensor([200], dtype=u8), torch.tensor([100], dtype=u8))
    case("aten::add.out", torch.tensor([200], dtype=u8), torch.tensor([100], dtype=u8),
         out_dtype=i32)
    case("aten::add.out", torch.tensor([2**63 - 1]), torch.tensor([1]))
    refuse("aten::add.out", tensor([3], f32), tensor([3], f32), outs=tensor([3], i32))
    refuse("aten::add.out", tensor([3], i32), tensor([3], i32), outs=tensor([3], torch.bool))
    refuse("aten::add.out", tensor([3], i32), tensor([3], i32), alpha=1.5, outs=tensor([3], i32))
    refuse("aten::add.out", tensor([3]), tensor([3]), outs=tensor([1, 3]))

with family("op_sub"):
    arithmetic("aten::sub.out", "aten::sub.Scalar_out", bool_too=False)
    for dtype, alpha in [(f32, 2.5), (i32, 3), (bf16, 0.5)]:
        case("aten::sub.out", tensor([4], dtype), tensor([4], dtype), alpha=alpha)
    case("aten::sub.out", torch.tensor([-2**63]), torch.tensor([1]))
    refuse("aten::sub.out", tensor([3], torch.bool), tensor([3], torch.bool),
           outs=tensor([3], torch.bool))

with family("op_rsub"):
    arithmetic("aten::rsub.Tensor_out", "aten::rsub.Scalar_out", bool_too=False)
    case("aten::rsub.Scalar_out", tensor([4]), 2.0, 0.5)
    case("aten::rsub.Scalar_out", tensor([4], i32), 2, 3)

with family("op_mul"):
    arithmetic("aten::mul.out", "aten::mul.Scalar_out")
    case("aten::mul.out", torch.tensor([2**62]), torch.tensor([6]))

with family("op_div"):
    arithmetic("aten::div.out", "aten::div.Scalar_out", nonzero)
    case("aten::div.out", tensor([6]), torch.zeros(6))
    case("aten::div.out", tensor([6], i32), torch.zeros(6, dtype=i32))
    for mode in ["trunc", "floor"]:
        for dtype in FLOATS + INTS:
            case("aten::div.out_mode", tensor([12], dtype), nonzero(tensor([12], dtype)),
                 rounding_mode=mode)
            case("aten::div.Scalar_mode_out", tensor([6], dtype), 3, rounding_mode=mode)
        case("aten::div.out_mode", SPECIAL, torch.full([8], 2.0), rounding_mode=mode)
        case("aten::div.out_mode", SPECIAL, torch.full([8], -0.0), rounding_mode=mode)
        case("aten::div.out_mode", torch.full([8], 2.0), SPECIAL, rounding_mode=mode)
        case("aten::div.out_mode", torch.tensor([-2**63, 7]), torch.tensor([-1, -2]),
             rounding_mode=mode, expect=torch.tensor([-2**63, -4 if mode == "floor" else -3]))
        mixed("aten::div.out_mode", [(i8, u8), (f32, i64)], nonzero, rounding_mode=mode)
        refuse("aten::div.out_mode", tensor([3], i32), torch.tensor([1, 0, 2], dtype=i32),
               rounding_mode=mode, outs=tensor([3], i32))
        refuse("aten::div.Scalar_mode_out", tensor([3], i32), 0, rounding_mode=mode,
               outs=tensor([3], i32))
    case("aten::div.out_mode", torch.tensor([0.3, 1.0]), torch.tensor([0.1, 0.1]),
         rounding_mode="floor")
    case("aten::div.out_mode", tensor([3], i32), torch.tensor([1, 4, 2], dtype=i32),
         rounding_mode=None)
    case("aten::div.Scalar_mode_out", tensor([3]), 2.0, rounding_mode=None)
    refuse("aten::div.Scalar_mode_out", tensor([3]), 2.0, rounding_mode="up", outs=tensor([3]))
    refuse("aten::div.out", tensor([3], i32), tensor([3], i32), outs=tensor([3], i32))

with family("op_floor_divide"):
    arithmetic("aten::floor_divide.out", None, nonzero, bool_too=False)
    for dtype in FLOATS + INTS:
        case("aten::floor_divide.out", tensor([12], dtype), nonzero(tensor([12], dtype)))
        case("aten::floor_divide.Scalar_out", tensor([12], dtype), 3)
    case("aten::floor_divide.out", SPECIAL, torch.full([8], 0.0))
    refuse("aten::floor_divide.out", tensor([3], i64), torch.tensor([1, 0, 2]),
           outs=tensor([3], i64))

for op in ["remainder", "fmod"]:
    with family("op_" + op):
        arithmetic(f"aten::{op}.Tensor_out", f"aten::{op}.Scalar_out", nonzero, bool_too=False)
        for dtype in FLOATS + INTS:
            case(f"aten::{op}.Tensor_out", tensor([12], dtype, -30, 30),
                 nonzero(tensor([12], dtype)))
        case(f"aten::{op}.Tensor_out", SPECIAL, torch.full([8], -3.0))
        case(f"aten::{op}.Tensor_out", torch.full([8], -3.0), SPECIAL)
        case(f"aten::{op}.Tensor_out", torch.tensor([-2**63, 7]), torch.tensor([-1, -4]),
             expect=torch.tensor([0, -1 if op == "remainder" else 3]))
        refuse(f"aten::{op}.Tensor_out", tensor([3], i64), torch.tensor([1, 0, 2]),
               outs=tensor([3], i64))
        refuse(f"aten::{op}.Scalar_out", tensor([3], i64), 0, outs=tensor([3], i64))
        if op == "remainder":
            case("aten::remainder.Scalar_Tensor_out", 7, torch.tensor([2, -3, 5]))
            case("aten::remainder.Scalar_Tensor_out", -7.5, torch.tensor([2.0, -3.0, 0.0]))
            refuse("aten::remainder.Scalar_Tensor_out", 7, torch.tensor([2, 0]),
                   outs=tensor([2], i64))

for op in ["eq", "ne", "lt", "le", "gt", "ge"]:
    with family("op_" + op):
        name, scalar_name = f"aten::{op}.Tensor_out", f"aten::{op}.Scalar_out"
        for dtype in ALL:
            case(name, tensor([2, 6], dtype, -1, 1), tensor([2, 6], dtype, -1, 1))
            case(scalar_name, tensor([8], dtype, -1, 1), 1)
        for a, b in [((2, 3), (3,)), ((2, 1, 3), (4, 1)), ((), ()), ((2, 2), ()), ((0, 3), (1, 3))]:
            case(name, tensor(a, f32, -1, 1), tensor(b, f32, -1, 1))
        mixed(name, PAIRS, low=-1)
        case(name, SPECIAL, SPECIAL)
        case(name, SPECIAL, torch.full([8], nan))
        case(scalar_name, SPECIAL, 0)
        case(scalar_name, tensor([8], i32), 0.5)
        case(name, tensor([6], i32), tensor([6], i32), out_dtype=i32)
        case(name, tensor([6]), tensor([6]), out_dtype=f32)
        case(scalar_name, torch.tensor([2**53, 2**53 + 1]), 2**53)
        x = channels_last(tensor([1, 2, 2, 2], f32, -1, 1))
        case(name, x, tensor([1, 2, 2, 2], f32, -1, 1))
        refuse(name, tensor([3]), tensor([2]), outs=tensor([3], torch.bool))

for op in ["logical_and", "logical_or", "logical_xor"]:
    with family("op_" + op):
        name = f"aten::{op}.out"
        for dtype in ALL:
            case(name, tensor([12], dtype, -1, 1), tensor([12], dtype, -1, 1))
        mixed(name, PAIRS, low=-1)
        for a, b in [((2, 1, 3), (4, 1)), ((), ()), ((0, 3), (1, 3))]:
            case(name, tensor(a, torch.bool), tensor(b, torch.bool))
        case(name, SPECIAL, torch.zeros(8))
        case(name, tensor([6], i32), tensor([6], i32), out_dtype=i32)

for op in ["bitwise_and", "bitwise_or", "bitwise_xor"]:
    with family("op_" + op):
        for dtype in INTS + (torch.bool,):
            case(f"aten::{op}.Tensor_out", tensor([2, 6], dtype, -99, 99),
                 tensor([2, 6], dtype, -99, 99))
            case(f"aten::{op}.Scalar_out", tensor([6], dtype, -99, 99),
                 True if dtype == torch.bool else 21)
            case(f"aten::{op}.Scalar_Tensor_out", True if dtype == torch.bool else 21,
                 tensor([6], dtype, -99, 99))
        mixed(f"aten::{op}.Tensor_out", [(i8, i32), (u8, i8), (torch.bool, i64)])
        for a, b in [((2, 1, 3), (4, 1)), ((), ()), ((0, 3), (1, 3))]:
            case(f"aten::{op}.Tensor_out", tensor(a, i32), tensor(b, i32))
        refuse(f"aten::{op}.Tensor_out", tensor([3]), tensor([3]), outs=tensor([3]))

for op in ["bitwise_left_shift", "bitwise_right_shift"]:
    with family("op_" + op):
        for dtype in INTS:
            shift = torch.tensor([0, 1, 3, 7, 2, 5], dtype=dtype)
            case(f"aten::{op}.Tensor_out", tensor([2, 6], dtype, -99, 99), shift)
            case(f"aten::{op}.Tensor_Scalar_out", tensor([6], dtype, -99, 99), 2)
        case(f"aten::{op}.Tensor_out", torch.full([4], -99), torch.tensor([-1, 63, 64, 2**62]))
        case(f"aten::{op}.Tensor_out", torch.full([4], 99, dtype=i32),
             torch.tensor([-1, 31, 32, 2**30], dtype=i32))
        refuse(f"aten::{op}.Tensor_out", tensor([3]), tensor([3]), outs=tensor([3]))

with family("op_atan2"):
    arithmetic("aten::atan2.out", None)
    case("aten::atan2.out", SPECIAL, torch.full([8], -1.0))
    case("aten::atan2.out", torch.full([8], -0.0), SPECIAL)

for op in ["maximum", "minimum"]:
    with family("op_" + op):
        arithmetic(f"aten::{op}.out", None)
        case(f"aten::{op}.out", SPECIAL, torch.full([8], nan))
        case(f"aten::{op}.out", torch.full([8], nan), SPECIAL)
        case(f"aten::{op}.out", SPECIAL, SPECIAL.flip(0))
