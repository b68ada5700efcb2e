"""torch.vmap and associative_scan, which training IR keeps as calls with a per-sample function."""

import torch
from torch import nn
from torch._higher_order_ops import associative_scan
from torch.nn import functional as F

from model import Model, randn, settle


class Samples(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 5)
        self.conv = nn.Conv1d(1, 2, 2)

    def forward(self, x, y):
        layer = torch.vmap(lambda a: self.conv(F.relu(self.layer(a)).unsqueeze(0)))(x)
        pairs = torch.vmap(lambda a: torch.vmap(lambda b: (a * b).sum())(y))(x)
        places = torch.arange(4)
        near = torch.vmap(
            torch.vmap(lambda i, j: (i >= j) & (i - j < 2), in_dims=(None, 0)), in_dims=(0, None)
        )(places, places)
        turned = torch.vmap(lambda a, b: a.cumsum(0) * b, in_dims=(1, None))(x, x[:, 0])
        return layer, pairs, near, turned


class Recurrence(nn.Module):
    """A linear recurrence computed in parallel, as in state-space models."""

    def forward(self, decay, x):
        def step(a, b):
            return a[0] * b[0], a[1] * b[0] + b[1]

        factors, states = associative_scan(step, (decay, x), 1, combine_mode="generic")
        return factors, states


def models(full):
    return [
        Model("samples", settle(Samples()), (randn(4, 3, seed=71), randn(5, 3, seed=72))),
        Model(
            "recurrence", Recurrence(), (randn(2, 7, 3, seed=73).sigmoid(), randn(2, 7, 3, seed=74))
        ),
    ]
