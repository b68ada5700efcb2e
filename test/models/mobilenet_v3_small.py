"""MobileNetV3-small: hard-swish, and squeeze-and-excitation with a hard sigmoid."""

import torch
from torch import nn

from model import Model, randn, settle

# (kernel, expanded, channels, squeeze, hard-swish, stride)
BLOCKS = [
    (3, 16, 16, True, False, 2), (3, 72, 24, False, False, 2), (3, 88, 24, False, False, 1),
    (5, 96, 40, True, True, 2), (5, 240, 40, True, True, 1), (5, 240, 40, True, True, 1),
    (5, 120, 48, True, True, 1), (5, 144, 48, True, True, 1),
    (5, 288, 96, True, True, 2), (5, 576, 96, True, True, 1), (5, 576, 96, True, True, 1),
]  # fmt: skip


def conv_bn(inputs, outputs, kernel=1, stride=1, groups=1, activation=None):
    conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
    parts = [conv, nn.BatchNorm2d(outputs, eps=0.001, momentum=0.01)]
    return nn.Sequential(*parts, *([activation(inplace=True)] if activation else []))


class SqueezeExcitation(nn.Module):
    def __init__(self, channels, squeezed):
        super().__init__()
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(channels, squeezed, 1)
        self.relu = nn.ReLU()
        self.fc2 = nn.Conv2d(squeezed, channels, 1)
        self.gate = nn.Hardsigmoid()

    def forward(self, x):
        return self.gate(self.fc2(self.relu(self.fc1(self.pool(x))))) * x


class InvertedResidual(nn.Module):
    def __init__(self, inputs, kernel, expanded, outputs, squeeze, swish, stride, step):
        super().__init__()
        activation = nn.Hardswish if swish else nn.ReLU
        parts = [conv_bn(inputs, expanded, activation=activation)] if expanded != inputs else []
        parts.append(conv_bn(expanded, expanded, kernel, stride, expanded, activation))
        if squeeze:
            parts.append(SqueezeExcitation(expanded, max(step, expanded // 4 // step * step)))
        parts.append(conv_bn(expanded, outputs))
        self.parts = nn.Sequential(*parts)
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.parts(x) if self.residual else self.parts(x)


class MobileNetV3Small(nn.Module):
    def __init__(self, width, classes, step=8):
        super().__init__()

        def scaled(channels):
            return max(step, int(channels * width + step / 2) // step * step)

        channels = scaled(16)
        blocks = [conv_bn(3, channels, 3, 2, activation=nn.Hardswish)]
        for kernel, expanded, outputs, squeeze, swish, stride in BLOCKS:
            expanded, outputs = scaled(expanded), scaled(outputs)
            blocks.append(
                InvertedResidual(channels, kernel, expanded, outputs, squeeze, swish, stride, step)
            )
            channels = outputs
        blocks.append(conv_bn(channels, 6 * channels, activation=nn.Hardswish))
        self.features = nn.Sequential(*blocks)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            nn.Linear(6 * channels, scaled(1024)),
            nn.Hardswish(inplace=True),
            nn.Dropout(0.2, inplace=True),
            nn.Linear(scaled(1024), classes),
        )

    def forward(self, x):
        x = self.avgpool(self.features(x))
        return self.classifier(torch.flatten(x, 1))


def models(full):
    width, size, classes, step = (1.0, 224, 1000, 8) if full else (0.2, 64, 10, 4)
    net = settle(MobileNetV3Small(width, classes, step))
    return [Model("mobilenet_v3_small", net, (randn(1, 3, size, size, seed=1),))]
