"""One model in every archive form: that of 2.9 and later, of 2.8 (pickled), of 2.6 and 2.7 (zip).

It has everything that the forms store differently: tied weights, a weight with a permuted layout,
a view of a larger storage, an expanded buffer, an empty one, a non-persistent buffer, a lifted
constant, a mutated buffer, a dynamic size.
"""

import zipfile

import torch
from torch import nn
from torch.export import Dim

import archive
from model import Case, Model, randn, settle


class Forms(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.bn = nn.BatchNorm2d(4)
        self.fc = nn.Linear(4, 4, bias=False)
        settle(self, seed=3)
        self.conv.to(memory_format=torch.channels_last)
        self.tied = self.fc.weight
        self.register_buffer("calls", torch.tensor(0))
        self.register_buffer("shift", torch.randn(4), persistent=False)
        self.register_buffer("window", torch.arange(10.0)[3:7])
        self.register_buffer("spread", torch.tensor([0.5]).expand(4))
        self.register_buffer("empty", torch.zeros(0, 4))

    def forward(self, x):
        self.calls.add_(1)
        y = torch.relu(self.bn(self.conv(x)))
        y = nn.functional.max_pool2d(y, 2).mean((2, 3))
        slope = torch.tensor([1.0, 2.0, float("inf"), 4.0]).clamp(max=3.0)
        y = self.fc(y) @ self.tied + self.shift * slope
        y = torch.cat([y * self.window, self.empty + 1.0]) - self.spread
        return y, x.shape[0] * 2, self.calls + 0


def repack(path):
    stem = path[: -len(".pt2")]
    forms = [stem + "_2_8.pt2", stem + "_2_6.pt2", stem + "_2_6_deflated.pt2"]
    archive.to_pickled(path, forms[0])
    archive.to_old_zip(path, forms[1])
    archive.to_old_zip(path, forms[2], zipfile.ZIP_DEFLATED)
    return forms


def models(full):
    steps = [(randn(n, 3, 6, 6, seed=n),) for n in (2, 5, 2)]
    shapes, cases = ({0: Dim("batch", min=1, max=6)},), [Case("forms", steps)]
    return [
        Model("forms", Forms(), steps[0], dynamic_shapes=shapes, cases=cases, repack=repack),
    ]
