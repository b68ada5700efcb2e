"""Cases of pooling."""

import torch

from op_case import FLOATS, INTS, case, channels_last, family, refuse, tensor

f32, f16, i64 = torch.float32, torch.float16, torch.int64
LAST = [0, 2, 3, 1]
NAN = float("nan")

# kernel, stride, padding, dilation, ceil
WINDOWS = [([2], [], [0], [1], False), ([3, 2], [2, 1], [1, 0], [1, 1], False),
           ([3], [2], [1], [1], True), ([2], [3], [1], [2], True),
           ([3, 3], [1, 1], [1], [2], False),
           ([2], [3], [0], [1], True)]


def both(sizes, dtype=f32):
    """A tensor in two dim orders."""
    value = tensor(sizes, dtype)
    return [(value, None), (channels_last(value), LAST)]


with family("op_max_pool2d_with_indices"):
    NAME = "aten::max_pool2d_with_indices.out"
    for dtype in FLOATS + INTS:
        case(NAME, tensor([1, 2, 4, 5], dtype), [2, 2], [2, 2])
    for window in WINDOWS:
        for value, order in both([2, 3, 6, 5]):
            case(NAME, value, *window, out_order=order)
    case(NAME, tensor([2, 6, 7]), [3], [2], [1])
    case(NAME, tensor([1, 1, 2, 70]), [2], [1])
    case(NAME, tensor([0, 2, 4, 4]), [2])
    case(NAME, torch.tensor([[[[1.0, NAN, 2.0], [NAN, 3.0, 4.0], [5.0, 6.0, 7.0]]]]), [2], [1])
    case(NAME, torch.full([1, 1, 3, 3], -float("inf")), [2], [1], [1])
    case(NAME, torch.ones([1, 1, 3, 3]), [3], [1], [1])
    for args in [([0],), ([2], [0]), ([2], [-1]), ([2], [2], [2]), ([2], [2], [-1]),
                 ([2], [2], [0], [0]), ([5],), ([2, 2, 2],), ([],), ([2**40],)]:
        refuse(NAME, tensor([1, 1, 4, 4]), *args,
               outs=[tensor([1, 1, 2, 2]), tensor([1, 1, 2, 2], i64)])
    refuse(NAME, tensor([4, 4]), [2], outs=[tensor([2, 2]), tensor([2, 2], i64)])
    refuse(NAME, tensor([1, 4, 4]), [2], outs=[tensor([1, 2, 2]), tensor([1, 2, 2])])
    refuse(NAME, tensor([1, 0, 4]), [2], outs=[tensor([1, 0, 2]), tensor([1, 0, 2], i64)])

with family("op_avg_pool2d"):
    NAME = "aten::avg_pool2d.out"
    for dtype in FLOATS + (i64,):
        case(NAME, tensor([1, 2, 4, 5], dtype), [2, 2], [2, 2])
    for kernel, stride, padding, _, ceil in WINDOWS:
        for value, order in both([2, 3, 6, 5]):
            for include in (True, False):
                case(NAME, value, kernel, stride, padding, ceil, include, out_order=order)
    case(NAME, tensor([2, 6, 7]), [3], [2], [1], False, True, 5)
    case(NAME, tensor([2, 6, 7]), [3], [2], [1], True, False, -2)
    case(NAME, tensor([1, 1, 2, 70]), [2], [1])
    case(NAME, tensor([0, 2, 4, 4]), [2])
    for args in [([0],), ([2], [0]), ([2], [2], [2]), ([5],), ([2], [2], [0], False, True, 0)]:
        refuse(NAME, tensor([1, 1, 4, 4]), *args, outs=tensor([1, 1, 2, 2]))
    refuse(NAME, tensor([1, 1, 4, 4], torch.int32), [2], outs=tensor([1, 1, 2, 2], torch.int32))

with family("op_adaptive_avg_pool2d"):
    NAME = "aten::_adaptive_avg_pool2d.out"
    for dtype in FLOATS:
        case(NAME, tensor([1, 2, 5, 7], dtype), [3, 2])
    for size in [[1, 1], [2, 3], [4, 9], [6, 5], [0, 2]]:
        for value, order in both([2, 3, 6, 5]):
            case(NAME, value, size, out_order=order)
    case(NAME, tensor([3, 7, 70]), [1, 1])
    case(NAME, tensor([0, 2, 4, 4]), [2, 2])
    refuse(NAME, tensor([1, 1, 4, 4]), [2], outs=tensor([1, 1, 2, 2]))
    refuse(NAME, tensor([1, 1, 4, 4]), [-1, 2], outs=tensor([1, 1, 2, 2]))
    refuse(NAME, tensor([1, 1, 0, 4]), [2, 2], outs=tensor([1, 1, 2, 2]))
    refuse(NAME, tensor([1, 1, 4, 4], i64), [2, 2], outs=tensor([1, 1, 2, 2], i64))

with family("op_max_pool2d_with_indices_backward"):
    NAME = "aten::max_pool2d_with_indices_backward.grad_input"
    for dtype in FLOATS:
        x = tensor([1, 2, 4, 5], dtype)
        out, indices = torch.ops.aten.max_pool2d_with_indices(x, [3, 2], [1, 2], [1, 1], [1, 1])
        case(NAME, tensor(out.shape, dtype), x, [3, 2], [1, 2], [1, 1], [1, 1], False, indices)
    x = tensor([2, 5, 5])
    out, indices = torch.ops.aten.max_pool2d_with_indices(x, [2], [2], [0], [2], True)
    case(NAME, tensor(out.shape), x, [2], [2], [0], [2], True, indices)
    X, G = tensor([1, 4, 4]), tensor([1, 2, 2])
    for indices in (torch.full([1, 2, 2], 16), torch.full([1, 2, 2], -1),
                    torch.zeros([1, 2, 3], dtype=i64)):
        refuse(NAME, G, X, [2], [2], [0], [1], False, indices, outs=X)
    refuse(NAME, tensor([1, 3, 3]), X, [2], [2], [0], [1], False,
           torch.zeros([1, 3, 3], dtype=i64), outs=X)
