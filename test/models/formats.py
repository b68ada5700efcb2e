"""Weights and rows in blocks of 8-bit and 4-bit floats, as torchao and ExecuTorch export them: MX
(mxfp8), NVFP4, and 8-bit floats with a scale for each row. Products of 8-bit floats, and a cache of
them.
"""

import copy

import torch
from torch import nn

from model import Case, Model, randint, randn, settle


class Lookup(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(48, 64)
        self.hidden = nn.Linear(64, 48)
        self.head = nn.Linear(48, 16)

    def forward(self, indices):
        return self.head(nn.functional.gelu(self.hidden(self.table(indices))))


class Program(nn.Module):
    """Wraps the module of a program, which does not support train() and eval()."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def train(self, mode=True):
        return self

    def forward(self, x):
        return self.module(x)


def quantised(module, sample, *steps):
    """Applies configs of quantize_, each to the modules of a type, and spells the subclasses out."""
    from torchao.quantization import quantize_

    module = copy.deepcopy(module)
    for config, kind in steps:
        quantize_(module, config, lambda part, name, kind=kind: isinstance(part, kind))
    return Program(torch.export.export(module, (sample,)).run_decompositions().module())


class Products(nn.Module):
    """What Float8DynamicActivationFloat8WeightConfig exports where a GPU is at hand."""

    def __init__(self):
        super().__init__()
        weight = randn(48, 32, seed=3)
        scale = weight.abs().amax(1, keepdim=True) / 448
        self.register_buffer("weight", (weight / scale).to(torch.float8_e4m3fn))
        self.register_buffer("scale", scale)
        self.register_buffer("bias", randn(48, seed=4))

    def forward(self, x):
        scale = x.abs().amax(1, keepdim=True) / 448
        rows = (x / scale).clamp(-448, 448).to(torch.float8_e4m3fn)
        weight = self.weight.t()
        by_rows = torch._scaled_mm(rows, weight, scale, self.scale.t(), out_dtype=torch.float32)
        one = torch.ones(())
        plain = torch._scaled_mm(
            rows, weight, one, one, self.bias.bfloat16(), out_dtype=torch.bfloat16
        )
        return by_rows, plain


class Cache(nn.Module):
    """A state of 8-bit floats, of which each call writes a row."""

    def __init__(self):
        super().__init__()
        self.register_buffer("rows", torch.zeros(4, 8, dtype=torch.float8_e5m2))

    def forward(self, x, at):
        self.rows.index_put_((at,), x.to(torch.float8_e5m2))
        return self.rows.float() * 2


def with_objects(module, config):
    """The same, but the weights stay objects of torchao's classes."""
    from torchao.quantization import quantize_

    module = copy.deepcopy(module)
    quantize_(module, config)
    return module


def models(full):
    from executorch.extension.llm.export.mx import ExportableMXConfig
    from executorch.extension.llm.export.nvfp4 import ExportableNVFP4Config
    from torchao.prototype.mx_formats.inference_workflow import (
        MXDynamicActivationMXWeightConfig,
        NVFP4WeightOnlyConfig,
    )
    from torchao.quantization import Float8WeightOnlyConfig
    from torchao.quantization.quantize_.common.kernel_preference import KernelPreference

    words = randint(40, 2, 5, seed=1)
    rows = randn(5, 64, seed=2)
    lookup = settle(Lookup())
    layers = settle(nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 16)), 1)
    layers, narrow_rows = layers.bfloat16(), rows.bfloat16()
    one = settle(nn.Sequential(nn.Linear(64, 48)), 2)
    wide = settle(nn.Sequential(nn.Linear(96, 160), nn.ReLU(), nn.Linear(160, 16)), 3)
    wide_rows = randn(5, 96, seed=6)
    emulated = MXDynamicActivationMXWeightConfig(kernel_preference=KernelPreference.EMULATED)
    steps = [(randn(1, 8, seed=k), torch.tensor([k])) for k in range(3)]
    return [
        Model(
            "mx_weights",
            quantised(
                lookup,
                words,
                (ExportableMXConfig(block_size=16), nn.Linear),
                (ExportableMXConfig(elem_dtype=torch.float8_e5m2), nn.Embedding),
            ),
            (words,),
        ),
        Model(
            "nvfp4_weights",
            quantised(lookup, words, (ExportableNVFP4Config(), (nn.Linear, nn.Embedding))),
            (words,),
        ),
        Model(
            "float8_weights",
            quantised(layers, narrow_rows, (Float8WeightOnlyConfig(), nn.Linear)),
            (narrow_rows,),
            scale=100,
        ),
        Model("mx_rows", quantised(one.bfloat16(), narrow_rows, (emulated, nn.Linear)), (narrow_rows,), scale=100),
        Model("nvfp4_objects", with_objects(wide, NVFP4WeightOnlyConfig()), (wide_rows,)),
        Model("float8_objects", with_objects(wide, Float8WeightOnlyConfig()), (wide_rows,)),
        Model("float8_products", Products(), (randn(5, 32, seed=5),), scale=100),
        Model("float8_cache", Cache(), steps[0], cases=[Case("float8_cache", steps)]),
    ]
