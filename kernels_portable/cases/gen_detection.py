"""Cases of torchvision's operators: non-maximum suppression, regions, deformable convolution."""

import torch

import torchvision_operators
from op_case import FLOATS, case, channels_last, family, refuse, tensor

assert torchvision_operators.load(), "torchvision's operators cannot be loaded"

f32, f64, f16, bf16, i32, i64 = (torch.float32, torch.float64, torch.float16, torch.bfloat16,
                                 torch.int32, torch.int64)
NAN, INF = float("nan"), float("inf")
CLOSE = (1e-5, 1e-5)
LOOSE = {f16: (4e-3, 4e-3), bf16: (3e-2, 3e-2)}
LAST = [0, 2, 3, 1]
OPS = torch.ops.torchvision


def widened(operator, dtype, *args):
    """The result of an operator on float32 for 16-bit floats, which torchvision rounds at each step
    or refuses."""
    if dtype not in LOOSE:
        return operator(*args)
    wide = [a.float() if isinstance(a, torch.Tensor) else a for a in args]
    result = operator(*wide)
    narrow = [r.to(dtype) if r.dtype == f32 else r
              for r in (result if isinstance(result, tuple) else [result])]
    return tuple(narrow) if isinstance(result, tuple) else narrow[0]


def boxes(count, dtype=f32, size=8):
    corner = tensor([count, 2], dtype, 0, size)
    return torch.cat([corner, corner + tensor([count, 2], dtype, 0, size).abs()], 1)


def regions(images, count, size=8, dtype=f32):
    image = torch.randint(0, images, [count, 1]).to(dtype)
    return torch.cat([image, boxes(count, dtype, size)], 1)


with family("op_nms"):
    NAME = "torchvision::nms.out"

    def nms(dets, scores, threshold, dtype=f32):
        case(NAME, dets, scores, threshold,
             expect=widened(OPS.nms, dtype, dets, scores, threshold))

    for dtype in FLOATS:
        nms(boxes(12, dtype), tensor([12], dtype), 0.3, dtype)
    for threshold in (-1.0, 0.0, 0.5, 1.0, NAN):
        nms(boxes(20), tensor([20]), threshold)
    nms(boxes(30), torch.zeros([30]), 0.2)
    nms(boxes(0), tensor([0]), 0.5)
    nms(boxes(1), tensor([1]), 0.5)
    # Equal boxes, without area, upside down, with NaN and infinity.
    wild = torch.tensor([[0, 0, 2, 2], [0, 0, 2, 2], [1, 1, 1, 1], [1, 1, 1, 1], [2, 2, 0, 0],
                         [NAN, 0, 2, 2], [0, 0, NAN, 2], [-INF, -INF, INF, INF], [0, 0, 2, INF],
                         [1e30, 1e30, 2e30, 2e30], [1e30, 1e30, 2e30, 2e30]], dtype=f32)
    for threshold in (0.0, 0.5):
        nms(wild, torch.arange(11.0), threshold)
        nms(wild.flip(0), torch.tensor([0.5, NAN, 1, INF, -INF, NAN, 1, 1, 0, -0.0, 3]), threshold)
    case(NAME, torch.tensor([[0.0, 0, 2, 2], [4, 4, 6, 6]]).T.contiguous().T, tensor([2]), 0.5,
         expect=torch.ops.torchvision.nms(torch.tensor([[0.0, 0, 2, 2], [4, 4, 6, 6]]),
                                          torch.tensor([0.0, 1.0]), 0.5), compare=False)
    TWO = torch.zeros([2], dtype=i64)
    refuse(NAME, boxes(3), tensor([2]), 0.5, outs=TWO)
    refuse(NAME, tensor([3, 5]), tensor([3]), 0.5, outs=TWO)
    refuse(NAME, tensor([4]), tensor([1]), 0.5, outs=TWO)
    refuse(NAME, boxes(3), tensor([3, 1]), 0.5, outs=TWO)
    refuse(NAME, boxes(3), tensor([3], f64), 0.5, outs=TWO)
    refuse(NAME, boxes(3).to(i64), tensor([3], i64), 0.5, outs=TWO)
    refuse(NAME, boxes(3), tensor([3]), 0.5, outs=tensor([2]))
    refuse(NAME, torch.tensor([[0.0, 0, 1, 1], [2, 2, 3, 3], [4, 4, 5, 5]]), tensor([3]), 0.5,
           outs=TWO)


def pooled(name, operator, images, rois, *args, dtype=f32, out_order=None):
    """A case of an operator on regions with torchvision's numbers."""
    case(name, images, rois, *args, expect=widened(operator, dtype, images, rois, *args),
         out_order=out_order, tolerance=LOOSE.get(dtype, CLOSE))


# Outside of the image, without area, upside down, of a fraction of a pixel, much larger than the
# image.
ODD = torch.tensor([[0, -9, -9, -5, -5], [0, 2, 2, 2, 2], [0, 3, 4, 1, 1], [0, 2, 1.5, 2.25, 1.75],
                    [0, 20, 20, 30, 30], [0, -3, 2, 9, 40], [0, 3.75, 3.75, 4, 4]], dtype=f32)
HOSTILE = torch.tensor([[0, NAN, 0, 2, 2], [0, 0, 0, NAN, NAN], [0, -INF, -INF, INF, INF],
                        [0, -1e30, 0, 1e30, 3], [0, 0, 0, 3e7, 3e7], [0, 1e30, 1e30, 1e30, 1e30]],
                       dtype=f32)


def refuse_regions(name, channels, tail, outs):
    """Calls that no operator on regions takes; `tail` holds the arguments after the bins."""
    images, rois = tensor([2, channels, 3, 3]), regions(2, 2, 3)
    for image in (-1.0, 2.0, NAN, 1e30):
        bad = rois.clone()
        bad[1, 0] = image
        refuse(name, images, bad, 1.0, 2, 2, *tail, outs=outs)
    for bins in [(0, 2), (2, -1), (2**40, 2), (2, 2**40)]:
        refuse(name, images, rois, 1.0, *bins, *tail, outs=outs)
    refuse(name, images[0], rois, 1.0, 2, 2, *tail, outs=outs)
    refuse(name, images, rois[:, :4], 1.0, 2, 2, *tail, outs=outs)
    refuse(name, images, rois[0], 1.0, 2, 2, *tail, outs=outs)
    refuse(name, images, rois.double(), 1.0, 2, 2, *tail, outs=outs)
    refuse(name, images[:, :, :0], rois, 1.0, 2, 2, *tail, outs=outs)


with family("op_roi_align"):
    for NAME, OP, SENSITIVE in (("torchvision::roi_align.out", OPS.roi_align, False),
                                ("torchvision::ps_roi_align.out", OPS.ps_roi_align, True)):
        def align(images, rois, rows, columns, ratio, aligned=False, scale=1.0, dtype=f32,
                  order=None):
            more = [] if SENSITIVE else [aligned]
            pooled(NAME, OP, images, rois, scale, rows, columns, ratio, *more, dtype=dtype,
                   out_order=order)

        def channels(bins, count=1):
            return bins * count if SENSITIVE else count

        for dtype in FLOATS:
            align(tensor([1, channels(4), 3, 4], dtype), regions(1, 2, 3, dtype), 2, 2, 2,
                  dtype=dtype)
        for aligned in (True,) if SENSITIVE else (False, True):
            for ratio in (-1, 1, 3):
                align(tensor([2, channels(2, 2), 4, 5]), regions(2, 3, 6), 2, 1, ratio, aligned,
                      0.5)
            # A bin without area is 0 / 0 in ps_roi_align, unless there is a sampling ratio.
            for ratio in (0, 2):
                align(tensor([1, channels(2), 5, 5]), ODD, 2, 1, ratio, aligned)
        align(tensor([1, channels(2, 40), 2, 2]), regions(1, 1, 2), 1, 2, 2)
        align(tensor([1, channels(2), 4, 9]), torch.tensor([[0.0, -300, -50, 400, 70]]), 2, 1, 0)
        align(tensor([1, channels(2), 1, 1]), regions(1, 2, 2), 1, 2, 2)
        align(tensor([0, channels(4), 4, 4]), regions(1, 0), 2, 2, 2)
        align(channels_last(tensor([2, channels(2, 2), 3, 4])), regions(2, 2, 4), 2, 1, 2,
              order=LAST)
        outs = [torch.empty([6, 1, 2, 2])] + [torch.empty([6, 1, 2, 2], dtype=i32)] * SENSITIVE
        more = [] if SENSITIVE else [True]
        for ratio in (0, 9):
            case(NAME, tensor([1, channels(4), 3, 3]), HOSTILE, 1.0, 2, 2, ratio, *more,
                 expect=tuple(outs), compare=False)
        outs = [out[:2] for out in outs]
        refuse_regions(NAME, channels(4), [2] + more, outs)
        refuse(NAME, tensor([1, channels(4), 2, 2]), regions(1, 2), 1.0, 2, 2, 1025, *more,
               outs=outs)
        if SENSITIVE:
            refuse(NAME, tensor([1, 6, 2, 2]), regions(1, 2), 1.0, 2, 2, 2, outs=outs)

with family("op_roi_pool"):
    for NAME, OP, SENSITIVE in (("torchvision::roi_pool.out", OPS.roi_pool, False),
                                ("torchvision::ps_roi_pool.out", OPS.ps_roi_pool, True)):
        def pool(images, rois, rows, columns, scale=1.0, dtype=f32, order=None):
            pooled(NAME, OP, images, rois, scale, rows, columns, dtype=dtype, out_order=order)

        def channels(bins, count=1):
            return bins * count if SENSITIVE else count

        for dtype in FLOATS:
            pool(tensor([1, channels(4), 3, 4], dtype), regions(1, 2, 3, dtype), 2, 2, dtype=dtype)
        for rows, columns in ((1, 1), (2, 1), (1, 3)):
            bins = rows * columns
            pool(tensor([2, channels(bins, 2), 5, 4]), regions(2, 3), rows, columns, 0.5)
            pool(tensor([1, channels(bins), 5, 5]), ODD, rows, columns)
        pool(tensor([1, channels(2, 2), 2, 70]), torch.tensor([[0.0, 0, 0, 69, 2]]), 1, 2)
        pool(tensor([0, channels(4), 4, 4]), regions(1, 0), 2, 2)
        pool(tensor([1, channels(4), 1, 1]), regions(1, 2, 2), 2, 2)
        pool(channels_last(tensor([2, channels(2, 2), 3, 4])), regions(2, 2, 4), 2, 1, order=LAST)
        if not SENSITIVE:
            # What is not greater than the lowest float is no maximum; nor is NaN.
            X = torch.tensor([NAN, 1, NAN, -INF] * 4).reshape(1, 1, 4, 4)
            pool(X, torch.tensor([[0.0, 0, 0, 3, 3]]), 4, 4)
        outs = [torch.empty([6, 1, 2, 2]), torch.empty([6, 1, 2, 2], dtype=i32)]
        case(NAME, tensor([1, channels(4), 3, 3]), HOSTILE, 1.0, 2, 2, expect=tuple(outs),
             compare=False)
        outs = [out[:2] for out in outs]
        refuse_regions(NAME, channels(4), [], outs)
        refuse(NAME, tensor([1, channels(4), 2, 2]), regions(1, 2), 1.0, 2, 2,
               outs=[outs[0], outs[1].long()])

with family("op_deform_conv2d"):
    NAME = "torchvision::deform_conv2d.out"

    def out_size(size, kernel, stride, pad, dilation):
        return (size + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1

    def deform(batch=1, channels=2, size=(3, 4), out=2, kernel=(2, 2), stride=(1, 1), pad=(0, 0),
               dilation=(1, 1), groups=1, offset_groups=1, use_mask=True, dtype=f32, limit=2,
               order=None):
        places = [out_size(*side) for side in zip(size, kernel, stride, pad, dilation)]
        taps = offset_groups * kernel[0] * kernel[1]
        image = tensor([batch, channels, *size], dtype)
        args = [channels_last(image) if order else image,
                tensor([out, channels // groups, *kernel], dtype, -1, 1),
                tensor([batch, 2 * taps, *places], dtype, -limit, limit),
                tensor([batch, taps, *places], dtype, 0, 1) if use_mask
                else torch.zeros([batch, 1], dtype=dtype),
                tensor([out], dtype), *stride, *pad, *dilation, groups, offset_groups, use_mask]
        case(NAME, *args, expect=widened(OPS.deform_conv2d, dtype, *args), out_order=order,
             tolerance=LOOSE.get(dtype, (1e-4, 1e-4)))

    for dtype in FLOATS:
        deform(dtype=dtype)
    deform(use_mask=False)
    deform(size=(5, 4), kernel=(2, 3), stride=(2, 1), pad=(1, 0), dilation=(2, 1))
    deform(channels=4, out=4, groups=2)
    deform(channels=4, out=2, offset_groups=2)
    deform(channels=4, out=4, groups=4, offset_groups=2)
    deform(channels=6, out=2, groups=2, offset_groups=3)
    deform(batch=2, limit=8)
    deform(size=(1, 20), channels=1, kernel=(1, 1))
    deform(channels=1, out=40, size=(2, 3), kernel=(1, 1))
    deform(order=LAST)
    deform(batch=0)

    def point(value, y, x, mask=1.0):
        """One tap, moved from (0, 0) of an image of 2 x 2."""
        image = torch.tensor(value, dtype=f32).reshape(1, 1, 2, 2)
        args = [image[:, :, :1, :1] * 0 + 1, torch.tensor([y, x]).reshape(1, 2, 1, 1),
                torch.full([1, 1, 1, 1], mask), torch.zeros([1]), 2, 2, 0, 0, 1, 1, 1, 1, True]
        return [image] + args

    for y, x in ((-1.0, 0.0), (-0.5, -0.5), (1.5, 1.75), (2.0, 0.0), (0.0, 1.0), (1e30, 0.0),
                 (-INF, INF)):
        args = point([1, 2, 3, 4], y, x)
        case(NAME, *args, expect=OPS.deform_conv2d(*args))
    case(NAME, *point([1, 2, 3, 4], NAN, 0.5), expect=torch.zeros([1, 1, 1, 1]))
    for value in ([INF, 2, 3, 4], [1, INF, 3, 4], [1, 2, NAN, 4]):
        for y, x in ((0.0, 0.0), (0.5, 0.0), (-0.5, -0.5)):
            args = point(value, y, x)
            case(NAME, *args, expect=OPS.deform_conv2d(*args))

    def changed(index, value):
        args = [tensor([1, 2, 3, 3]), tensor([2, 2, 2, 2]), tensor([1, 8, 2, 2]),
                tensor([1, 4, 2, 2]), tensor([2]), 1, 1, 0, 0, 1, 1, 1, 1, True]
        args[index] = value
        return args

    for index, value in [(0, tensor([2, 3, 3])), (0, tensor([1, 3, 3, 3])), (0, tensor([1, 2, 1, 3])),
                         (0, tensor([1, 2, 3, 3], f64)), (1, tensor([2, 2, 0, 2])),
                         (2, tensor([1, 6, 2, 2])), (2, tensor([2, 8, 2, 2])),
                         (2, tensor([1, 8, 2, 1])), (3, tensor([1, 1])), (3, tensor([1, 4, 2, 1])),
                         (4, tensor([3])), (4, tensor([2, 1])), (5, 0), (6, -1), (7, -1), (8, 2**62),
                         (9, 0), (10, 2**62), (5, 2**62), (11, 0), (11, 2), (11, 2**40), (12, 0),
                         (12, 3), (12, 2**40)]:
        refuse(NAME, *changed(index, value), outs=tensor([1, 2, 2, 2]))
