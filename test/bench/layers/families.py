"""What the families of layers share: their names, and how sizes are drawn."""

import torch
from torch import nn

FAMILIES = {}


def family(name):
    def register(function):
        FAMILIES[name] = function
        return function

    return register


class Call(nn.Module):
    """A function of the inputs; constants that it closes over become the program's."""

    def __init__(self, function, **parts):
        super().__init__()
        self._function = function
        for name, part in parts.items():
            setattr(self, name, part)

    def forward(self, *args):
        outputs = self._function(*args)
        return tuple(outputs) if isinstance(outputs, tuple) else outputs  # No named ones.


def sizes_text(tensor):
    return "x".join(map(str, tensor.shape))


def power(draw, low, high):
    """A number whose logarithm is evenly spread."""
    return 10 ** draw.uniform(low, high)


def channels(draw, most=512):
    """Mostly what nets have, sometimes not divisible by 8 or 4."""
    count = draw.choice([3, 8, 12, 16, 24, 32, 40, 48, 64, 80, 96, 112, 128, 160, 192, 256, 320, 384,
                         512])  # fmt: skip
    count = min(count, most)
    return max(1, count + draw.choice([0, 0, 0, 0, -1, 1, 3]))


def shape_of(draw, rank, elements):
    """Sizes of so many dimensions with about so many elements."""
    weights = [draw.random() + 0.2 for _ in range(rank)]
    total = sum(weights)
    return [max(1, round(elements ** (w / total))) for w in weights]


def tensor_of(draw, low=3.0, high=6.0, ranks=(1, 2, 3, 4, 5)):
    return torch.randn(shape_of(draw, draw.choice(ranks), power(draw, low, high)))


def some_dims(draw, rank):
    return sorted(draw.sample(range(rank), draw.randint(1, rank)))
