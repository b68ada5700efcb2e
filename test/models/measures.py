"""Losses, order statistics, diagonals and products: composites with their own decompositions."""

import torch
from torch import nn
from torch.nn import functional as F

from model import Model, randint, randn


class Statistics(nn.Module):
    """Order statistics, diagonals, products and distances."""

    def forward(self, x, line, index):
        ties = index.float()
        return (
            x.median(dim=1).values,
            ties.mode(dim=1).values,
            x.kthvalue(2, dim=0, keepdim=True).values,
            torch.quantile(x, 0.3, dim=1),
            torch.quantile(x, torch.tensor([0.0, 0.5, 1.0]), dim=0),
            torch.where(x > 1, torch.nan, x).nanmedian(),
            torch.searchsorted(line.sort().values, x),
            torch.diag_embed(x, offset=-1, dim1=0, dim2=2),
            torch.block_diag(x, line, line[0]),
            torch.rot90(x, 3),
            torch.cartesian_prod(line, line),
            torch.cdist(x[None], x[None, :2], p=1.0),
            torch.isclose(x, x + 1e-6),
            torch.linalg.matrix_norm(x, 1),
            torch.trapezoid(x, line[:4], dim=1),
            torch.take(x, index),
        )


class Losses(nn.Module):
    """Losses, and float16 composites that must round only once."""

    def forward(self, x, y, labels):
        half = x.half()
        return (
            F.cross_entropy(x, labels, label_smoothing=0.1, ignore_index=1),
            F.nll_loss(x.log_softmax(1), labels, reduction="none"),
            F.smooth_l1_loss(x, y, beta=0.5),
            F.huber_loss(x, y, delta=0.3, reduction="sum"),
            F.binary_cross_entropy_with_logits(x, y.sigmoid()),
            F.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean"),
            F.triplet_margin_loss(x, y, y.flip(0), swap=True),
            F.cosine_embedding_loss(x, y, torch.tensor([1, -1, 1])),
            F.multi_margin_loss(x, labels),
            torch.addcmul(half, half, half, value=0.3).float(),
            F.mish(half).float(),
            torch.logaddexp2(x, y),
            torch.addbmm(x, x[None, :, :3], y[None, :3], beta=0.5, alpha=2),
        )


def models(full):
    x = randn(3, 4, seed=1)
    labels = torch.tensor([2, 1, 3])
    return [
        Model("statistics", Statistics(), (x, randn(5, seed=2), randint(4, 3, 4, seed=3))),
        Model("losses", Losses(), (x, randn(3, 4, seed=4), labels)),
    ]
