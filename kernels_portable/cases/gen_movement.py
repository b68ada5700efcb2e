"""Cases of the operators that move elements: views, slices, joins, gathers and scatters."""

import torch

from op_case import ALL, case, channels_last, family, in_order, refuse, tensor

f32, i64, i32 = torch.float32, torch.int64, torch.int32

with family("op_slice_copy"):
    NAME = "aten::slice_copy.Tensor_out"
    for dtype in ALL:
        case(NAME, tensor([3, 4], dtype), 1, 1, 3)
    for dim, start, end, step in [(0, 0, 2, 1), (1, None, None, 2), (-1, -3, -1, 1), (0, 2, 1, 1),
                                  (1, 1, 2**63 - 1, 3), (0, -100, 100, 2), (2, 5, 9, 1)]:
        case(NAME, tensor([3, 4, 5]), dim, start, end, step)
    case(NAME, tensor([0, 4]), 1, 1, 3)
    case(NAME, tensor([0, 4]), 0, 0, 3)
    case(NAME, channels_last(tensor([2, 3, 4, 2])), 1, 1, 3)
    case(NAME, channels_last(tensor([2, 3, 4, 2])), 2, 0, 4, 3, out_order=[0, 2, 3, 1])
    refuse(NAME, tensor([3, 4]), 2, 0, 1, 1, outs=tensor([3, 4]))
    refuse(NAME, tensor([3, 4]), 0, 0, 1, 0, outs=tensor([1, 4]))
    refuse(NAME, tensor([3, 4]), 0, 0, 1, -1, outs=tensor([1, 4]))
    refuse(NAME, tensor([3, 4]), 0, 0, 1, 1, outs=tensor([1, 4], i64))
    refuse(NAME, tensor([]), 0, 0, 1, 1, outs=tensor([]))
