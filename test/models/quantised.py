"""Models quantised with PyTorch's export quantisation (PT2E) and ExecuTorch's XNNPACK quantizer: a
convnet with static scales, and linear layers with dynamically quantised inputs. Also models from
torchao's quantize_: eight-bit weights or four-bit ones in groups, with dynamically quantised rows.
"""

import copy

import torch
from torch import nn

from model import Model, randint, randn, settle


class Convnet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 16, 3, 2, 1)
        self.bn = nn.BatchNorm2d(16)
        self.depthwise = nn.Conv2d(16, 16, 3, 1, 1, groups=16)
        self.pointwise = nn.Conv2d(16, 16, 1)
        self.head = nn.Linear(16, 10)

    def forward(self, x):
        x = torch.relu(self.bn(self.stem(x)))
        x = x + self.pointwise(nn.functional.relu6(self.depthwise(x)))
        x = nn.functional.max_pool2d(x, 2)
        return self.head(torch.flatten(nn.functional.adaptive_avg_pool2d(x, 1), 1))


class Quantised(nn.Module):
    """Wraps a PT2E module, which does not support train() and eval()."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def train(self, mode=True):
        return self

    def forward(self, x):
        return self.module(x)


def quantised(module, samples, is_dynamic, is_per_channel=True, as_reference=False):
    """As a reference, with the arithmetic of integers in place of quantise and dequantise."""
    from executorch.backends.xnnpack.quantizer import xnnpack_quantizer as xnnpack
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    config = xnnpack.get_symmetric_quantization_config(
        is_per_channel=is_per_channel, is_dynamic=is_dynamic
    )
    graph = torch.export.export(module, (samples[0],)).module()
    prepared = prepare_pt2e(graph, xnnpack.XNNPACKQuantizer().set_global(config))
    with torch.no_grad():
        for sample in samples:
            prepared(sample)
    return Quantised(convert_pt2e(prepared, use_reference_representation=as_reference))


def by_rows(module, dtype, granularity):
    """Quantises inputs per row, and weights with the given granularity."""
    from torchao.quantization import Int8DynamicActivationIntxWeightConfig, quantize_
    from torchao.utils import unwrap_tensor_subclass

    module = copy.deepcopy(module)
    config = Int8DynamicActivationIntxWeightConfig(
        weight_dtype=dtype, weight_granularity=granularity
    )
    quantize_(module, config)
    return unwrap_tensor_subclass(module)


class Lookup(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(24, 16)
        self.head = nn.Linear(16, 8)

    def forward(self, indices):
        return self.head(self.table(indices))


def with_bytes_as_table(module, sample):
    """Quantises an embedding to bytes, with zero points that are fractional floats."""
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torchao.quantization.pt2e.quantizer.embedding_quantizer import EmbeddingQuantizer

    prepared = prepare_pt2e(torch.export.export(module, (sample,)).module(), EmbeddingQuantizer())
    prepared(sample)
    return Quantised(convert_pt2e(prepared))


def weights_only(module, **how):
    from torchao.quantization import IntxWeightOnlyConfig, quantize_
    from torchao.utils import unwrap_tensor_subclass

    module = copy.deepcopy(module)
    quantize_(module, IntxWeightOnlyConfig(**how))
    return unwrap_tensor_subclass(module)


def models(full):
    from torchao.quantization import PerAxis, PerGroup

    images = [randn(1, 3, 20, 20, seed=s) for s in (1, 2, 3)]
    rows = [randn(1, 32, seed=s) for s in (1, 2, 3)]  # XNNPACK has one scale per row
    layers = settle(nn.Sequential(nn.Linear(32, 48), nn.ReLU(), nn.Linear(48, 16)), 1)
    words = randint(24, 3, 7, seed=6)
    wide = settle(nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 16)), 2)
    # Scales are large, since rounding a value the other way differs far more than float error, and
    # XNNPACK's group scales have only eight bits.
    return [
        Model("int8_convnet", quantised(settle(Convnet()), images, False), (images[0],), scale=100),
        Model("int8_layers", quantised(layers, rows, True), (rows[0],), scale=100),
        Model(
            "int8_reference",
            quantised(layers, rows, False, is_per_channel=False, as_reference=True),
            (rows[0],),
        ),
        Model(
            "int8_rows",
            by_rows(layers, torch.int8, PerAxis(0)),
            (randn(2, 3, 32, seed=4),),
            scale=100,
        ),
        Model(
            "int4_groups",
            by_rows(wide, torch.int4, PerGroup(32)),
            (randn(4, 64, seed=5),),
            scale=1000,
        ),
        Model(
            "byte_table",
            with_bytes_as_table(settle(Lookup()), words),
            (words,),
        ),
        Model(
            "int4_groups_bf16_scales",
            weights_only(
                wide,
                weight_dtype=torch.int4,
                granularity=PerGroup(32),
                scale_dtype=torch.bfloat16,
            ),
            (randn(4, 64, seed=7),),
        ),
    ]
