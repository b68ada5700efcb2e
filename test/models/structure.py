"""Inputs and outputs in dictionaries, tuples and lists, including constants and None."""

import torch
from torch import nn

from model import Model, randn


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def forward(self, batch, scale, negate, rest=None, *, bias, extra=None):
        a, (b, c) = batch["a"], batch["pair"]
        y = self.fc(a) * scale + b
        if negate:
            y = -y
        if rest is not None:
            y = y + rest[0] * rest[1]
        return {
            "result": y + bias,
            "parts": [c * 2, (a, None)],
            "count": 7,
            "ratio": scale,
            "nothing": extra,
            "flag": True,
        }


class Words(Nested):
    """The same with a string as input and output: PyTorch can save it, but not load it."""

    def forward(self, batch, scale, mode, rest=None, *, bias, extra=None):
        outputs = super().forward(batch, scale, mode == "negate", rest, bias=bias, extra=extra)
        return outputs | {"mode": mode}


class PassThrough(nn.Module):
    """Outputs that are an input, a weight, a buffer, and the same value twice."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(3))
        self.register_buffer("offset", torch.arange(3.0))

    def forward(self, x, unused):
        y = x * self.weight + self.offset
        return y, x, self.weight, self.offset, y


def models(full):
    batch = {"a": randn(2, 4, seed=1), "pair": (randn(2, 4, seed=2), randn(3, seed=3))}
    rest = [randn(4, seed=4), 3]
    args, words = (batch, 0.5, True, rest), (batch, 0.5, "negate", rest)
    kwargs = {"bias": randn(1, 4, seed=5), "extra": None}
    return [
        Model("nested", Nested(), args, kwargs=kwargs),
        Model("nested_words", Words(), words, kwargs=kwargs, loads=False),
        Model("pass_through", PassThrough(), (randn(2, 3, seed=6), randn(2, 2, seed=7))),
    ]
