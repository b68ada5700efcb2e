"""Cases of the operators that create tensors, such as full and arange."""

import math

import torch

from op_case import ALL, FLOATS, INTS, case, channels_last, family, refuse, tensor

f32, i64, i32 = torch.float32, torch.int64, torch.int32

with family("op_full"):
    for dtype in ALL:
        value = True if dtype == torch.bool else 3
        case("aten::full.out", [2, 3], value, expect=torch.full([2, 3], value, dtype=dtype))
        case("aten::zeros.out", [3], expect=torch.zeros([3], dtype=dtype))
        case("aten::ones.out", [3], expect=torch.ones([3], dtype=dtype))
    for size, value in [([], 2.5), ([0, 2], 1.5), ([4], math.nan), ([2], -math.inf), ([2], 1e-3)]:
        case("aten::full.out", size, value)
        case("aten::full_like.out", tensor(size), value)
    case("aten::full.out", [2], 2.75, expect=torch.tensor([2, 2]))
    case("aten::full.out", [2], -1, expect=torch.tensor([255, 255], dtype=torch.uint8))
    case("aten::full.out", [1], 2**40 + 1, expect=torch.tensor([2**40 + 1]))
    case("aten::full_like.out", tensor([2, 2], torch.int16), 7)
    case("aten::full_like.out", channels_last(tensor([1, 2, 2, 2])), 7, torch.preserve_format)
    case("aten::zeros_like.out", tensor([2, 2], torch.bfloat16))
    case("aten::ones_like.out", tensor([2, 2], torch.bool))
    case("aten::empty.out", [2, 3], out=[2, 3])
    case("aten::empty_like.out", tensor([2, 3]), out=[2, 3])
    case("dim_order_ops::_empty_dim_order.out", [2, 3], [0, 1], out=[2, 3])
    case("dim_order_ops::_empty_dim_order.out", [2, 3], None, out=[2, 3])
    case("dim_order_ops::_empty_dim_order.out", [2, 1], [1, 0], out=[2, 1])
    refuse("dim_order_ops::_empty_dim_order.out", [2, 3], [1, 0], outs=tensor([2, 3]))
    for value in [3, 2.5, True]:
        case("aten::scalar_tensor.out", value)
    case("aten::scalar_tensor.out", 3, expect=torch.tensor(3))
    refuse("aten::full.out", [-1], 0, outs=tensor([1]))
    refuse("aten::full.out", [2**32], 0, outs=tensor([1]))
    refuse("aten::full.out", [1] * 17, 0, outs=tensor([1]))

with family("op_arange"):
    NAME = "aten::arange.start_out"
    for dtype in FLOATS + INTS:
        case(NAME, 1, 9, 2, out_dtype=dtype)
    for start, end, step in [(0, 5, 1), (5, 0, -2), (-3, 3, 5), (2, 2, 1), (0.5, 3, 0.25),
                             (1.0, -1.0, -0.3), (0, 1, 0.1), (2**53 + 1, 2**53 + 4, 1)]:
        case(NAME, start, end, step)
    case(NAME, -2**63, 2**63 - 1, 2**62, expect=torch.tensor([-2**63, -2**62, 0, 2**62]))
    for dtype in (i32, i64, torch.int8):  # The results are truncated by different rules.
        for start, end, step in [(0.5, -8.00001, -1.7), (0.9, 3.1, 1), (0.0, -8.000001, -4.0)]:
            case(NAME, start, end, step,
                 expect=torch.arange(start, end, step, dtype=dtype), out_dtype=dtype)
    case("aten::arange.out", 300)
    case("aten::arange.out", 4.5)
    case("aten::arange.out", 0)
    for start, end, step in [(0, 5, 0), (0, 5, -1), (5, 0, 1), (0, math.inf, 1), (math.nan, 1, 1),
                             (0, 2**62, 1), (0.0, 1e300, 1.0), (0, 1, math.nan)]:
        refuse(NAME, start, end, step, outs=tensor([5]))
