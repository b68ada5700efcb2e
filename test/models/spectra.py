"""Internal complex numbers: rotary embeddings as complex products, and Fourier transforms."""

import torch
from torch import nn

from model import Case, Model, randn


class Rotary(nn.Module):
    """Queries rotated by a buffer of complex numbers, as in the first Llama."""

    def __init__(self):
        super().__init__()
        angle = torch.outer(torch.arange(6.0), torch.tensor([1.0, 0.1, 0.01]))
        self.register_buffer("turns", torch.polar(torch.ones_like(angle), angle))

    def forward(self, q, k, at):
        turns = self.turns[at][:, None, :]
        pairs = lambda x: torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        turned = [torch.view_as_real(pairs(x) * turns).flatten(3) for x in (q, k)]
        late = torch.polar(torch.ones_like(q[..., 0]), q[..., 1])
        return (*turned, late.real, (late * 2 - 1).abs(), (1 / (late + 2)).angle())


class Spectra(nn.Module):
    """Fourier transforms of all kinds, of signals and images."""

    def forward(self, x, image):
        z = torch.fft.fft2(image, norm="ortho")
        low = torch.fft.rfftn(image, dim=(-2, -1))
        gate = torch.complex(image[..., :4].cos(), image[..., :4].sin())
        return (
            torch.fft.fft(torch.fft.fft(x, dim=-1), dim=-2).real,
            torch.view_as_real(torch.fft.rfft(x, n=5)),
            torch.fft.irfft(torch.fft.rfft(x), n=6, norm="forward"),
            torch.fft.ifft2(z * z.conj(), norm="ortho").imag,
            torch.fft.irfft2(low * gate, s=(5, 6)),
            z.transpose(-1, -2).sum(-1).abs() / z.mean((-2, -1)).abs()[..., None],
            torch.view_as_real(torch.cat([z[:, :1], z.flip(1)[:, 1:]], 1).permute(1, 0, 3, 2)),
        )


class Sound(nn.Module):
    """A mel-like front end over the short-time Fourier transform."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(12))
        self.register_buffer("bands", torch.rand(9, 5, generator=torch.Generator().manual_seed(3)))

    def forward(self, x):
        z = torch.stft(x, 16, 4, 12, self.window, normalized=True, return_complex=True)
        power = z.abs().square()
        again = torch.stft(x, 16, 8, center=False, onesided=False, return_complex=True)
        return torch.log(power.transpose(1, 2) @ self.bands + 1e-3), torch.view_as_real(again)


class LongSpectra(nn.Module):
    """Transforms of more samples than a product with a matrix pays for, of any length."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(100))

    def forward(self, x, image):
        spectrum = torch.fft.rfft(x, norm="ortho")
        filtered = torch.fft.rfft(image, n=150) * torch.fft.rfft(image.flip(-1), n=150)
        z = torch.fft.fft2(image)
        return (
            torch.stft(x, 100, 40, window=self.window, return_complex=True).abs(),
            torch.fft.irfft(spectrum * 2, n=x.shape[-1], norm="ortho"),
            torch.fft.irfft(filtered, n=150)[:, :99],
            torch.view_as_real(z),
            torch.fft.ifft2(z * z).real,
        )


def models(full):
    at = torch.tensor([0, 3, 5, 1])
    return [
        Model("rotary", Rotary(), (randn(2, 4, 3, 6, seed=1), randn(2, 4, 3, 6, seed=2), at)),
        Model("spectra", Spectra(), (randn(4, 6, seed=3), randn(2, 3, 5, 6, seed=4))),
        Model("sound", Sound(), (randn(2, 60, seed=5),)),
        Model(
            "long_spectra",
            LongSpectra(),
            (randn(2, 160, seed=6), randn(66, 70, seed=7)),
            dynamic_shapes=({1: torch.export.Dim.AUTO}, None),
            cases=[
                Case("long_spectra", [(randn(2, 160, seed=6), randn(66, 70, seed=7))]),
                Case("long_spectra_odd", [(randn(2, 117, seed=8), randn(66, 70, seed=9))]),
            ],
        ),
    ]
