"""U-Net: an encoder and a decoder with skip connections; the decoder upsamples by transposed
convolution or by resizing.
"""

import torch
from torch import nn
from torch.nn import functional as F

from model import Model, randn, settle


def double_conv(inputs, outputs):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs),
        nn.ReLU(inplace=True), nn.Conv2d(outputs, outputs, 3, padding="same"),
        nn.BatchNorm2d(outputs), nn.LeakyReLU(0.1), )  # fmt: skip


class Resize(nn.Module):
    """Doubles the image size and halves the channels."""

    def __init__(self, channels, mode):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels // 2, 1)
        self.mode = mode

    def forward(self, x):
        corners = False if self.mode == "bilinear" else None
        return self.conv(F.interpolate(x, scale_factor=2, mode=self.mode, align_corners=corners))


class UNet(nn.Module):
    def __init__(self, base, depth, grow):
        super().__init__()
        widths = [base << i for i in range(depth + 1)]
        self.down = nn.ModuleList(double_conv(a, b) for a, b in zip([3] + widths, widths))
        self.up = nn.ModuleList(grow(w, i) for i, w in enumerate(reversed(widths[1:])))
        self.join = nn.ModuleList(double_conv(w, w // 2) for w in reversed(widths[1:]))
        self.out = nn.Conv2d(base, 2, 1)

    def forward(self, x):
        skips = []
        for i, block in enumerate(self.down):
            x = block(F.max_pool2d(x, 2) if i else x)
            skips.append(x)
        skips.pop()
        for up, join in zip(self.up, self.join):
            x = join(torch.cat([skips.pop(), up(x)], dim=1))
        return torch.sigmoid(self.out(x))


def transposed(width, level):
    if level == 0:
        return nn.ConvTranspose2d(width, width // 2, 2, stride=2)
    return nn.ConvTranspose2d(
        width, width // 2, 3, stride=2, padding=1, output_padding=1, bias=False
    )


def resized(width, level):
    return Resize(width, "bilinear" if level else "nearest")


def models(full):
    base, depth, size = (32, 4, 224) if full else (4, 3, 48)
    x = randn(1, 3, size, size, seed=1)
    found = [Model("unet", settle(UNet(base, depth, transposed)), (x,))]
    if not full:
        found.append(Model("unet_resize", settle(UNet(base, depth, resized)), (x,)))
    return found
