"""Cases of taper::fft_r2c, fft_c2c and fft_c2r: torch.fft's transforms, with complex numbers as
pairs."""

import math

import torch

from op_case import case, family, refuse, tensor

f32, f64, f16 = torch.float32, torch.float64, torch.float16
TOLERANCE = (1e-5, 1e-4)


def turns(n, dtype=f32):
    angles = torch.arange(n, dtype=f64) * (2 * math.pi / n)
    return torch.stack([angles.cos(), angles.sin()], -1).to(dtype)


def pairs(values, dtype):
    return torch.view_as_real(values.resolve_conj()).to(dtype)


def numbers(sizes, dtype=f32):
    value = tensor([*sizes, 2], dtype)
    return value, torch.view_as_complex(value.double())


with family("op_fft"):
    NAME = "taper::fft_r2c.out"

    def forward(sizes, onesided=True, scale=1.0, dtype=f32):
        x = tensor(sizes, dtype)
        function = torch.fft.rfft if onesided else torch.fft.fft
        expect = pairs(function(x.double()) * scale, dtype)
        case(NAME, x, turns(sizes[-1], dtype), onesided, scale, expect=expect, tolerance=TOLERANCE)

    for n in (1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 15, 30, 64, 70, 121):
        forward([3, n])
    for n in (9, 10, 37):
        forward([n], False, 0.5)
    forward([2, 9, 32])
    forward([17, 20])
    forward([2, 12], dtype=f64)
    refuse(NAME, tensor([2, 8]), turns(4), True, 1.0, outs=tensor([2, 5, 2]))
    refuse(NAME, tensor([2, 8]), turns(8, f64), True, 1.0, outs=tensor([2, 5, 2]))
    refuse(NAME, tensor([2, 8]), turns(8), True, 1.0, outs=tensor([2, 5, 2], f64))
    refuse(NAME, tensor([2, 8]), turns(8), True, 1.0, outs=tensor([2, 4, 2]))
    refuse(NAME, tensor([2, 0]), tensor([0, 2]), True, 1.0, outs=tensor([2, 1, 2]))
    refuse(NAME, tensor([2, 8], f16), turns(8, f16), True, 1.0, outs=tensor([2, 5, 2], f16))
    refuse(NAME, tensor([]), turns(1), True, 1.0, outs=tensor([1, 2]))
    NAME = "taper::fft_c2c.out"

    def both(sizes, forward=True, scale=1.0, dtype=f32):
        x, value = numbers(sizes, dtype)
        function = torch.fft.fft if forward else torch.fft.ifft
        expect = function(value, norm="backward" if forward else "forward") * scale
        case(NAME, x, turns(sizes[-1], dtype), forward, scale, expect=pairs(expect, dtype),
             tolerance=TOLERANCE)

    for n in (1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 26, 64, 75):
        both([3, n])
        both([2, n], False)
    both([17, 16], False, 1 / 16)
    both([2, 3, 10], dtype=f64)
    refuse(NAME, tensor([8, 3]), turns(8), True, 1.0, outs=tensor([8, 3]))
    refuse(NAME, tensor([8, 2]), turns(6), True, 1.0, outs=tensor([8, 2]))
    refuse(NAME, tensor([2]), turns(1), True, 1.0, outs=tensor([2]))
    NAME = "taper::fft_c2r.out"

    def backward(lines, n, scale=1.0, dtype=f32):
        x, value = numbers([*lines, n // 2 + 1], dtype)
        expect = torch.fft.irfft(value, n, norm="forward") * scale
        case(NAME, x, turns(n, dtype), scale, expect=expect.to(dtype), tolerance=TOLERANCE)

    for n in (1, 2, 3, 4, 5, 6, 8, 9, 12, 22, 30, 64, 77):
        backward([3], n)
    backward([17], 20, 1 / 20)
    backward([2, 3], 8, dtype=f64)
    backward([], 10)
    refuse(NAME, tensor([3, 2]), turns(6), 1.0, outs=tensor([6]))
    refuse(NAME, tensor([4, 2]), turns(6), 1.0, outs=tensor([5]))
    refuse(NAME, tensor([4, 3]), turns(6), 1.0, outs=tensor([6]))
