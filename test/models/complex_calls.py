"""Complex tensors of the user's own: layers, statistics, pads, questions, writes into parts."""

import torch
from torch import nn
from torch.nn import functional as F

from model import Model, randn


def numbers(*inputs):
    return [torch.view_as_complex(pairs) for pairs in inputs]


def parts(results):
    return tuple(torch.view_as_real(y.resolve_conj()) if y.is_complex() else y for y in results)


class Layers(nn.Module):
    """Products with complex weights, and functions of each number."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 3, padding=1, dtype=torch.complex64)
        self.wider = nn.ConvTranspose1d(3, 2, 3, stride=2, dtype=torch.complex64)
        self.linear = nn.Linear(6, 4, dtype=torch.complex64)

    def forward(self, images, line):
        x, row = numbers(images, line)
        y = self.conv(x)
        z = self.linear(y)
        matrix = z[0, 0]
        return parts((
            torch.sigmoid(y),
            self.wider(y[0, :, :, 0]),
            torch.baddbmm(z[0], y[0], self.linear.weight.T.expand(3, 6, 4), beta=0.5, alpha=2),
            torch.addmv(matrix[:, 0], matrix, row),
            torch.vdot(row, row) * torch.tensordot(matrix, row, 1),
            torch.kron(row, row) + 1j,
            torch.log1p(row) + torch.expm1(row) * row.log2() - torch.exp2(row) / row.log10(),
            torch.rsqrt(row) * row.tan() * F.silu(row) + torch.pow(row, row.conj()),
            torch.lerp(row, row.flip(0), 0.25).addcmul(row, row, value=2).addcdiv(row, matrix[0]),
        ))


class Questions(nn.Module):
    """What is asked of whole tensors, of single numbers, and by masks."""

    def forward(self, matrix, number):
        x, one = numbers(matrix, number[0])
        mean = torch.var_mean(x, 1)
        return parts((
            x.any(1), x.all(), x.bool(), torch.isreal(x), x.count_nonzero(0), x != 0,
            x.var(0), x.std(), *mean, one.sum() + one.mean(0), F.normalize(one, p=1.5, dim=0),
            torch.where(x.real > 0, x, 0.0), x.masked_fill(x.imag > 0, 1 - 2j),
            x.masked_fill(x.imag > 0, one.squeeze()), x.roll(2),
            torch.index_select(one, 0, torch.tensor([0])), x.expand(2, -1, -1).abs() * one.abs(),
        ))  # fmt: skip


class Edges(nn.Module):
    """Paddings of all kinds, pieces, and rearrangements."""

    def forward(self, volume):
        (x,) = numbers(volume)
        return parts((
            F.pad(x, (1, 2), value=1.5), F.pad(x, (1, 1, 0, 2), mode="reflect"),
            F.pad(x, (2, 1), mode="replicate"), F.pad(x, (1, 1), mode="circular"),
            torch.hstack([x, x * 2j]), torch.block_diag(x[0], x[0, :2]), x.tile(2, 1, 1),
            *x.tensor_split(3, -1), torch.fft.fftshift(x), torch.diff(x, dim=1),
            torch.atleast_3d(x[0, 0]), *torch.meshgrid(x[0, 0], x[0, 1], indexing="ij"),
            x.as_strided((2, 3), (4, 1), 1), torch.take(x, torch.tensor([5, 0])),
        ))  # fmt: skip


class Writes(nn.Module):
    """Writes through views of complex numbers; conjugates where anything else is written."""

    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(4, dtype=torch.complex64))

    def forward(self, matrix, pairs):
        (x,) = numbers(matrix)
        self.state.mul_(0.5j).add_(x[0])
        a, b, c, d = x.clone(), x.clone(), x.clone(), pairs.clone()
        a.real.mul_(2)
        a.imag[1:] = 0
        torch.view_as_real(b)[..., 0] = 5
        b.conj().mul_(1j)
        c.T[0] = 1j
        c.mH[1].add_(x[:, 1])
        c[:, -1] = x[:, 0]
        torch.view_as_complex(d).mul_(1 + 1j)
        return parts((self.state * self.state.conj(), a, b, c.t().reshape(-1), d, x * x.conj()))


class TwoSides(nn.Module):
    """Frames of which both halves of the spectrum are given, though they are no mirror images."""

    def forward(self, frames):
        (x,) = numbers(frames)
        return torch.istft(x, 10, window=torch.hann_window(10), onesided=False)


def models(full):
    return [
        Model("complex_layers", Layers(), (randn(2, 2, 5, 6, 2, seed=1), randn(4, 2, seed=2))),
        Model("complex_questions", Questions(), (randn(4, 3, 2, seed=3), randn(1, 2, seed=4))),
        Model("complex_edges", Edges(), (randn(2, 3, 4, 2, seed=5),)),
        Model("complex_writes", Writes(), (randn(3, 4, 2, seed=6), randn(3, 4, 2, seed=7))),
        Model("two_sides", TwoSides(), (randn(10, 7, 2, seed=8),)),
    ]
