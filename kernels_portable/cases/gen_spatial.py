"""Cases of resampling, edge padding and pixel shuffles."""

import torch

from op_case import ALL, FLOATS, case, channels_last, family, refuse, tensor

f32, f16, u8, i64 = torch.float32, torch.float16, torch.uint8, torch.int64
LAST = [0, 2, 3, 1]
CLOSE = (1e-5, 1e-5)
LOOSE = {torch.float16: (4e-3, 4e-3), torch.bfloat16: (3e-2, 3e-2)}
NAN = float("nan")


def both(sizes, dtype=f32, *limits):
    """A tensor in two dim orders."""
    value = tensor(sizes, dtype, *limits)
    return [(value, None), (channels_last(value), LAST)]


SIZES = [([5, 4], None), ([8, 6], None), ([2, 9], None), ([1, 1], None), ([4, 3], None),
         (None, [2.0, 2.0]), (None, [1.7, 0.6]), (None, [3.0, 1.5])]

with family("op_upsample_nearest2d"):
    NAME = "aten::upsample_nearest2d.vec_out"
    for dtype in FLOATS + (u8,):
        case(NAME, tensor([1, 2, 3, 2], dtype), [5, 4], None)
    for size, factors in SIZES:
        for value, order in both([2, 3, 4, 3]):
            case(NAME, value, size, factors, out_order=order)
    case(NAME, tensor([1, 1, 1, 70]), [1, 140], None)
    case(NAME, tensor([1, 1, 1, 5]), [2, 71], None)
    case(NAME, tensor([0, 1, 2, 2]), [4, 4], None)
    for args in [(None, None), ([2, 2], [1.0, 1.0]), ([2], None), ([0, 2], None), (None, [2.0]),
                 (None, [-1.0, 2.0]), (None, [1e30, 2.0]), (None, [NAN, 2.0])]:
        refuse(NAME, tensor([1, 1, 2, 2]), *args, outs=tensor([1, 1, 2, 2]))
    refuse(NAME, tensor([1, 2, 2]), [2, 2], None, outs=tensor([1, 2, 2]))
    refuse(NAME, tensor([1, 1, 0, 2]), [2, 2], None, outs=tensor([1, 1, 2, 2]))
    refuse(NAME, tensor([1, 1, 2, 2]), [2, 2], None, outs=tensor([1, 1, 2, 2], f16))

with family("op_upsample_bilinear2d"):
    NAME = "aten::upsample_bilinear2d.vec_out"
    for dtype in FLOATS:
        case(NAME, tensor([1, 2, 3, 2], dtype, 0, 200), [5, 4], False, None,
             tolerance=LOOSE.get(dtype))
    for align in (False, True):
        # PyTorch fails an internal assertion when it resamples bytes to 1 x 1.
        bytes_to = [pair for pair in SIZES if pair[0] != [1, 1]]
        for size, factors in bytes_to + [([5, 11], None), ([40, 2], None), (None, [1.0, 2.3])]:
            for value, order in both([2, 3, 5, 11], u8, 0, 255):
                case(NAME, value, size, align, factors, out_order=order)
    for align in (False, True):
        for size, factors in SIZES:
            for value, order in both([2, 3, 4, 3]):
                case(NAME, value, size, align, factors, out_order=order, tolerance=CLOSE)
    case(NAME, tensor([1, 1, 1, 70]), [1, 150], False, None, tolerance=(2e-5, 2e-5))
    case(NAME, tensor([1, 1, 1, 300]), [2, 5], False, None, tolerance=(1e-4, 1e-4))
    case(NAME, tensor([1, 1, 2, 1]), [3, 3], True, None)
    refuse(NAME, tensor([1, 1, 2, 2]), None, False, None, outs=tensor([1, 1, 2, 2]))
    refuse(NAME, tensor([1, 1, 2, 2], i64), [2, 2], False, None, outs=tensor([1, 1, 2, 2], i64))

with family("op_upsample_bilinear2d_aa"):
    NAME = "aten::_upsample_bilinear2d_aa.out"
    for dtype in (f32, torch.float64):
        case(NAME, tensor([1, 2, 7, 5], dtype, 0, 200), [3, 4], False, tolerance=CLOSE)
    for align in (False, True):
        for size in ([3, 4], [9, 20], [5, 2], [2, 11]):
            for value, order in both([2, 3, 5, 11], u8, 0, 255):
                case(NAME, value, size, align, out_order=order)
    case(NAME, tensor([1, 2, 4, 300], u8, 0, 255), [3, 2], False)
    case(NAME, tensor([1, 2, 8, 8], u8, 0, 255), [4, 3], False, 0.5, 0.4)
    for align in (False, True):
        for size in ([5, 4], [9, 2], [1, 1], [2, 3]):
            for value, order in both([2, 3, 6, 7]):
                case(NAME, value, size, align, out_order=order, tolerance=CLOSE)
    case(NAME, tensor([1, 1, 8, 8]), [4, 3], False, 0.5, 0.4, tolerance=CLOSE)
    case(NAME, tensor([1, 1, 2, 150]), [2, 2], False, tolerance=CLOSE)
    refuse(NAME, tensor([1, 1, 2, 2]), [2], False, outs=tensor([1, 1, 2, 2]))
    refuse(NAME, tensor([1, 1, 2, 2]), [0, 2], False, outs=tensor([1, 1, 2, 2]))

with family("op_grid_sampler_2d"):
    NAME = "aten::grid_sampler_2d.out"

    def grid(sizes, dtype=f32):
        return tensor(sizes + [2], dtype, -2, 2)

    for dtype in FLOATS:
        case(NAME, tensor([1, 2, 4, 4], dtype), grid([1, 3, 2], dtype), 0, 0, False,
             tolerance=(0.06, 0.06) if dtype in LOOSE else CLOSE)
    for mode in (0, 1, 2):
        for padding in (0, 1, 2):
            for align in (False, True):
                case(NAME, tensor([1, 2, 4, 5]), grid([1, 3, 3]), mode, padding, align,
                     tolerance=CLOSE)
    case(NAME, channels_last(tensor([2, 3, 4, 3])), grid([2, 2, 2]), 0, 1, True, out_order=LAST,
         tolerance=CLOSE)
    case(NAME, tensor([1, 1, 1, 1]), grid([1, 2, 2]), 0, 2, True)
    wild = torch.tensor([[[[NAN, 0.0], [float("inf"), 0.5], [-1e30, 1e30]]]])
    case(NAME, tensor([1, 1, 3, 3]), wild, 1, 0, True, out=[1, 1, 1, 3])
    case(NAME, tensor([1, 1, 3, 3]), wild, 0, 2, False, out=[1, 1, 1, 3])
    case(NAME, tensor([1, 1, 3, 3]), wild, 2, 1, False, out=[1, 1, 1, 3])
    X, G, Y = tensor([1, 1, 3, 3]), grid([1, 2, 2]), tensor([1, 1, 2, 2])
    refuse(NAME, X, G, 3, 0, False, outs=Y)
    refuse(NAME, X, G, 0, -1, False, outs=Y)
    refuse(NAME, X, tensor([2, 2, 2, 2]), 0, 0, False, outs=Y)
    refuse(NAME, X, tensor([1, 2, 2, 3]), 0, 0, False, outs=Y)
    refuse(NAME, tensor([1, 1, 0, 3]), G, 0, 0, False, outs=Y)

for kind in ("reflection", "replication"):
    for rank in (1, 2, 3):
        with family(f"op_{kind}_pad{rank}d"):
            NAME = f"aten::{kind}_pad{rank}d.out"
            spatial = [3, 4, 3][-rank:]
            pad = [1, 2, 2, 0, 0, 1][:2 * rank]
            for dtype in FLOATS + ((i64, u8) if kind == "reflection" else ()):
                case(NAME, tensor([2] + spatial, dtype), pad)
            case(NAME, tensor([2, 2] + spatial), pad[::-1])
            case(NAME, tensor([1, 2] + spatial), [0] * (2 * rank))
            case(NAME, tensor([1, 2] + spatial), [-1, 1] * rank)
            if kind == "replication":
                case(NAME, tensor([1] + spatial), [5] * (2 * rank))
            if rank == 2:
                case(NAME, channels_last(tensor([2, 2] + spatial)), pad, out_order=LAST)
            X = tensor([1] + spatial)
            big = tensor([1] + [size + 2 for size in spatial])
            refuse(NAME, X, [1] * (2 * rank + 1), outs=big)
            refuse(NAME, X, [-3, -3] * rank, outs=big)
            refuse(NAME, X, [2**62, 2**62] * rank, outs=big)
            refuse(NAME, tensor(spatial), [1] * (2 * rank), outs=tensor(spatial))
            if kind == "reflection":
                refuse(NAME, X, [3] + [1] * (2 * rank - 1), outs=big)

with family("op_pixel_shuffle"):
    NAME = "aten::pixel_shuffle.out"
    for dtype in ALL:
        case(NAME, tensor([1, 4, 2, 3], dtype), 2)
    case(NAME, tensor([9, 2, 2]), 3)
    case(NAME, tensor([2, 2, 8, 3, 1]), 2)
    case(NAME, channels_last(tensor([2, 8, 2, 3])), 2, out_order=LAST)
    case(NAME, tensor([3, 2, 2]), 1)
    case(NAME, tensor([0, 4, 2, 2]), 2)
    for factor in (0, -1, 3, 2**40):
        refuse(NAME, tensor([1, 4, 2, 2]), factor, outs=tensor([1, 1, 4, 4]))

with family("op_pixel_unshuffle"):
    NAME = "aten::pixel_unshuffle.out"
    for dtype in ALL:
        case(NAME, tensor([1, 2, 4, 2], dtype), 2)
    case(NAME, tensor([1, 6, 3]), 3)
    case(NAME, tensor([2, 2, 3, 2, 4]), 2)
    case(NAME, channels_last(tensor([2, 3, 2, 4])), 2, out_order=LAST)
    case(NAME, tensor([3, 2, 2]), 1)
    case(NAME, tensor([0, 1, 4, 4]), 2, expect=torch.empty([0, 4, 2, 2]))
    for factor in (0, -1, 3, 2**40):
        refuse(NAME, tensor([1, 1, 4, 4]), factor, outs=tensor([1, 4, 2, 2]))
