"""Models that are quantised before ExecuTorch lowers them for its Vulkan delegate, and how: together
they have the operators that its exporter writes for integers.
"""

import torch
from torch import nn
from torch.nn import functional as F


class Convnet(nn.Module):
    """Convolutions of every form between tensors of int8, and what ends in such."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, 2, 1)
        self.depthwise = nn.Conv2d(16, 16, 3, 1, 1, groups=16)
        self.pointwise = nn.Conv2d(16, 16, 1)
        self.grouped = nn.Conv2d(16, 24, 3, 1, 1, groups=2)
        self.up = nn.ConvTranspose2d(24, 8, 2, 2)
        self.last = nn.Conv2d(2, 8, 3, padding=1)
        self.first, self.second = nn.Linear(8, 12), nn.Linear(12, 5)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        x = x + self.pointwise(torch.relu(self.depthwise(x)))
        x = self.up(self.grouped(x))
        x = self.last(F.pixel_shuffle(x, 2))
        x = torch.relu(x) + x
        return self.second(torch.relu(self.first(x.mean((2, 3)))))


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(32, 48), nn.Linear(48, 16)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


def converted(model, example, quantizer):
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    prepared = prepare_pt2e(torch.export.export(model.eval(), example).module(), quantizer)
    prepared(*example)
    return convert_pt2e(prepared)


def with_static_scales(model, example):
    from executorch.backends.xnnpack.quantizer import xnnpack_quantizer as xnnpack

    config = xnnpack.get_symmetric_quantization_config(is_per_channel=True)
    return converted(model, example, xnnpack.XNNPACKQuantizer().set_global(config))


def with_weights_of_four_bits(model, example):
    from executorch.backends.vulkan.quantizer import vulkan_quantizer as vulkan

    config = vulkan.get_symmetric_quantization_config(weight_bits=4)
    return converted(model, example, vulkan.VulkanQuantizer().set_global(config))


def with_rows_of_four_bits(model, _):
    from torchao.quantization import Int8DynamicActivationIntxWeightConfig, PerGroup, quantize_
    from torchao.utils import unwrap_tensor_subclass

    config = Int8DynamicActivationIntxWeightConfig(
        weight_dtype=torch.int4, weight_granularity=PerGroup(16)
    )
    quantize_(model, config)
    return unwrap_tensor_subclass(model)
