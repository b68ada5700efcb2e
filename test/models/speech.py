"""A 1-d convolutional speech network like Wav2Letter, and one with groups, dilation and causal
padding.
"""

import torch
from torch import nn
from torch.nn import functional as F

from model import Model, randn, settle


class Wav2Letter(nn.Module):
    def __init__(self, features, width, letters):
        super().__init__()
        layers = [nn.Conv1d(features, width, 48, stride=2, padding=23), nn.ReLU(inplace=True)]
        for _ in range(3):
            layers += [nn.Conv1d(width, width, 7, padding=3), nn.ReLU(inplace=True)]
        layers += [
            nn.Conv1d(width, 2 * width, 32, padding=16),
            nn.Hardtanh(0, 20),
            nn.Conv1d(2 * width, letters, 1),
        ]
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return F.log_softmax(self.layers(x), dim=1)


class Causal(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = nn.Conv1d(1, width, 4, stride=2)
        self.dilated = nn.Conv1d(width, width, 3, dilation=2, groups=width)
        self.norm = nn.BatchNorm1d(width)
        self.glu = nn.Conv1d(width, 2 * width, 1)
        self.back = nn.ConvTranspose1d(width, 1, 4, stride=2)

    def forward(self, x):
        y = F.elu(self.first(x))
        y = self.norm(self.dilated(F.pad(y, (4, 0)))) + y
        y = F.glu(self.glu(y), dim=1)
        y = F.avg_pool1d(y, 3, 1, 1) + F.max_pool1d(y, 3, 1, 1)
        return torch.tanh(self.back(y))


def models(full):
    return [
        Model("wav2letter", settle(Wav2Letter(8, 12, 29)), (randn(1, 8, 64, seed=1),)),
        Model("causal_conv1d", settle(Causal(6)), (randn(2, 1, 30, seed=2),)),
    ]
