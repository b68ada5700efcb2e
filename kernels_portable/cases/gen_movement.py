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

with family("op_view_copy"):
    NAME = "aten::view_copy.out"
    for dtype in ALL:
        case(NAME, tensor([2, 6], dtype), [3, -1])
    for sizes, view in [([2, 3, 4], [24]), ([2, 3, 4], [6, 4]), ([24], [2, 3, 4]), ([1], []),
                        ([], [1, 1]), ([0, 3], [3, 0]), ([2, 3], [-1, 1, 3]), ([2, 3], [2, 3])]:
        case(NAME, tensor(sizes), view)
    image = channels_last(tensor([2, 3, 2, 2]))
    case(NAME, image, [6, 4], expect=image.reshape(6, 4))
    case(NAME, image, [2, 2, 3, 2], expect=image.reshape(2, 2, 3, 2), out_order=[0, 2, 3, 1])
    case("aten::_unsafe_view.out", tensor([2, 6]), [4, 3])
    refuse(NAME, tensor([2, 3]), [7], outs=tensor([7]))
    refuse(NAME, tensor([2, 3]), [-1, -1], outs=tensor([2, 3]))
    refuse(NAME, tensor([2, 3]), [-2, -3], outs=tensor([2, 3]))
    refuse(NAME, tensor([2, 3]), [4, -1], outs=tensor([2, 3]))
    refuse(NAME, tensor([0, 3]), [0, -1], outs=tensor([0, 3]))
    refuse(NAME, tensor([4]), [2**62, 2**62], outs=tensor([2, 2]))
    refuse(NAME, tensor([4]), [2, 2], outs=tensor([2, 2], torch.int32))

with family("op_view_copy_dtype"):
    NAME = "aten::view_copy.dtype_out"

    def as_dtype(value, dtype, **options):
        case(NAME, value, dtype, expect=value.contiguous().view(dtype), **options)

    i8, u8, i16, i32 = torch.int8, torch.uint8, torch.int16, torch.int32
    f16, f32, f64, bf16 = torch.float16, torch.float32, torch.float64, torch.bfloat16
    for dtype, other in [(f32, i32), (i32, f32), (f64, i64), (f16, bf16), (u8, i8), (torch.bool, u8),
                         (f32, u8), (f32, i16), (f64, f32), (u8, i32), (i16, f64), (i8, f16)]:
        as_dtype(tensor([3, 8], dtype), other)
    for sizes in ([], [1], [0, 4], [4, 0], [2, 1, 4]):
        as_dtype(tensor(sizes), i32)
        if sizes:
            as_dtype(tensor(sizes), u8)
    as_dtype(channels_last(tensor([2, 3, 4, 2])), i32)
    as_dtype(channels_last(tensor([2, 3, 4, 2])), u8)
    image = channels_last(tensor([2, 3, 4, 2]))
    as_dtype(image, i32, out_order=[0, 2, 3, 1])
    refuse(NAME, tensor([]), u8, outs=tensor([], u8))
    refuse(NAME, tensor([3], u8), f32, outs=tensor([1]))
    refuse(NAME, tensor([4], u8), f32, outs=tensor([1], i32))

with family("op_permute_copy"):
    NAME = "aten::permute_copy.out"
    for dtype in ALL:
        case(NAME, tensor([2, 3, 4], dtype), [2, 0, 1])
    for sizes, dims in [([2, 3], [1, 0]), ([2, 3, 4], [0, 2, 1]), ([2, 1, 3, 2], [3, 1, -2, 0]),
                        ([3], [0]), ([], []), ([2, 0, 3], [1, 2, 0]), ([20, 35], [1, 0]),
                        ([2, 17, 18], [0, 2, 1]), ([2, 2, 2, 2, 2], [4, 2, 0, 3, 1])]:
        case(NAME, tensor(sizes, torch.int32 if len(sizes) < 4 else f32), dims)
    case(NAME, channels_last(tensor([2, 3, 2, 2])), [0, 2, 3, 1])
    case(NAME, tensor([2, 3, 4, 2]), [0, 3, 1, 2], out_order=[0, 2, 3, 1])
    refuse(NAME, tensor([2, 3]), [0, 0], outs=tensor([2, 2]))
    refuse(NAME, tensor([2, 3]), [0, 2], outs=tensor([2, 2]))
    refuse(NAME, tensor([2, 3]), [1], outs=tensor([3]))
    for sizes, a, b in [([2, 3, 4], 0, 2), ([2, 3, 4], -1, -2), ([2, 3], 1, 1), ([], 0, -1)]:
        case("aten::transpose_copy.int_out", tensor(sizes), a, b)
    refuse("aten::transpose_copy.int_out", tensor([2, 3]), 0, 2, outs=tensor([3, 2]))
    for sizes in [[2, 3], [3], []]:
        case("aten::t_copy.out", tensor(sizes, i64))
    refuse("aten::t_copy.out", tensor([1, 2, 3]), outs=tensor([1, 3, 2]))

with family("op_expand_copy"):
    NAME = "aten::expand_copy.out"
    for dtype in ALL:
        case(NAME, tensor([3, 1], dtype), [3, 4])
    for sizes, size in [([1, 3], [2, 3]), ([3], [2, 3]), ([], [2, 2]), ([2, 1, 3], [2, 4, -1]),
                        ([1], [0]), ([1, 2], [3, -1, 2]), ([2, 3], [2, 3]), ([0, 1], [2, 0, 3])]:
        case(NAME, tensor(sizes), size)
    refuse(NAME, tensor([2, 3]), [4, 3], outs=tensor([4, 3]))
    refuse(NAME, tensor([1, 3]), [-1, 1, 3], outs=tensor([1, 1, 3]))
    refuse(NAME, tensor([1, 3]), [3], outs=tensor([3]))
    refuse(NAME, tensor([1, 3]), [-2, 3], outs=tensor([1, 3]))

with family("op_select_copy"):
    NAME = "aten::select_copy.int_out"
    for dtype in ALL:
        case(NAME, tensor([3, 4], dtype), 0, 1)
    for sizes, dim, index in [([3, 4, 5], 1, 3), ([3, 4, 5], -1, -5), ([2], 0, 1), ([0, 3], 1, 2)]:
        case(NAME, tensor(sizes), dim, index)
    case(NAME, channels_last(tensor([2, 3, 2, 2])), 1, 2)
    refuse(NAME, tensor([3, 4]), 0, 3, outs=tensor([4]))
    refuse(NAME, tensor([3, 4]), 0, -4, outs=tensor([4]))
    refuse(NAME, tensor([3, 4]), 2, 0, outs=tensor([4]))
    refuse(NAME, tensor([]), 0, 0, outs=tensor([]))

with family("op_narrow_copy"):
    NAME = "aten::narrow_copy.out"
    for dim, start, length in [(0, 1, 2), (-1, 0, 4), (1, -2, 2), (0, 3, 0)]:
        case(NAME, tensor([3, 4]), dim, start, length)
    refuse(NAME, tensor([3, 4]), 0, 1, 3, outs=tensor([3, 4]))
    refuse(NAME, tensor([3, 4]), 0, 0, -1, outs=tensor([3, 4]))
    refuse(NAME, tensor([3, 4]), 0, -4, 1, outs=tensor([1, 4]))

with family("op_squeeze_copy"):
    for dtype in ALL:
        case("aten::squeeze_copy.dim_out", tensor([2, 1, 3], dtype), 1)
    for sizes, dim in [([2, 1, 3], 0), ([2, 3, 1], -1), ([], 0), ([1], 0), ([1, 0], 0)]:
        case("aten::squeeze_copy.dim_out", tensor(sizes), dim)
    for sizes, dims in [([1, 2, 1], [0, 2]), ([1, 2, 1], [1, -1]), ([2, 1], []), ([1, 1], [0, 1])]:
        case("aten::squeeze_copy.dims_out", tensor(sizes), dims)
    case("aten::squeeze_copy.out", tensor([1, 2, 1, 3, 1]))
    refuse("aten::squeeze_copy.dims_out", tensor([1, 2]), [0, 0], outs=tensor([2]))
    refuse("aten::squeeze_copy.dim_out", tensor([1, 2]), 2, outs=tensor([1, 2]))
    for dtype in ALL:
        case("aten::unsqueeze_copy.out", tensor([2, 3], dtype), 1)
    for sizes, dim in [([2, 3], 2), ([2, 3], -1), ([2, 3], -3), ([], 0), ([0], 1)]:
        case("aten::unsqueeze_copy.out", tensor(sizes), dim)
    refuse("aten::unsqueeze_copy.out", tensor([2, 3]), 3, outs=tensor([2, 3, 1]))
    refuse("aten::unsqueeze_copy.out", tensor([1] * 16), 0, outs=tensor([1] * 16))

with family("op_cat"):
    NAME = "aten::cat.out"
    for dtype in ALL:
        case(NAME, [tensor([2, 3], dtype), tensor([1, 3], dtype)])
    for first, second, dim in [([2, 3], [2, 4], 1), ([2, 3, 2], [2, 1, 2], -2), ([2], [3], 0),
                               ([0, 3], [2, 3], 0), ([0], [2, 3], 1), ([2, 3], [0], 1),
                               ([0], [0], 0), ([2, 0], [2, 0], 1)]:
        case(NAME, [tensor(first), tensor(second)], dim)
    case(NAME, [tensor([1, 2]) for _ in range(5)], 0)
    case(NAME, [tensor([3])], 0)
    case(NAME, [tensor([2], torch.int8), tensor([2], torch.float16)])
    case(NAME, [tensor([2], torch.bool), tensor([2], i64), tensor([1], torch.uint8)])
    case(NAME, [tensor([2]), tensor([2])], out_dtype=torch.float16)
    pair = [channels_last(tensor([1, 2, 2, 3])), channels_last(tensor([1, 1, 2, 3]))]
    case(NAME, pair, 1)
    case(NAME, [pair[0], pair[1].contiguous()], 1, out_order=[0, 1, 2, 3])
    refuse(NAME, [], 0, outs=tensor([0]))
    refuse(NAME, [tensor([2, 3]), tensor([2, 4])], 0, outs=tensor([4, 3]))
    refuse(NAME, [tensor([2, 3]), tensor([2])], 0, outs=tensor([4, 3]))
    refuse(NAME, [tensor([]), tensor([])], 0, outs=tensor([2]))
    refuse(NAME, [tensor([2]), tensor([2])], 1, outs=tensor([4]))
    refuse(NAME, [tensor([2]), tensor([2])], 0, outs=tensor([4], torch.int32))
    NAME = "aten::stack.out"
    for dtype in ALL:
        case(NAME, [tensor([2, 2], dtype), tensor([2, 2], dtype)])
    for sizes, dim in [([2, 3], 1), ([2, 3], -1), ([2, 3], 2), ([], 0), ([0], 1)]:
        case(NAME, [tensor(sizes), tensor(sizes), tensor(sizes)], dim)
    case(NAME, [tensor([2], torch.int16), tensor([2], f32)])
    refuse(NAME, [tensor([2]), tensor([3])], 0, outs=tensor([2, 2]))
    refuse(NAME, [], 0, outs=tensor([0]))
