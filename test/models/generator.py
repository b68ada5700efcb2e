"""A network that makes an image, with the layers that such networks and those of points have.

Reflection pads, depthwise windows that are dilated or one column wide, a depthwise transposed
convolution as a bilinear upsampling, convolutions to three and to one channel, and the largest
elements of what convolutions make.
"""

import torch
from torch import nn
from torch.nn import functional as F

from model import Model, randn, settle


class LargeKernels(nn.Module):
    """Attention by depthwise windows: dilated, and as a row after a column."""

    def __init__(self, width):
        super().__init__()
        self.near = nn.Conv2d(width, width, 5, padding=2, groups=width)
        self.far = nn.Conv2d(width, width, 7, padding=9, dilation=3, groups=width)
        self.row = nn.Conv2d(width, width, (1, 11), padding=(0, 5), groups=width)
        self.column = nn.Conv2d(width, width, (11, 1), padding=(5, 0), groups=width)
        self.mix = nn.Conv2d(width, width, 1)

    def forward(self, x):
        y = self.near(x)
        return x * self.mix(self.far(y) + self.column(self.row(y)))


class Generator(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 5, stride=2)
        self.large = LargeKernels(width)
        self.up = nn.ConvTranspose2d(width, width, 4, 2, 1, groups=width, bias=False)
        self.image = nn.Conv2d(width, 3, 7)
        self.mask = nn.ConvTranspose2d(width, 1, 4, 2, 1)
        self.score = nn.Linear(width, 1)

    def forward(self, x):
        x = F.relu(self.stem(F.pad(x, (2, 2, 2, 2), mode="replicate")))
        x = self.large(x)
        mask = torch.sigmoid(self.mask(x))
        score = self.score(F.relu(self.large.mix(x)).amax((2, 3)))
        x = F.instance_norm(self.up(x))
        return torch.tanh(self.image(F.pad(x, (3, 3, 3, 3), mode="reflect"))) * mask, score


class Points(nn.Module):
    """Features of points: the largest of each one's neighbours, then the largest of all."""

    def __init__(self, width, classes):
        super().__init__()
        self.edges = nn.Conv2d(3, width, 1)
        self.points = nn.Conv1d(width, 2 * width, 1)
        self.classes = nn.Linear(2 * width, classes)

    def forward(self, x):
        x = F.leaky_relu(self.edges(x), 0.2).max(3)[0]
        x = F.relu(self.points(x)).max(2)[0]
        return F.log_softmax(self.classes(x), dim=1)


def models(full):
    net, points = settle(Generator(16)), settle(Points(16, 5))
    return [
        Model("generator", net, (randn(1, 3, 48, 40, seed=1),)),
        Model("points", points, (randn(2, 3, 20, 6, seed=2),)),
    ]
