"""Cases of complex numbers: their own operators, Fourier transforms, and arithmetic."""

import torch

from op_case import case, family, in_order, refuse, tensor

c64, c128, c32 = torch.complex64, torch.complex128, torch.complex32
f32, f64, f16 = torch.float32, torch.float64, torch.float16
TYPES = (c64, c128)

with family("op_view_as_real_copy"):
    NAME = "aten::view_as_real_copy.out"
    for dtype in (c64, c128, c32):
        value = tensor([2, 3], dtype)
        case(NAME, value, expect=torch.view_as_real(value).clone())
    for sizes in ([], [0, 2], [2, 1, 3]):
        value = tensor(sizes, c64)
        case(NAME, value, expect=torch.view_as_real(value).clone())
    refuse(NAME, tensor([2], c64), outs=tensor([2, 2], f64))
    refuse(NAME, tensor([2], f32), outs=tensor([2, 2], f32))

with family("op_view_as_complex_copy"):
    NAME = "aten::view_as_complex_copy.out"
    for dtype, whole in ((f32, c64), (f64, c128), (f16, c32)):
        case(NAME, tensor([2, 3, 2], dtype), out_dtype=whole)
    for sizes in ([2], [0, 2, 2], [2, 1, 3, 2]):
        case(NAME, tensor(sizes), out_dtype=c64)
    case(NAME, in_order(tensor([3, 4, 2]), [1, 0, 2]), out_dtype=c64)
    refuse(NAME, tensor([2, 3]), outs=tensor([2], c64))
    refuse(NAME, tensor([]), outs=tensor([], c64))
    refuse(NAME, tensor([2, 2]), outs=tensor([2], c128))
    refuse(NAME, tensor([2, 2]), outs=tensor([2], f32))

NORMS = ("backward", "ortho", "forward")

with family("op_fft_r2c"):
    NAME = "aten::_fft_r2c.out"

    def forward(value, dims, normalization, onesided, **kwargs):
        function = torch.fft.rfftn if onesided else torch.fft.fftn
        expect = function(value.double(), dim=dims, norm=NORMS[normalization])
        case(NAME, value, dims, normalization, onesided,
             expect=expect.to(c64 if value.dtype == f32 else c128),
             tolerance=(1e-5, 1e-4))

    for size in (1, 2, 3, 4, 5, 6, 8, 12, 30, 37, 74):
        forward(tensor([2, size]), [1], 0, True)
    forward(tensor([400]), [0], 0, True)
    for normalization in (0, 1, 2):
        forward(tensor([3, 8], f64), [-1], normalization, normalization == 1)
    forward(tensor([6, 2]), [0], 0, True)
    forward(tensor([5, 2]), [0], 0, False)
    forward(tensor([2, 4, 6]), [1, 2], 1, True)
    forward(tensor([3, 4, 2]), [2, 0, 1], 0, False)
    forward(tensor([131, 2]), [0, 1], 0, True)
    case(NAME, tensor([0, 4]), [1], 0, True, expect=torch.empty([0, 3], dtype=c64))
    refuse(NAME, tensor([2, 4]), [], 0, True, outs=tensor([2, 3], c64))
    refuse(NAME, tensor([2, 4]), [2], 0, True, outs=tensor([2, 3], c64))
    refuse(NAME, tensor([2, 4]), [1], 3, True, outs=tensor([2, 3], c64))
    refuse(NAME, tensor([2, 0]), [1], 0, True, outs=tensor([2, 1], c64))
    refuse(NAME, tensor([2, 4], f64), [1], 0, True, outs=tensor([2, 3], c64))
    refuse(NAME, tensor([2, 4], f16), [1], 0, True, outs=tensor([2, 3], c32))

with family("op_fft_c2r"):
    NAME = "aten::_fft_c2r.out"

    def backward(value, dim, normalization, size):
        norm = ("forward", "ortho", "backward")[normalization]
        expect = torch.fft.irfft(value.to(c128), size, dim, norm)
        case(NAME, value, [dim], normalization, size,
             expect=expect.to(f32 if value.dtype == c64 else f64), tolerance=(1e-5, 1e-4))

    for size in (1, 2, 3, 4, 5, 8, 12, 30, 74):
        backward(tensor([2, size // 2 + 1], c64), 1, 0, size)
    for normalization in (0, 1, 2):
        backward(tensor([3, 5], c128), -1, normalization, 8)
    backward(tensor([4, 2], c64), 0, 2, 6)
    refuse(NAME, tensor([2, 3], c64), [0, 1], 0, 4, outs=tensor([2, 4]))
    refuse(NAME, tensor([2, 3], c64), [1], 0, 6, outs=tensor([2, 6]))
    refuse(NAME, tensor([2, 3], c64), [1], 0, 0, outs=tensor([2, 4]))
    refuse(NAME, tensor([2, 3], c64), [1], 0, 4, outs=tensor([2, 4], f64))

with family("complex"):
    for dtype in TYPES:
        a, b, row = tensor([2, 3], dtype), tensor([2, 3], dtype), tensor([3], dtype)
        for name in ("add", "sub"):
            case(f"aten::{name}.out", a, b, alpha=1)
            case(f"aten::{name}.out", a, row, alpha=2)
            case(f"aten::{name}.Scalar_out", a, 1.5, 2)
        for name in ("mul", "div"):
            case(f"aten::{name}.out", a, b + 5)
            case(f"aten::{name}.out", tensor([2, 1], dtype), row + 5)
            case(f"aten::{name}.Scalar_out", a, 2)
        case("aten::mul.out", a, tensor([3], f32 if dtype == c64 else f64))
        case("aten::abs.out", a)
        case("aten::_conj_physical.out", a)
        case("aten::sum.IntList_out", a, [1], False)
        case("aten::sum.IntList_out", a, [0], True)
        case("aten::sum.IntList_out", a, None, False)
        case("aten::bmm.out", tensor([2, 3, 4], dtype), tensor([2, 4, 2], dtype))
        case("aten::cat.out", [a, b], 1)
        case("aten::permute_copy.out", a, [1, 0])
        case("aten::view_copy.out", a, [3, 2])
        case("aten::slice_copy.Tensor_out", a, 1, 0, 3, 2)
        case("aten::select_copy.int_out", a, 1, 1)
        case("aten::unsqueeze_copy.out", a, 0)
        case("aten::expand_copy.out", row, [2, 3])
        case("dim_order_ops::_clone_dim_order.out", in_order(a, [1, 0]), False, [0, 1], expect=a,
             out_order=[0, 1])
    name = "dim_order_ops::_to_dim_order_copy.out"
    case(name, a, False, [0, 1], expect=a.to(c64))
    case(name, tensor([2, 2], f32), False, [0, 1], out_dtype=c64, expect=tensor([2, 2], f32) * 0,
         compare=False)
    zeros = torch.zeros([2], dtype=c64)
    case("aten::div.out", tensor([2], c64) + 9, zeros, compare=False, out=[2], out_dtype=c64)
    refuse(name, a, False, [0, 1], outs=tensor([2, 3], f32))
    refuse("aten::add.out", a, b, alpha=1, outs=tensor([2, 3], f64))
    refuse("aten::add.out", tensor([2]), tensor([2]), alpha=1, outs=tensor([2], c64))
    refuse("aten::cat.out", [a, tensor([2, 3], f32)], 1, outs=tensor([2, 6], c128))
    refuse("aten::bmm.out", tensor([1, 2, 2]), tensor([1, 2, 2]), outs=tensor([1, 2, 2], c64))
    refuse("aten::sum.IntList_out", tensor([2]), [0], False, outs=tensor([], c64))
    refuse("aten::view_copy.out", a, [3, 2], outs=tensor([3, 2], c64))
