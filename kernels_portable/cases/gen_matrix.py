"""Cases of the matrix products."""

import math

import torch

from op_case import FLOATS, INTS, case, family, in_order, refuse, tensor

f32, f16, i32, i64 = torch.float32, torch.float16, torch.int32, torch.int64
LOOSE = {torch.float16: (4e-3, 4e-3), torch.bfloat16: (3e-2, 3e-2)}


def small(sizes, dtype=f32):
    return tensor(sizes, dtype, -1, 1) if dtype in FLOATS else tensor(sizes, dtype)


with family("op_mm"):
    NAME = "aten::mm.out"
    for dtype in FLOATS + INTS:
        case(NAME, small([3, 5], dtype), small([5, 4], dtype), tolerance=LOOSE.get(dtype))
    for n, k, m in [(1, 1, 1), (1, 7, 8), (1, 40, 16), (2, 9, 24), (4, 33, 8), (5, 33, 9),
                    (8, 8, 8), (5, 33, 67), (7, 5, 1), (26, 3, 2), (3, 0, 2), (0, 3, 2), (3, 2, 0)]:
        case(NAME, small([n, k]), small([k, m]))
    case(NAME, small([27, 6], f16), small([6, 5], f16), tolerance=LOOSE[f16])
    case(NAME, small([3, 40], f16), in_order(small([40, 5], f16), [1, 0]), tolerance=LOOSE[f16])
    case(NAME, tensor([9, 20], torch.int8), tensor([20, 3], torch.int8))
    case(NAME, in_order(small([6, 37]), [1, 0]), small([37, 10]))
    case(NAME, small([6, 37]), in_order(small([37, 10]), [1, 0]))
    case(NAME, small([2, 300]), in_order(small([300, 3]), [1, 0]))
    case(NAME, in_order(small([2, 3]), [1, 0]), in_order(small([3, 3]), [1, 0]))
    case(NAME, small([6, 7]), small([7, 10]), out_order=[1, 0])
    case(NAME, torch.tensor([[float("inf"), 1.0]]), torch.tensor([[1.0, 0.0], [2.0, float("nan")]]))
    case(NAME, torch.full([1, 1], 2**62, dtype=i64), torch.full([1, 1], 6, dtype=i64))
    refuse(NAME, tensor([2, 3]), tensor([2, 3]), outs=tensor([2, 3]))
    refuse(NAME, tensor([2, 3]), tensor([3]), outs=tensor([2]))
    refuse(NAME, tensor([2, 3]), tensor([3, 2], i64), outs=tensor([2, 2]))
    refuse(NAME, tensor([2, 3]), tensor([3, 2]), outs=tensor([2, 2], f16))
    refuse(NAME, tensor([2, 3], torch.bool), tensor([3, 2], torch.bool),
           outs=tensor([2, 2], torch.bool))

with family("op_bmm"):
    NAME = "aten::bmm.out"
    for dtype in FLOATS + INTS:
        case(NAME, small([2, 3, 5], dtype), small([2, 5, 4], dtype), tolerance=LOOSE.get(dtype))
    for b, n, k, m in [(1, 1, 1, 1), (3, 5, 9, 8), (2, 4, 33, 17), (0, 2, 3, 4), (2, 0, 3, 4),
                       (2, 3, 0, 4), (4, 1, 16, 5)]:
        case(NAME, small([b, n, k]), small([b, k, m]))
    case(NAME, small([2, 4, 6]), in_order(small([2, 6, 5]), [0, 2, 1]))
    case(NAME, in_order(small([2, 4, 6]), [1, 0, 2]), in_order(small([2, 6, 5]), [2, 1, 0]))
    case(NAME, small([2, 4, 6]), small([2, 6, 5]), out_order=[0, 2, 1])
    refuse(NAME, tensor([2, 2, 3]), tensor([3, 3, 2]), outs=tensor([2, 2, 2]))
    refuse(NAME, tensor([2, 2, 3]), tensor([2, 2, 2]), outs=tensor([2, 2, 2]))
    refuse(NAME, tensor([2, 3]), tensor([3, 2]), outs=tensor([2, 2]))

with family("op_addmm"):
    NAME = "aten::addmm.out"
    for dtype in FLOATS + INTS:
        case(NAME, small([4], dtype), small([3, 5], dtype), small([5, 4], dtype),
             tolerance=LOOSE.get(dtype))
        case(NAME, small([3, 4], dtype), small([3, 5], dtype), small([5, 4], dtype), beta=2,
             alpha=3, tolerance=LOOSE.get(dtype))
    for sizes in [[], [1], [9], [1, 9], [5, 1], [5, 9]]:
        case(NAME, small(sizes), small([5, 35]), small([35, 9]), beta=0.5, alpha=-1.5)
    case(NAME, torch.full([9], float("nan")), small([5, 3]), small([3, 9]), beta=0)
    case(NAME, small([9]), small([5, 0]), small([0, 9]))
    case(NAME, small([1]), small([6, 3]), small([3, 1]))
    case(NAME, small([3]), small([1, 70]), in_order(small([70, 3]), [1, 0]))
    case(NAME, small([8]), small([6, 3]), small([3, 8]), out_order=[1, 0])
    refuse(NAME, tensor([3]), tensor([2, 3]), tensor([3, 2]), outs=tensor([2, 2]))
    refuse(NAME, tensor([1, 2, 2]), tensor([2, 3]), tensor([3, 2]), outs=tensor([2, 2]))
    refuse(NAME, tensor([2]), tensor([2, 3]), tensor([4, 2]), outs=tensor([2, 2]))
    refuse(NAME, tensor([2], i64), tensor([2, 3], i64), tensor([3, 2], i64), alpha=0.5,
           outs=tensor([2, 2], i64))

with family("op_baddbmm"):
    NAME = "aten::baddbmm.out"
    for dtype in (f32, torch.float64, i32, torch.bfloat16):
        case(NAME, small([4], dtype), small([2, 3, 5], dtype), small([2, 5, 4], dtype),
             tolerance=LOOSE.get(dtype))
    for sizes in [[], [2, 1, 1], [1, 5, 9], [5, 1], [2, 5, 9]]:
        case(NAME, small(sizes), small([2, 5, 6]), small([2, 6, 9]), beta=0.5, alpha=-1.5)
    refuse(NAME, tensor([3, 1, 1]), tensor([2, 2, 3]), tensor([2, 3, 2]), outs=tensor([2, 2, 2]))

with family("op_linear"):
    NAME = "aten::linear.out"
    for dtype in FLOATS:
        case(NAME, small([3, 5], dtype), small([4, 5], dtype), small([4], dtype),
             tolerance=LOOSE.get(dtype))
    case(NAME, tensor([3, 5], i64), tensor([4, 5], i64))
    for sizes, features in [([7], 5), ([1, 40], 9), ([2, 3, 33], 17), ([5, 64], 1), ([0, 3], 2),
                            ([3, 0], 2), ([2, 2, 2, 6], 3)]:
        case(NAME, small(sizes), small([features, sizes[-1]]))
        case(NAME, small(sizes), small([features, sizes[-1]]), small([features]))
    case(NAME, small([2, 300]), small([3, 300]), small([3]))
    case(NAME, small([4, 6]), small([6]))
    case(NAME, small([6]), small([6]))
    refuse(NAME, tensor([2, 3]), tensor([4, 2]), outs=tensor([2, 4]))
    refuse(NAME, tensor([2, 3]), tensor([4, 3]), tensor([3]), outs=tensor([2, 4]))
    refuse(NAME, tensor([]), tensor([4, 3]), outs=tensor([4]))

INF = float("inf")

with family("op_cdist_forward"):
    NAME = "aten::_cdist_forward.out"
    for dtype in (f32, torch.float64):
        case(NAME, small([3, 5], dtype), small([4, 5], dtype), 2.0, None, tolerance=(1e-4, 1e-5))
    for dtype in (f16, torch.bfloat16):
        x, y = small([3, 5], dtype), small([4, 5], dtype)
        case(NAME, x, y, 2.0, None, tolerance=LOOSE[dtype],
             expect=torch.cdist(x.float(), y.float()).to(dtype))
    for p in (0.0, 1.0, 3.0, 0.5, INF):
        case(NAME, small([2, 3, 5]), small([2, 4, 5]), p, None, tolerance=(1e-4, 1e-5))
        case(NAME, torch.tensor([[math.nan, 0, 1], [1, 2, 3], [INF, 1, 0]]),
             torch.tensor([[0, math.nan, 1], [1, 2, 4], [INF, INF, 0]]), p, None)
    case(NAME, small([2, 1, 3, 70]), small([3, 2, 70]), 2.0, None, tolerance=(1e-4, 1e-5))
    case(NAME, small([0, 5]), small([4, 5]), 2.0, None)
    case(NAME, small([3, 0]), small([4, 0]), 2.0, None)
    refuse(NAME, small([3, 5]), small([4, 4]), 2.0, None, outs=small([3, 4]))
    refuse(NAME, small([3, 5]), small([4, 5]), -1.0, None, outs=small([3, 4]))
    refuse(NAME, small([5]), small([4, 5]), 2.0, None, outs=small([4]))

with family("op_pdist_forward"):
    NAME = "aten::_pdist_forward.out"
    for dtype in (f32, torch.float64):
        for p in (0.0, 1.0, 2.0, 3.0, INF):
            case(NAME, small([4, 5], dtype), p)
    for p in (0.0, 1.0, 2.0, 3.0, INF):
        case(NAME, torch.tensor([[math.nan, 0, 1], [1, 2, 3], [INF, 1, 0], [INF, 2, 2]]), p)
    case(NAME, small([1, 5]), 2.0)
    case(NAME, small([3, 70]), 2.0)
    refuse(NAME, small([3]), 2.0, outs=small([3]))
    refuse(NAME, small([3, 2]), -2.0, outs=small([3]))
