"""Programs that take, keep, make and return complex numbers."""

import torch
from torch import nn

from model import Case, Model, randn


def complex_randn(*shape, seed):
    return torch.view_as_complex(randn(*shape, 2, seed=seed)).clone()


class Echo(nn.Module):
    """A spectrum with what was heard before; parts of it are written over."""

    def __init__(self):
        super().__init__()
        self.register_buffer("heard", torch.zeros(5, 4, dtype=torch.complex64))
        self.register_buffer("gain", complex_randn(5, 1, seed=1))

    def forward(self, spectrum):
        mixed = spectrum * self.gain + 0.5j * self.heard
        self.heard.copy_(mixed)
        mixed[1:3] = 1j
        mixed[:, 0] = torch.full((5,), 2 - 1j)
        return mixed, mixed.abs(), mixed.mH.tril(), mixed == 1j


class Inverse(nn.Module):
    """The sound of a spectrum."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(12))

    def forward(self, spectrum):
        return torch.istft(spectrum, 16, 4, 12, self.window)


class System(nn.Module):
    """Solves complex equations; the numbers on the diagonal are made inside."""

    def forward(self, a, b):
        a = a + 4 * torch.eye(3, dtype=a.dtype)
        a = a + torch.zeros_like(a).masked_fill(torch.ones(3, 3, dtype=torch.bool).triu(1), 1j)
        return torch.linalg.solve(a, b), torch.linalg.inv(a), torch.linalg.vector_norm(a)


def models(full):
    z = complex_randn(5, 4, seed=2)
    window = torch.hann_window(12)
    sound = lambda n, seed: (
        torch.stft(randn(n, seed=seed), 16, 4, 12, window, return_complex=True),
    )
    return [
        Model("echo", Echo(), (z,), cases=[Case("echo", [(z,), (complex_randn(5, 4, seed=3),)])]),
        Model("inverse", Inverse(), sound(60, 4)),
        Model(
            "system",
            System(),
            (complex_randn(3, 3, seed=6).cdouble(), complex_randn(3, 2, seed=7).cdouble()),
        ),
    ]
