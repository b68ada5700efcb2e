"""MobileNetV2: inverted residuals with linear bottlenecks, ReLU6."""

import torch
from torch import nn

from model import Model, randn, settle

# (expansion, channels, repeats, stride of the first block)
STAGES = [
    (1, 16, 1, 1),
    (6, 24, 2, 2),
    (6, 32, 3, 2),
    (6, 64, 4, 2),
    (6, 96, 3, 1),
    (6, 160, 3, 2),
    (6, 320, 1, 1),
]


def conv_bn(inputs, outputs, kernel=1, stride=1, groups=1):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU6(inplace=True),
    )


class InvertedResidual(nn.Module):
    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        hidden = inputs * expansion
        parts = [conv_bn(inputs, hidden)] if expansion != 1 else []
        parts += [
            conv_bn(hidden, hidden, 3, stride, groups=hidden),
            nn.Conv2d(hidden, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        ]
        self.parts = nn.Sequential(*parts)
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.parts(x) if self.residual else self.parts(x)


class MobileNetV2(nn.Module):
    def __init__(self, width, classes, step=8):
        super().__init__()

        def scaled(channels):
            return max(step, int(channels * width + step / 2) // step * step)

        channels, last = scaled(32), scaled(1280)
        blocks = [conv_bn(3, channels, 3, 2)]
        for expansion, outputs, repeats, stride in STAGES:
            for i in range(repeats):
                blocks.append(
                    InvertedResidual(channels, scaled(outputs), stride if i == 0 else 1, expansion)
                )
                channels = scaled(outputs)
        blocks.append(conv_bn(channels, last))
        self.features = nn.Sequential(*blocks)
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(last, classes))

    def forward(self, x):
        x = self.features(x)
        x = nn.functional.adaptive_avg_pool2d(x, (1, 1))
        return self.classifier(torch.flatten(x, 1))


def models(full):
    width, size, classes, step = (1.0, 224, 1000, 8) if full else (0.125, 64, 10, 4)
    net = settle(MobileNetV2(width, classes, step))
    return [Model("mobilenet_v2", net, (randn(1, 3, size, size, seed=1),))]
