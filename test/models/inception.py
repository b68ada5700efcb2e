"""An Inception-like network: parallel branches joined by cat, asymmetric kernels, every kind of
pooling.

Max pools with ceil_mode, average pools with and without count_include_pad and with a
divisor_override.
"""

import torch
from torch import nn
from torch.nn import functional as F

from model import Model, randn, settle


class Conv(nn.Module):
    def __init__(self, inputs, outputs, kernel, stride=1, padding=0):
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, stride, padding, bias=False)
        self.bn = nn.BatchNorm2d(outputs, eps=0.001)

    def forward(self, x):
        return F.relu(self.bn(self.conv(x)), inplace=True)


class Mixed(nn.Module):
    """Four branches; `pool` is the pooling layer of the last."""

    def __init__(self, inputs, width, pool):
        super().__init__()
        self.one = Conv(inputs, width, 1)
        self.three = nn.Sequential(
            Conv(inputs, width, 1),
            Conv(width, width, (1, 3), padding=(0, 1)),
            Conv(width, 2 * width, (3, 1), padding=(1, 0)),
        )
        self.five = nn.Sequential(Conv(inputs, width, 1), Conv(width, width, 5, padding=2))
        self.pool = pool
        self.project = Conv(inputs, width, 1)

    def forward(self, x):
        return torch.cat([self.one(x), self.three(x), self.five(x), self.project(self.pool(x))], 1)


class Reduce(nn.Module):
    """Halves the image size: a strided convolution beside pooling in ceil_mode."""

    def __init__(self, inputs, width):
        super().__init__()
        self.conv = Conv(inputs, width, 3, stride=2, padding=1)

    def forward(self, x):
        return torch.cat([self.conv(x), F.max_pool2d(x, 2, 2, ceil_mode=True)], 1)


class Inception(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        w = width
        self.stem = nn.Sequential(
            Conv(3, w, 3, 2), Conv(w, w, 3), nn.MaxPool2d(3, 2, dilation=2, ceil_mode=True)
        )
        self.mixed1 = Mixed(w, w, nn.AvgPool2d(3, 1, 1))
        self.reduce1 = Reduce(5 * w, 3 * w)
        self.mixed2 = Mixed(8 * w, 2 * w, nn.AvgPool2d(3, 1, 1, count_include_pad=False))
        self.reduce2 = nn.AvgPool2d(3, 2, 1, ceil_mode=True)
        self.mixed3 = Mixed(10 * w, 2 * w, nn.MaxPool2d(5, 1, 2))
        self.head = nn.AvgPool2d(2, 2, 0, ceil_mode=True, divisor_override=3)
        self.fc = nn.Linear(10 * w * 4, classes)

    def forward(self, x):
        x = self.mixed1(self.stem(x))
        x = self.mixed2(self.reduce1(x))
        x = self.mixed3(self.reduce2(x))
        x = self.head(x)
        x = torch.cat(
            [F.adaptive_avg_pool2d(x, (1, 2)).flatten(1), x.amax((2, 3)), x.mean((2, 3))], 1
        )
        return F.softmax(self.fc(x), dim=1)


def models(full):
    width, size, classes = (64, 224, 1000) if full else (4, 63, 10)
    net = settle(Inception(width, classes))
    return [Model("inception", net, (randn(1, 3, size, size, seed=1),))]
