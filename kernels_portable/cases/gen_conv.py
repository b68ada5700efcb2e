"""Cases of convolution."""

import math

import torch

from op_case import FLOATS, case, channels_last, family, refuse, tensor

f32, f16, i32, i64 = torch.float32, torch.float16, torch.int32, torch.int64
LOOSE = {torch.float16: (4e-3, 4e-3), torch.bfloat16: (3e-2, 3e-2)}
LAST = [0, 2, 3, 1]


def small(sizes, dtype=f32):
    return tensor(sizes, dtype, -1, 1) if dtype in FLOATS else tensor(sizes, dtype)


with family("op_convolution"):
    NAME = "aten::convolution.out"

    def conv(in_sizes, weight_sizes, bias=True, stride=1, padding=0, dilation=1, transposed=False,
             output_padding=0, groups=1, dtype=f32, last=False, weight_last=False, **kwargs):
        """Adds a case; a single number applies to every dimension."""
        rank = len(in_sizes) - 2
        each = lambda value: [value] * rank if isinstance(value, int) else value
        x, w = small(in_sizes, dtype), small(weight_sizes, dtype)
        count = weight_sizes[1] * groups if transposed else weight_sizes[0]
        b = small([count], dtype) if bias else None
        case(NAME, channels_last(x) if last else x, channels_last(w) if weight_last else w, b,
             each(stride), each(padding), each(dilation), transposed, each(output_padding), groups,
             out_order=LAST if last and rank == 2 else None, tolerance=LOOSE.get(dtype), **kwargs)

    for dtype in FLOATS:
        conv([1, 3, 5, 4], [2, 3, 3, 3], padding=1, dtype=dtype)
        conv([1, 3, 4, 4], [2, 3, 3, 3], padding=1, dtype=dtype, last=True)
        conv([1, 4, 4, 4], [4, 1, 3, 3], padding=1, dtype=dtype, groups=4)
        conv([1, 2, 3, 3], [2, 2, 3, 3], stride=2, dtype=dtype, transposed=True)
    for last in (False, True):
        conv([2, 3, 7, 6], [4, 3, 3, 3], last=last, bias=False)
        conv([1, 3, 7, 6], [9, 3, 3, 2], last=last, stride=2, padding=1)
        conv([1, 2, 9, 9], [3, 2, 3, 3], last=last, dilation=2, padding=2, weight_last=True)
        conv([1, 4, 6, 6], [6, 2, 3, 3], last=last, groups=2, padding=1, stride=[2, 1])
        conv([2, 5, 4, 3], [7, 5, 1, 1], last=last)
        conv([1, 5, 5, 4], [6, 5, 1, 1], last=last, stride=2)
        conv([1, 3, 3, 3], [2, 3, 1, 1], last=last, padding=1)
        conv([2, 5, 6, 4], [5, 1, 3, 3], last=last, groups=5, padding=1)
        conv([1, 5, 7, 7], [5, 1, 3, 3], last=last, groups=5, padding=1, stride=2)
        conv([1, 3, 9, 9], [3, 1, 3, 3], last=last, groups=3, padding=2, stride=3, dilation=2)
        conv([1, 2, 5, 5], [6, 1, 3, 3], last=last, groups=2, padding=1)
        conv([1, 2, 8, 8], [2, 1, 6, 6], last=last, groups=2, padding=3)
        conv([1, 3, 4, 4], [3, 4, 3, 3], last=last, transposed=True)
        conv([1, 3, 4, 3], [3, 2, 3, 3], last=last, transposed=True, stride=2, padding=1,
             output_padding=1)
        conv([2, 4, 3, 3], [4, 3, 2, 3], last=last, transposed=True, stride=[3, 2], groups=2,
             output_padding=[1, 0])
        conv([1, 2, 4, 4], [2, 2, 3, 3], last=last, transposed=True, dilation=2, padding=1)
        conv([1, 2, 3, 3], [2, 2, 1, 1], last=last, transposed=True, bias=False)
        conv([1, 1, 1, 1], [3, 1, 1, 1], last=last)
        conv([1, 3, 1, 5], [2, 3, 5, 5], last=last, padding=2)
    conv([1, 9, 9, 9], [5, 9, 3, 3])
    conv([1, 3, 6, 6], [4, 3, 3, 3], last=True, weight_last=True)
    conv([2, 3, 8], [4, 3, 3], padding=1)
    conv([1, 4, 9], [4, 1, 3], groups=4, padding=2, stride=2, dilation=2)
    conv([1, 3, 5], [3, 2, 4], transposed=True, stride=2)
    conv([1, 2, 3, 4, 3], [3, 2, 2, 3, 2], padding=1)
    conv([1, 2, 2, 3, 3], [2, 1, 2, 2, 2], groups=2, stride=2, padding=1)
    conv([1, 2, 2, 2, 3], [2, 2, 2, 2, 2], transposed=True, stride=2)
    conv([1, 2, 5, 5], [3, 2, 2, 2], dtype=i32)
    conv([1, 2, 5, 5], [2, 1, 2, 2], dtype=torch.int8, groups=2)
    conv([0, 2, 5, 5], [3, 2, 2, 2])
    conv([1, 40, 3, 3], [27, 40, 1, 1], dtype=f16)

    # Weights that are not finite multiply the input only, not the zeros between its elements.
    weight = small([2, 2, 3, 3])
    weight[0, 0, 1, 1], weight[0, 1, 0, 2], weight[1, 1, 2, 2] = math.inf, -math.inf, math.nan
    for value, order in [(small([1, 2, 3, 4]), None), (channels_last(small([1, 2, 3, 4])), LAST)]:
        case(NAME, value, weight, small([2]), [2, 2], [1, 1], [1, 1], True, [1, 0], 1,
             out_order=order)
    case(NAME, small([2, 4, 5]), weight[:, :1, 1].repeat(2, 1, 1), None, [3], [0], [1], True, [0], 2)

    # Volumes: windows of every depth, steps, paddings that exceed what lies beneath, columns.
    conv([2, 3, 4, 5, 3], [4, 3, 3, 3, 3], padding=1)
    conv([1, 2, 5, 7, 6], [3, 2, 3, 3, 3], padding=1, stride=2)
    conv([2, 3, 4, 5, 5], [3, 3, 1, 3, 3], padding=[0, 1, 1], stride=[2, 1, 1])
    conv([1, 2, 3, 4, 5], [4, 2, 1, 3, 2], padding=[1, 1, 0], bias=False)
    conv([2, 4, 5, 3, 2], [3, 4, 3, 1, 1], padding=[1, 0, 0], stride=[2, 1, 1])
    conv([1, 4, 3, 3, 2], [3, 4, 2, 1, 1], padding=[2, 0, 0], dilation=[2, 1, 1])
    conv([1, 3, 4, 4, 5], [4, 3, 1, 1, 1], stride=2, bias=False)
    conv([1, 2, 7, 4, 4], [2, 2, 3, 3, 2], padding=[3, 2, 1], stride=[3, 1, 2], dilation=[2, 2, 1])
    conv([2, 2, 1, 4, 4], [3, 2, 3, 3, 3], padding=1)
    conv([1, 8, 2, 9, 10], [8, 8, 3, 3, 3], padding=1)

    def wrong(*args, outs=tensor([1, 2, 2, 2])):
        refuse(NAME, *args, outs=outs)

    X, W, B = tensor([1, 2, 3, 3]), tensor([2, 2, 2, 2]), tensor([2])
    ONE, NONE = [1, 1], [0, 0]
    wrong(X, W, tensor([3]), ONE, NONE, ONE, False, NONE, 1)
    wrong(X, W, tensor([2], f16), ONE, NONE, ONE, False, NONE, 1)
    wrong(X, tensor([2, 2, 4, 4]), B, ONE, NONE, ONE, False, NONE, 1)
    wrong(X, tensor([2, 3, 2, 2]), B, ONE, NONE, ONE, False, NONE, 1)
    wrong(X, tensor([2, 2, 2]), B, ONE, NONE, ONE, False, NONE, 1)
    wrong(X, W, B, [0, 1], NONE, ONE, False, NONE, 1)
    wrong(X, W, B, [-1, 1], NONE, ONE, False, NONE, 1)
    wrong(X, W, B, ONE, [-1, 0], ONE, False, NONE, 1)
    wrong(X, W, B, ONE, [2**62, 2**62], ONE, False, NONE, 1)
    wrong(X, W, B, ONE, NONE, [0, 0], False, NONE, 1)
    wrong(X, W, B, [1, 1, 1], NONE, ONE, False, NONE, 1)
    wrong(X, W, B, ONE, NONE, ONE, False, NONE, 0)
    wrong(X, W, B, ONE, NONE, ONE, False, NONE, 2)
    wrong(X, W, B, ONE, NONE, ONE, True, [1, 1], 1, outs=tensor([1, 2, 5, 5]))
    wrong(X, W, B, [2**31 - 1, 2**31 - 1], NONE, ONE, True, NONE, 1)
    wrong(X, tensor([2, 2, 0, 2]), B, ONE, NONE, ONE, False, NONE, 1)
    wrong(X, W, B, ONE, NONE, ONE, False, NONE, 1, outs=tensor([1, 2, 2, 2], f16))
    wrong(X, W, B, ONE, NONE, ONE, False, NONE, 1, outs=tensor([1, 2, 3, 3]))

    # Volumes in groups and transposed, with windows of every depth and steps.
    conv([2, 4, 5, 4, 3], [8, 1, 3, 2, 3], groups=4, padding=[2, 0, 1], stride=[2, 1, 1],
         dilation=[2, 1, 1])
    conv([2, 3, 3, 4, 1], [3, 1, 3, 1, 1], groups=3, padding=[1, 0, 0])
    conv([2, 3, 3, 4, 5], [3, 2, 4, 3, 2], transposed=True, stride=[3, 2, 1], padding=[1, 0, 1],
         output_padding=[2, 1, 0])
    conv([1, 2, 3, 2, 4], [2, 3, 3, 3, 3], transposed=True, stride=2, padding=1, output_padding=1)
    conv([1, 2, 1, 4, 3], [2, 3, 7, 1, 3], transposed=True, stride=[2, 1, 2], padding=[3, 0, 1])

with family("op_convolution_backward"):
    NAME = "aten::convolution_backward.out"

    def backward(in_sizes, weight_sizes, stride=1, padding=0, dilation=1, transposed=False,
                 output_padding=0, groups=1, dtype=f32, last=False):
        rank = len(in_sizes) - 2
        each = lambda value: [value] * rank if isinstance(value, int) else value
        x, w = small(in_sizes, dtype), small(weight_sizes, dtype)
        x = channels_last(x) if last else x
        options = (each(stride), each(padding), each(dilation), transposed, each(output_padding),
                   groups)
        y = torch.ops.aten.convolution(x, w, None, *options)
        grad = small(y.shape, dtype)
        case(NAME, grad, x, w, [y.shape[1]], *options, [True, True, True],
             tolerance=LOOSE.get(dtype, (1e-5, 1e-5)),
             expect=tuple(g.contiguous() for g in torch.ops.aten.convolution_backward(
                 grad, x, w, [y.shape[1]], *options, [True, True, True])))

    for dtype in FLOATS:
        backward([1, 2, 4, 4], [3, 2, 3, 3], padding=1, dtype=dtype)
    backward([2, 4, 5, 4], [6, 2, 3, 2], stride=2, padding=1, groups=2)
    backward([1, 2, 6, 6], [2, 1, 3, 3], dilation=2, groups=2, last=True)
    backward([1, 3, 3, 4], [3, 2, 2, 3], stride=2, transposed=True, output_padding=1)
    backward([1, 4, 3, 3], [4, 2, 3, 3], stride=2, padding=1, transposed=True, groups=2)
    backward([2, 3, 7], [2, 3, 3], stride=2)
    backward([1, 2, 3, 3, 3], [2, 2, 2, 2, 2])
    backward([1, 3, 3, 3], [2, 3, 1, 1])
    X, W = tensor([1, 2, 3, 3]), tensor([2, 2, 2, 2])
    outs = [X, W, tensor([2])]
    refuse(NAME, tensor([1, 2, 3, 3]), X, W, [2], [1, 1], [0, 0], [1, 1], False, [0, 0], 1,
           [True, True, True], outs=outs)
    refuse(NAME, tensor([1, 2, 2, 2]), X, W, [2], [1, 1], [0, 0], [1, 1], False, [0, 0], 1,
           [True, True], outs=outs)
    refuse(NAME, tensor([1, 2, 2, 2]), X, W, [2], [0, 1], [0, 0], [1, 1], False, [0, 0], 1,
           [True, True, True], outs=outs)
