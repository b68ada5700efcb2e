"""Tensors that share memory: inputs that are swapped, old state that is returned, tied buffers,
out=, and writes through views that have no simple inverse. Recurrent layers with many steps.
"""

import torch
from torch import nn

from model import Case, Model, randn


class Swap(nn.Module):
    """Swaps its inputs in place; returns both, and one of them twice."""

    def forward(self, x, y):
        old = x.clone()
        x.copy_(y)
        y.copy_(old)
        return x, y, x.view(-1)


class TiedBuffers(nn.Module):
    """Two names for one buffer, and a view of it. Also returns the state before the call."""

    def __init__(self):
        super().__init__()
        whole = torch.zeros(4, 3)
        self.register_buffer("whole", whole)
        self.register_buffer("again", whole)
        self.register_buffer("part", whole[1:3])

    def forward(self, x):
        before = self.again.clone()
        self.whole.add_(x)
        self.part.mul_(2)
        return before, self.again + 0, self.part.sum(0)


class OddViews(nn.Module):
    """Writes through unfold, as_strided, diagonal and out=, and changes of shape in place."""

    def forward(self, x):
        y = x.clone()
        y.unfold(0, 2, 2)[1].mul_(3)
        y.as_strided((2, 2), (6, 2), 1).add_(1)
        y.diagonal(1).fill_(7)
        z = torch.zeros(5, 4)
        torch.mul(x, 2, out=z[1:])
        w = x.t().as_strided((3,), (5,), 2).clone()
        y.transpose_(0, 1)
        y.unsqueeze_(0).neg_()
        return y, z, w


class ManySteps(nn.Module):
    """More time steps than are unrolled, in both directions, with a projection."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 5, bidirectional=True, proj_size=2)
        self.gru = nn.GRU(4, 3)

    def forward(self, x):
        y, (h, c) = self.lstm(x)
        z, g = self.gru(y)
        return z[-2:], h, c, g


def models(full):
    pairs = [(randn(2, 3, seed=k), randn(2, 3, seed=k + 9)) for k in (1, 2)]
    rows = [(randn(4, 3, seed=k),) for k in (3, 4, 5)]
    return [
        Model("swap", Swap(), pairs[0], cases=[Case("swap", pairs)]),
        Model("tied_buffers", TiedBuffers(), rows[0], cases=[Case("tied_buffers", rows)]),
        Model("odd_views", OddViews(), (randn(4, 4, seed=6),)),
        Model("many_steps", ManySteps(), (randn(70, 2, 3, seed=7),)),
    ]
