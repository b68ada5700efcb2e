"""Operators whose parts, positions or weights depend on sizes that only the inputs tell."""

import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional as F

from model import Case, Model, randn


class Orders(nn.Module):
    """Order statistics, integrals, blocks, shifts, and losses over a length."""

    def forward(self, x, y):
        median = torch.median(x, 1)
        lower = torch.nanmedian(x, 0, True)
        line = x.flatten()
        target = torch.tensor([[1, 2, -1], [0, -1, 1]])
        return (
            median.values, median.indices, torch.nanmedian(x), *lower,
            torch.quantile(x, torch.tensor([0.2, 0.5]), 0), torch.nanquantile(x, 0.7, 1, True),
            torch.trapezoid(x, dim=0), torch.trapezoid(x, y, dim=1),
            torch.cumulative_trapezoid(x, dx=0.5), torch.block_diag(x, y[:1], x[0]),
            torch.fft.fftshift(x), torch.fft.ifftshift(x, dim=1),
            torch.nonzero_static(x > 0, size=6), F.pad(x, (-1, 3), mode="replicate"),
            F.pad(y, (2, -1), mode="reflect"), line.sum(),
            F.multilabel_margin_loss(x[:2], F.pad(target, (0, x.shape[1] - 3), value=-1)),
        )  # fmt: skip


class Pictures(nn.Module):
    """Images of any size: resized by factors, pooled to sizes, cut into windows."""

    def forward(self, x):
        values, places = F.adaptive_max_pool2d(x, (3, 2), return_indices=True)
        return (
            values, places, F.adaptive_max_pool2d(x, 1), F.adaptive_max_pool1d(x[:, :, 0], 4),
            F.interpolate(x, scale_factor=0.5, mode="bicubic"),
            F.interpolate(x, scale_factor=(1.5, 0.7), mode="nearest-exact"),
            F.interpolate(x, size=(5, 9), mode="bicubic", align_corners=True),
            F.interpolate(x, scale_factor=0.5, mode="bicubic", antialias=True),
            F.interpolate(x, size=(15, 3), mode="bicubic", antialias=True, align_corners=True),
            F.interpolate(x, scale_factor=1.7, mode="area"),
            F.interpolate(x[:, :, None], scale_factor=1.7, mode="trilinear"),
            F.unfold(x, (2, 3), dilation=(1, 2), padding=1, stride=2),
        )  # fmt: skip


def models(full):
    def lines(rows, columns, seed):
        return randn(rows, columns, seed=seed), randn(rows, columns, seed=seed + 1)

    rows, columns = Dim("rows", min=2, max=8), Dim("columns", min=3, max=9)
    height, width = Dim("height", min=4, max=12), Dim("width", min=5, max=12)
    return [
        Model(
            "dynamic_orders",
            Orders(),
            lines(4, 5, 1),
            dynamic_shapes=({0: rows, 1: columns}, {0: rows, 1: columns}),
            cases=[
                Case(f"dynamic_orders_{r}x{c}", [lines(r, c, r)]) for r, c in ((4, 5), (7, 4))
            ],
        ),
        Model(
            "dynamic_pictures",
            Pictures(),
            (randn(2, 3, 8, 7, seed=1),),
            dynamic_shapes=({2: height, 3: width},),
            cases=[
                Case(f"dynamic_pictures_{h}x{w}", [(randn(2, 3, h, w, seed=h),)])
                for h, w in ((8, 7), (11, 5))
            ],
        ),
    ]
