"""Exports small models with ExecuTorch's Vulkan delegate, with their inputs and PyTorch's outputs.

    python test/compat/make_vulkan_ptes.py test/compat/data

Its wheel has no runtime of that delegate, so the outputs are PyTorch's.
"""

import os
import sys

import numpy as np
import torch
from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
from executorch.exir import to_edge_transform_and_lower
from torch import nn


class Convnet(nn.Module):
    """Clamps that become part of convolutions, a depthwise one, and a pool."""

    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6())
        self.depthwise = nn.Sequential(nn.Conv2d(8, 8, 3, 1, 1, groups=8), nn.Hardswish())
        self.up = nn.ConvTranspose2d(8, 8, 2, 2)
        self.last = nn.Linear(16, 10)

    def forward(self, x):
        x = self.depthwise(self.first(x))
        x = torch.cat([self.up(x), self.up(x.flip(3))], 1)
        return self.last(nn.functional.max_pool2d(x, 2).mean((2, 3))).softmax(-1)


class Encoder(nn.Module):
    """Indices of int64, which the exporter writes as int32, and attention."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 16)
        self.layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, activation="gelu")

    def forward(self, ids):
        return self.layer(self.words(ids))


class Sizes(nn.Module):
    """Sizes that are read off the input and computed with."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(12, 8)

    def forward(self, x):
        y = torch.relu(self.linear(x))
        return torch.cat([y, y])[1 : y.shape[0]].reshape((y.shape[0] - 1) * 2, 4)


def export(folder, name, model, example, given, dynamic=None):
    model.eval()
    program = torch.export.export(model, (example,), dynamic_shapes=dynamic)
    options = {"require_dynamic_shapes": True} if dynamic else {}
    lowered = to_edge_transform_and_lower(program, partitioner=[VulkanPartitioner(options)])
    stem = os.path.join(folder, "vulkan_" + name)
    with open(stem + ".pte", "wb") as file:
        file.write(lowered.to_executorch().buffer)
    np.save(stem + ".in0.npy", given.numpy())
    np.save(stem + ".out0.npy", model(given).detach().numpy())


def main():
    folder = sys.argv[1]
    torch.manual_seed(0)
    image, ids = torch.randn(2, 3, 16, 16), torch.randint(0, 20, (2, 7))
    export(folder, "convnet", Convnet(), image, image)
    export(folder, "encoder", Encoder(), ids, ids)
    rows = torch.export.Dim("rows", min=3, max=9)
    export(folder, "sizes", Sizes(), torch.randn(5, 12), torch.randn(4, 12), ({0: rows},))


if __name__ == "__main__":
    main()
