"""Composite operators used by architectures of public libraries, several per model."""

import torch
from torch import nn
from torch.nn import functional as F

from model import Model, randint, randn


class Volumes(nn.Module):
    """Pooling over volumes."""

    def forward(self, x):
        flat = x[0]
        return (
            F.max_pool3d(x, 2),
            F.max_pool3d(flat, (3, 2, 3), (2, 1, 2), (1, 0, 1), ceil_mode=True),
            F.max_pool3d(x, 2, dilation=(1, 2, 1)),
            F.avg_pool3d(x, (2, 3, 2), padding=(1, 1, 0)),
            F.avg_pool3d(flat, 3, 2, 1, ceil_mode=True, count_include_pad=False),
            F.avg_pool3d(x, 2, divisor_override=5),
            F.adaptive_avg_pool3d(x, (2, 3, 4)),
            F.adaptive_avg_pool3d(flat, 1),
            F.adaptive_max_pool3d(x, (2, 3, 2)),
            F.adaptive_max_pool1d(x[0, 0], 3),
        )


class Resample(nn.Module):
    """Interpolation, grids, and windows as columns."""

    def forward(self, image, volume, theta, theta3):
        grid = F.affine_grid(theta, (2, 1, 4, 3), align_corners=False)
        return (
            F.interpolate(image, (7, 4), mode="bicubic"),
            F.interpolate(image, scale_factor=(1.5, 2), mode="bicubic", align_corners=True),
            F.interpolate(image, scale_factor=0.6, mode="bicubic"),
            F.interpolate(volume, scale_factor=2, mode="nearest"),
            F.interpolate(volume, (3, 7, 2), mode="trilinear", align_corners=True),
            F.interpolate(volume, scale_factor=(1.5, 2, 1), mode="trilinear"),
            F.grid_sample(image, grid, mode="bilinear", padding_mode="border"),
            F.affine_grid(theta, (2, 1, 3, 4), align_corners=True),
            F.affine_grid(theta3, (2, 1, 2, 3, 2), align_corners=False),
            F.unfold(image, (3, 2), dilation=(1, 2), padding=(2, 1), stride=(2, 1)),
            F.fold(F.unfold(image, 3, padding=1), (5, 6), 3, padding=1),
        )


class Tables(nn.Module):
    """Embedding bags, cumulative products and differences."""

    def __init__(self):
        super().__init__()
        bag = lambda mode, **more: nn.EmbeddingBag(10, 4, mode=mode, **more)
        self.bags = nn.ModuleList([bag("sum"), bag("mean", padding_idx=2), bag("max")])
        self.closed = bag("sum", include_last_offset=True)

    def forward(self, ids, offsets, weights, x, flags):
        low, wide = torch.broadcast_tensors(x[:1], x[:, None])
        return (
            *[bag(ids, offsets) for bag in self.bags],
            self.bags[0](ids.view(3, 2)),
            self.bags[0](ids, offsets, weights),
            self.closed(ids, offsets),
            x.cumprod(1),
            torch.cumprod(ids, 0),
            x.diff(),
            x.diff(n=2, dim=0, prepend=x[1:2]),
            flags.diff(),
            torch.erfinv(x / 4),
            low - wide,
            F.mse_loss(x, x.flip(0)),
            F.l1_loss(x, x.flip(0), reduction="sum"),
        )


class Groups(nn.Module):
    """Grouped matrix products, histograms, scatter reductions, normalised weights."""

    def __init__(self):
        super().__init__()
        # Small integers: their products are exact in bfloat16, which grouped_mm requires.
        self.register_buffer("experts", randint(5, 3, 8, 8, seed=11).bfloat16() - 2)
        conv = nn.Conv1d(4, 2, 3)
        self.conv = nn.utils.parametrizations.weight_norm(conv, dim=2)

    def forward(self, x, many, ends, index):
        spread = index[:, None].expand_as(x)
        zero = torch.zeros(3, 4)
        return (
            F.grouped_mm(many, self.experts, offs=ends).float(),
            F.grouped_mm(many[:2], self.experts, offs=ends.clamp(max=2)).float(),
            torch.histc(index.float(), bins=3, min=0, max=2),
            torch.histc(x, bins=5, min=-1, max=1.5),
            zero.scatter_reduce(0, spread, x, "mean", include_self=False),
            zero.scatter_reduce(0, spread, x, "mean"),
            zero.scatter_reduce(0, spread, x, "amax", include_self=False),
            zero.scatter_reduce(0, spread, x, "prod"),
            self.conv(x.T[None]),
            F.batch_norm(x[None], None, None, training=True),
            torch.linalg.norm(x, dim=-1, keepdim=True),
            torch.linalg.norm(x),
        )


def models(full):
    ids = torch.tensor([1, 2, 9, 2, 0, 4])
    tables = (ids, torch.tensor([0, 3, 3]), randn(6, seed=2), randn(3, 5, seed=3))
    image, volume = randn(2, 3, 5, 6, seed=4), randn(2, 1, 3, 4, 3, seed=5)
    many = randint(5, 7, 8, seed=10).bfloat16() - 2
    ends = torch.tensor([1, 4, 7], dtype=torch.int32)
    groups = (randn(7, 4, seed=9), many, ends, torch.tensor([0, 2, 2, 0, 2, 0, 0]))
    return [
        Model("volumes", Volumes(), (randn(2, 3, 6, 7, 8, seed=1),)),
        Model(
            "resample", Resample(), (image, volume, randn(2, 2, 3, seed=6), randn(2, 3, 4, seed=7))
        ),
        Model("groups", Groups(), groups),
        Model("tables", Tables(), (*tables, randint(2, 3, 6, seed=8) == 1)),
    ]
