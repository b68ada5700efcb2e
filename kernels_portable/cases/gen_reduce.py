"""Cases of the reductions, and of cumsum."""

import torch

from op_case import ALL, FLOATS, INTS, case, channels_last, family, in_order, refuse, tensor

f32, f64, f16, bf16 = torch.float32, torch.float64, torch.float16, torch.bfloat16
i8, i32, i64, boolean = torch.int8, torch.int32, torch.int64, torch.bool
inf, nan = float("inf"), float("nan")

SPECIAL = torch.tensor([[1.0, nan, 3.0], [inf, 2.0, -inf], [-inf, -1.0, -inf], [inf, inf, 1.0]])
# More elements than a block, along the reduced dimension and along the kept one.
LONG = tensor([2, 260])


def over_dims(name, dtype=f32, empty=True, **kwargs):
    """Every kind of dims argument, in several dim orders."""
    x = tensor([2, 3, 4], dtype)
    for dims in [[], [0], [1], [-1], [0, 2], [1, 2], [-3, 1], [0, 1, 2]]:
        case(name, x, dims, dims == [1], **kwargs)
        case(name, in_order(x, [2, 0, 1]), dims, True, out_order=[0, 1, 2], **kwargs)
    y = channels_last(tensor([2, 3, 2, 2], dtype))
    case(name, y, [2, 3], True, out_order=[0, 1, 2, 3], **kwargs)
    case(name, y, [-1, -2], False, out_order=[0, 1], **kwargs)
    case(name, y, [1], True, out_order=[0, 2, 3, 1], **kwargs)
    case(name, y, [0], False, out_order=[0, 1, 2], **kwargs)
    case(name, LONG.to(dtype), [1], **kwargs)
    if name == "aten::sum.IntList_out":
        case(name, LONG, [0], **kwargs)
    case(name, tensor([], dtype), [], **kwargs)
    case(name, tensor([], dtype), [-1], True, **kwargs)
    case(name, tensor([0, 3], dtype), [1], **kwargs)
    if empty:
        case(name, tensor([0, 3], dtype), [0], **kwargs)
        case(name, tensor([0, 3], dtype), [], **kwargs)
    refuse(name, x, [3], outs=tensor([2, 3], dtype), **kwargs)
    refuse(name, x, [-4], outs=tensor([2, 3], dtype), **kwargs)
    refuse(name, x, [1, -2], outs=tensor([2, 4], dtype), **kwargs)


with family("op_sum"):
    name = "aten::sum.IntList_out"
    over_dims(name)
    for dtype in ALL:
        case(name, tensor([2, 5], dtype), [1])
        case(name, tensor([2, 5], dtype), None, dtype=f64)
    case(name, SPECIAL, [1])
    case(name, torch.full([700], 0.1), None)
    case(name, torch.full([70], 100, dtype=i8), [0], dtype=i8)
    case(name, torch.tensor([2**63 - 1, 1]), None)
    case(name, tensor([6]), [0], dtype=i64)
    refuse(name, tensor([2, 3]), [0], outs=tensor([3], i64))

with family("op_mean"):
    name = "aten::mean.out"
    over_dims(name)
    for dtype in FLOATS:
        case(name, tensor([2, 5], dtype), [1])
        case("aten::mean.dtype_out", tensor([2, 5], dtype))
    for dtype in INTS + (boolean,):
        case(name, tensor([2, 5], dtype), [1], dtype=f32)
    case("aten::mean.dtype_out", tensor([2, 5], i32), dtype=f64)
    case("aten::mean.dtype_out", tensor([0]))
    case(name, SPECIAL, [1])
    refuse(name, tensor([2, 3], i32), [0], outs=tensor([3]))
    refuse(name, tensor([2, 3]), [0], dtype=i32, outs=tensor([3], i32))

with family("op_prod"):
    for dtype in ALL:
        case("aten::prod.out", tensor([2, 3], dtype))
        case("aten::prod.int_out", tensor([2, 3], dtype), -1)
    x = tensor([2, 3, 4], f32, -2, 2)
    for dim in [0, 1, 2, -3]:
        case("aten::prod.int_out", x, dim, dim == 1)
        case("aten::prod.int_out", in_order(x, [2, 0, 1]), dim, out_order=[0, 1])
    case("aten::prod.int_out", tensor([0, 3]), 0)
    case("aten::prod.out", tensor([]))
    case("aten::prod.out", tensor([0], i32))
    case("aten::prod.out", tensor([4], i32), dtype=f32)
    case("aten::prod.int_out", SPECIAL, 1)
    refuse("aten::prod.int_out", x, 3, outs=tensor([2, 3]))

for op in ["amax", "amin"]:
    with family("op_" + op):
        name = f"aten::{op}.out"
        over_dims(name, empty=False)
        for dtype in ALL:
            case(name, tensor([2, 5], dtype), [1])
            case(name, tensor([2, 5], dtype), [0])
        case(name, SPECIAL, [1])
        case(name, SPECIAL, [0])
        case(name, torch.tensor([-2**63, 2**63 - 1]), [])
        refuse(name, tensor([0, 3]), [0], outs=tensor([3]))

for op in ["any", "all"]:
    with family("op_" + op):
        all_name, dim_name, dims_name = (f"aten::{op}.{x}" for x in ["all_out", "out", "dims_out"])
        over_dims(dims_name, boolean)
        case(dims_name, tensor([2, 3], boolean), None)
        for dtype in ALL:
            case(all_name, tensor([2, 2], dtype, 0, 1))
            for dim in [0, -1]:
                case(dim_name, tensor([4, 3], dtype, 0, 1), dim, dim == 0)
        case(all_name, torch.tensor([0.5, nan]))
        case(all_name, torch.tensor([0.0, -0.0]))
        case(all_name, tensor([0]))
        case(all_name, tensor([]))
        case(dim_name, tensor([0, 2]), 0)
        case(dim_name, torch.eye(300)[:2], 1)
        case(dim_name, channels_last(tensor([2, 2, 2, 2], boolean)), 1, out_order=[0, 1, 2])
        refuse(dim_name, tensor([2]), 1, outs=tensor([], boolean))


def extremes(name, *rest):
    """Cases that max.dim, min.dim, argmax and argmin share."""
    for dtype in FLOATS + INTS:
        case(name, tensor([3, 5], dtype), 1, *rest)
        case(name, tensor([3, 5], dtype), 0, *rest)
    x = tensor([2, 3, 4], f32, -1, 1)
    for dim in [0, 1, 2, -2]:
        case(name, x, dim, *rest)
        case(name, x, dim, True)
        case(name, in_order(x, [2, 0, 1]), dim, *rest, out_order=[0, 1])
    case(name, channels_last(tensor([2, 3, 2, 2], f32, -1, 1)), 1, *rest, out_order=[0, 1, 2])
    case(name, SPECIAL, 1, *rest)
    case(name, SPECIAL, 0, *rest)
    case(name, torch.arange(600, 0, -1).remainder(7).to(f32).reshape(2, 300), 1, *rest)
    case(name, torch.ones(2, 3), 1, *rest)
    case(name, tensor([]), 0, *rest)
    case(name, tensor([2, 0]), 0, *rest)


for op in ["argmax", "argmin"]:
    with family("op_" + op):
        name = f"aten::{op}.out"
        extremes(name)
        for dtype in FLOATS + INTS:
            case(name, tensor([3, 5], dtype))
        case(name, in_order(tensor([2, 3, 4]), [2, 0, 1]), expect=None)
        case(name, channels_last(tensor([2, 3, 2, 2])))
        case(name, tensor([2, 3]), None, True)
        case(name, SPECIAL)
        refuse(name, tensor([0]), outs=tensor([], i64))
        refuse(name, tensor([2]), 1, outs=tensor([], i64))
        refuse(name, tensor([2]), 0, outs=tensor([], i32))

for op in ["max", "min"]:
    with family("op_" + op):
        name = f"aten::{op}.dim_{op}"
        extremes(name)
        case(name, tensor([2, 3], boolean), 1)
        for dtype in ALL:
            case(f"aten::{op}.unary_out", tensor([3, 5], dtype))
        case(f"aten::{op}.unary_out", SPECIAL)
        case(f"aten::{op}.unary_out", SPECIAL[1:])
        case(f"aten::{op}.unary_out", tensor([]))
        case(f"aten::{op}.unary_out", torch.tensor([2**53, 2**53 + 1]))
        case(f"aten::{op}.unary_out", channels_last(tensor([2, 3, 2, 2])))
        refuse(name, tensor([0, 3]), 0, outs=[tensor([3]), tensor([3], i64)])
        refuse(name, tensor([2, 3]), 2, outs=[tensor([3]), tensor([3], i64)])
        refuse(f"aten::{op}.unary_out", tensor([0]), outs=tensor([]))

for op in ["var", "var_mean"]:
    with family("op_" + op):
        name = f"aten::{op}.correction_out"
        for dtype in FLOATS:
            case(name, tensor([2, 5], dtype), [1])
        x = tensor([2, 3, 4])
        for dims in [None, [0], [1], [-1], [0, 2], [0, 1, 2]]:
            for correction in [None, 0, 2]:
                case(name, x, dims, correction=correction, keepdim=dims == [1])
            case(name, in_order(x, [2, 0, 1]), dims, keepdim=True, out_order=[0, 1, 2])
        case(name, tensor([3, 4]), [0], correction=0.5)
        case(name, tensor([3, 1]), [1])
        case(name, tensor([3, 4]), [1], correction=9)
        case(name, tensor([]), None, correction=0)
        case(name, tensor([0, 2]), [0])
        case(name, LONG[:1] + 1000, [1])
        if op == "var":
            case(name, SPECIAL, [1])  # PyTorch's mean of an infinite row is NaN in var_mean.
            for unbiased in [True, False]:
                case("aten::var.out", x, [1], unbiased)
                case("aten::var.out", x, None, unbiased)
        outs = [tensor([3]), tensor([3])][:1 if op == "var" else 2]
        refuse(name, tensor([2, 3], i32), [0], outs=outs)
        refuse(name, tensor([2, 3]), [2], outs=outs)

with family("op_cumsum"):
    name = "aten::cumsum.out"
    for dtype in ALL:
        case(name, tensor([2, 5], dtype), 1)
        case(name, tensor([3, 2], dtype), 0, dtype=f32)
    x = tensor([2, 3, 4])
    for dim in [0, 1, 2, -1]:
        case(name, x, dim)
        case(name, in_order(x, [2, 0, 1]), dim, out_order=[0, 1, 2])
    case(name, LONG[:1], 1)
    case(name, tensor([]), 0)
    case(name, tensor([0, 2]), 0)
    case(name, tensor([2, 0]), 0)
    case(name, SPECIAL, 1)
    case(name, channels_last(tensor([1, 3, 2, 2])), 1, out_order=[0, 2, 3, 1])
    refuse(name, tensor([2, 3]), 2, outs=tensor([2, 3]))

with family("op_cumprod"):
    name = "taper::cumprod.out"

    def cumprod(x, dim, **kwargs):
        case(name, x, dim, expect=torch.cumprod(x, dim, dtype=x.dtype), **kwargs)

    for dtype in FLOATS + (i64, i8):
        cumprod(tensor([2, 5], dtype, -2, 2), 1)
    x = tensor([2, 3, 4])
    for dim in [0, 1, -1]:
        cumprod(x, dim)
        cumprod(in_order(x, [2, 0, 1]), dim, out_order=[0, 1, 2])
    cumprod(tensor([1, 260], f32, 0.9375, 1.0625), 1)
    cumprod(tensor([]), 0)
    cumprod(tensor([2, 0]), 0)
    cumprod(SPECIAL, 1)
    refuse(name, tensor([2, 3]), 2, outs=tensor([2, 3]))
    refuse(name, tensor([2, 3]), 1, outs=tensor([2, 3], i32))

with family("op_cummax"):
    for kind in ["cummax", "cummin"]:
        name = f"taper::{kind}.out"

        def extremes(x, dim, **kwargs):
            case(name, x, dim, expect=tuple(getattr(torch, kind)(x, dim)), **kwargs)

        for dtype in ALL:
            extremes(tensor([2, 6], dtype), 1)
        x = tensor([2, 3, 4])
        for dim in [0, 1, -1]:
            extremes(x, dim)
            extremes(in_order(x, [2, 0, 1]), dim, out_order=[0, 1, 2])
        extremes(LONG[:1], 1)
        extremes(torch.tensor([1.0, 2.0, 2.0, nan, 3.0, nan, 1.0]), 0)
        extremes(SPECIAL, 0)
        extremes(tensor([0, 2]), 0)
        extremes(tensor([2, 0]), 0)
        extremes(torch.tensor(3.0), 0)
        refuse(name, tensor([2, 3]), 2, outs=[tensor([2, 3]), tensor([2, 3], i64)])
        refuse(name, tensor([2, 3]), 1, outs=[tensor([2, 3]), tensor([2, 3], i32)])
