"""Parts of quantised networks as PyTorch's operators spell them, with weights and scales of our own:
functions between two quantised tensors.
"""

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
from torch import nn
from torch.nn import functional as F

from model import Model, randn

Q = torch.ops.quantized_decomposed


def through_bytes(x, scale, zero_point):
    """x as int8, and back."""
    how = scale, zero_point, -128, 127, torch.int8
    return Q.dequantize_per_tensor.default(Q.quantize_per_tensor.default(x, *how), *how)


class Functions(nn.Module):
    """Functions of each element between int8 tensors."""

    def forward(self, x):
        x = through_bytes(x, 0.047, 3)
        return torch.stack([
            through_bytes(function(x), 0.021, -5)
            for function in (
                F.elu,
                lambda x: F.elu(x, 0.7),
                F.leaky_relu,
                lambda x: F.leaky_relu(x, 0.2),
                lambda x: F.leaky_relu(x, -0.3),
                torch.sigmoid,
                torch.tanh,
                F.hardswish,
                F.gelu,
                torch.abs,
                torch.neg,
                torch.exp,
                torch.floor,
                torch.cos,
                torch.square,
            )
        ])


def models(full):
    # XNNPACK computes a leaky ReLU with factors of eight bits behind the point, so that a result may
    # be the next integer.
    return [Model("int8_functions", Functions(), (2 * randn(1, 3, 5, 7, seed=1),), scale=250)]
