"""Matrix factorisations and their uses, fused encoder layers, grid sampling of volumes."""

import torch
from torch import nn
from torch.nn import functional as F

from model import Model, randn, settle


class Factors(nn.Module):
    """Results that do not depend on the signs of the columns."""

    def forward(self, tall, square):
        u, s, vh = torch.linalg.svd(tall, full_matrices=False)
        symmetric = square + square.mT
        values, vectors = torch.linalg.eigh(symmetric)
        q, r = torch.linalg.qr(tall)
        return (
            s,
            u @ torch.diag_embed(s) @ vh,
            values,
            (vectors * values.exp().unsqueeze(-2)) @ vectors.mT,
            q,
            r,
            torch.linalg.pinv(tall),
            torch.linalg.matrix_rank(tall),
            torch.linalg.cond(tall),
            torch.linalg.matrix_norm(tall, "nuc"),
            torch.linalg.matrix_exp(square * 3),
            torch.linalg.matrix_power(symmetric + 9 * torch.eye(4), -2),
            torch.logcumsumexp(tall, 1),
            square.clone().fill_diagonal_(2.0),
        )


class Encoders(nn.Module):
    """Layers that call PyTorch's fused layers if exported in strict mode."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(
            8, 2, 16, batch_first=True, norm_first=True, activation="gelu"
        )
        self.first = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.last = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.attention = nn.MultiheadAttention(8, 2, batch_first=True)
        self.words = nn.Embedding(6, 8, max_norm=1.0)

    def forward(self, x, ids):
        padding = ids == 0
        x = x + self.words(ids)
        x = self.last(self.first(x, src_key_padding_mask=padding))
        return (*self.attention(x, x, x), self.attention(x, x, x, need_weights=False)[0])


class Volume(nn.Module):
    def forward(self, x, grid):
        smooth = F.grid_sample(x, grid, padding_mode="border", align_corners=False)
        near = F.grid_sample(x, grid, "nearest", "reflection", align_corners=True)
        return smooth, near, F.grid_sample(x, grid, align_corners=True)


class Operator(nn.Module):
    """A layer of a Fourier neural operator: an einsum with complex weights."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(0.3 * torch.randn(2, 3, 5, 2))

    def forward(self, x):
        spectrum = torch.fft.rfft(x)
        mixed = torch.einsum("bik,iok->bok", spectrum, torch.view_as_complex(self.weight))
        return torch.fft.irfft(mixed, n=8), spectrum.angle()


def models(full):
    ids = torch.tensor([[1, 2, 5, 0], [3, 3, 4, 1]])
    return [
        Model("factors", Factors(), (randn(5, 3, seed=51), randn(4, 4, seed=52))),
        Model("encoders", settle(Encoders()), (randn(2, 4, 8, seed=53), ids), strict=True),
        Model("volume", Volume(), (randn(1, 2, 3, 4, 5, seed=54), randn(1, 2, 2, 2, 3, seed=55))),
        Model("operator", Operator(), (randn(1, 2, 8, seed=56),)),
    ]
