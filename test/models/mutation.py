"""Programs that mutate: in place through views, persistent buffers, and an input."""

import torch
from torch import nn

from model import Case, Model, randn


class InPlaceViews(nn.Module):
    """Writes through slices, selects, transposes and reshapes of a new tensor; no change outlives
    the call.
    """

    def forward(self, x):
        y = x.clone()
        y[:, 1] = 5.0
        y[0].add_(x[1])
        y.transpose(0, 1)[2].mul_(2)
        flat = y.view(-1)
        flat[3:6] = flat[0:3] * 10
        z = torch.zeros(3, 4)
        z[1:, ::2] = y[1:, :2]
        z.masked_fill_(z > 4, -1.0)
        low, high = z.split([1, 3], dim=1)
        high.relu_()
        low += 1
        return y, z


class Counter(nn.Module):
    """Counts its calls and keeps a running mean; one buffer is not persistent."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.tensor(10))
        self.register_buffer("mean", torch.full((3,), 0.25))
        self.register_buffer("last", torch.zeros(2, 3), persistent=False)

    def forward(self, x):
        self.calls += 1
        self.mean.mul_(0.9).add_(x.mean(0), alpha=0.1)
        change = x - self.last
        self.last.copy_(x)
        return change, self.mean * 2, self.calls.clone()


class InputMutation(nn.Module):
    """Adds to its input in place, then reads it."""

    def forward(self, x, y):
        x.add_(y)
        x[0] = 0
        return x * 2


class RingBuffer(nn.Module):
    """A buffer that is shifted by one row in each call, with a row written by index."""

    def __init__(self):
        super().__init__()
        self.register_buffer("rows", torch.arange(12.0).view(4, 3))

    def forward(self, x, index):
        self.rows.copy_(torch.roll(self.rows, 1, 0))
        self.rows.index_copy_(0, index, x)
        return self.rows.sum(1), self.rows[index]


class Leaky(nn.Module):
    """A hidden state that starts at other numbers than 0 and is read only through views."""

    def __init__(self):
        super().__init__()
        self.register_buffer("hidden", torch.tensor([1.0, -2.0, 3.0]))

    def forward(self, x):
        mean = (x + self.hidden.unsqueeze(0)).mean(0)
        self.hidden.copy_(torch.tanh(mean))
        return mean


class StoredTwice(nn.Module):
    """Stores one result in two buffers; each call reads both."""

    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.tensor([1.0, 2.0, 3.0]))
        self.register_buffer("peak", torch.zeros(3))

    def forward(self, x):
        out = x - self.last + 2 * self.peak
        self.last.copy_(out)
        self.peak.copy_(out)
        return out * 3


def models(full):
    counts = Case("counter", [(randn(2, 3, seed=s),) for s in (1, 2, 3)])
    leaks = Case("leaky", [(randn(2, 3, seed=s),) for s in (10, 11)])
    twice = Case("stored_twice", [(randn(3, seed=s),) for s in (12, 13, 14)])
    rows = Case("ring_buffer", [(randn(1, 3, seed=4 + i), torch.tensor([i])) for i in range(3)])
    return [
        Model("in_place_views", InPlaceViews(), (randn(3, 4, seed=1),)),
        Model("counter", Counter(), counts.steps[0], cases=[counts]),
        Model("leaky", Leaky(), leaks.steps[0], cases=[leaks]),
        Model("stored_twice", StoredTwice(), twice.steps[0], cases=[twice]),
        Model("ring_buffer", RingBuffer(), rows.steps[0], cases=[rows]),
        Model("input_mutation", InputMutation(), (randn(2, 3, seed=8), randn(2, 3, seed=9))),
    ]
