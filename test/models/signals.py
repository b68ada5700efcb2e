"""Signals and images: real Fourier transforms, gradients, resampling, selection of values."""

import torch
from torch import nn
from torch.nn.functional import interpolate

from model import Model, randint, randn, seeded


class Signals(nn.Module):
    """Transforms of real and integer inputs, STFT and its inverse, with window functions."""

    def forward(self, x, counts):
        window = torch.hamming_window(10)
        z = torch.stft(x, 16, 4, 10, window, return_complex=True)
        bare = torch.stft(x, 16, 5, win_length=14, normalized=True, return_complex=True)
        mirrored = torch.fft.ihfftn(x, dim=(0, 1), norm="ortho")
        return (
            torch.fft.irfft(x, n=9),
            torch.fft.irfftn(counts, s=(3, 8), norm="forward"),
            torch.fft.hfft(x, n=7, norm="ortho"),
            torch.view_as_real(torch.fft.rfft(counts)),
            torch.view_as_real(mirrored.resolve_conj()),
            torch.istft(z * 2, 16, 4, 10, window, length=58),
            torch.istft(bare, 16, 5, win_length=14, normalized=True),
            torch.blackman_window(6) + torch.bartlett_window(6, periodic=False),
        )


class Images(nn.Module):
    """Resampling: nearest-exact, with antialiasing filters, and of bytes."""

    def forward(self, image, bytes_):
        return (
            interpolate(image, scale_factor=(0.7, 1.9), mode="nearest-exact"),
            interpolate(image[0], size=4, mode="nearest-exact"),
            interpolate(image, size=(3, 12), mode="bicubic", antialias=True),
            interpolate(image, scale_factor=(0.6, 1.3), mode="bilinear", antialias=True),
            interpolate(bytes_, size=(3, 12), mode="bicubic", antialias=True),
            interpolate(bytes_, size=(9, 6), mode="bicubic"),
            interpolate(bytes_, scale_factor=1.7, mode="bilinear", align_corners=True),
            interpolate(bytes_, size=(3, 5), mode="bilinear", antialias=True),
        )


class Slopes(nn.Module):
    """Gradients, _chunk_cat, resize_, data-dependent sizes, distances and ranges."""

    def forward(self, x, places, limit):
        chosen = torch.nonzero(x > 0.5, as_tuple=True)
        some = (x * 2).resize_(3, 2)
        return (
            *torch.gradient(x, spacing=0.5, dim=(0, 1)),
            *torch.gradient(x, spacing=(places, places[:4]), dim=(1, 0), edge_order=2),
            torch._chunk_cat([x, x[:, :2], x[:3]], 0, 3),
            some + 1,
            chosen[0].sum() + 10 * chosen[1].sum(),
            torch.masked_select(limit, limit > 0).sum(),
            torch.cdist(torch.where(x > 1, torch.nan, x), x, p=0.0),
            torch.arange(0.5, -8.1, -1.7, dtype=torch.int64),
            torch.arange(0.5, -8.1, -1.7, dtype=torch.int32),
        )


class Choices(nn.Module):
    """Unique values, rows and columns, nonzero_static, numbers as left operands, and special
    functions."""

    def forward(self, x, f):
        values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
        runs = torch.unique_consecutive(x > 3, return_counts=True)
        rows = torch.unique(x % 2, dim=0, return_inverse=True, return_counts=True)
        columns = torch.unique(f[:, [0, 2, 0, 1, 2]], dim=1, return_inverse=True)
        row_runs = torch.unique_consecutive((x > 6).T, dim=1, return_counts=True)
        nothing = torch.unique(x[:0], return_counts=True)
        return (
            inverse,
            values.sum() + 100 * counts.max(),
            runs[1].max(),
            torch.nonzero_static(x > 3, size=4),
            torch.nonzero_static(x, size=20, fill_value=7),
            2 << x,
            (1000 >> x.to(torch.int16)),
            7 // (x + 1),
            7.5 // f,
            torch.nn.functional.embedding_bag(x[:2], f.log(), mode="sum"),
            *torch.cummax(x, 1),
            *torch.cummin(torch.where(f > 0.8, torch.nan, f), 0),
            torch.put(f, x, x + 0.5, accumulate=True),
            torch.angle(f - 0.5),
            torch.lgamma(5 * f - 3),
            torch.digamma(5 * f - 3),
            torch.mvlgamma(f + 1, 2),
            rows[0].cumsum(0).sum(1).max() + 100 * rows[2].max(),
            rows[1],
            columns[0].cumsum(1).sum(),
            columns[1],
            row_runs[0].cumsum(1).sum() + 100 * row_runs[1].max(),
            nothing[1].sum(),
            f[:0].logsumexp(0),
            torch.signbit(0 * -f + -0.0),
        )


def models(full):
    places = torch.tensor([0.0, 1.0, 2.5, 3.0, 7.0])
    return [
        Model("signals", Signals(), (randn(2, 60, seed=1), randint(9, 4, 6, seed=2))),
        Model("images", Images(), (randn(2, 3, 5, 7, seed=3),
                                   randint(256, 2, 3, 5, 6, seed=4).to(torch.uint8))),
        Model("slopes", Slopes(), (randn(4, 5, seed=5), places, torch.tensor(1.5))),
        Model("choices", Choices(), (randint(9, 3, 4, seed=6), torch.rand(9, 4, generator=seeded(7)))),
    ]
