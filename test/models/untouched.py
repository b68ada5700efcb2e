"""A model whose archive is byte for byte as torch.export.save wrote it, including all metadata.

It only calls functions, since torch.nn modules with their own forward() would leave PyTorch's file
names in the archive.
"""

import torch
from torch.nn import functional as F

from model import Model, randn


class Untouched(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(3, 2, 3, 3) * 0.3)
        self.bias = torch.nn.Parameter(torch.randn(3) * 0.3)
        self.register_buffer("calls", torch.tensor(0))

    def forward(self, x):
        self.calls += 1
        y = F.relu(F.conv2d(x, self.weight, self.bias, padding=1))
        return F.max_pool2d(y, 2) * torch.tensor(0.5), self.calls * 1


def models(full):
    return [Model("untouched", Untouched(), (randn(1, 2, 6, 6, seed=1),), untouched=True)]
