"""Layers of each kind quantised by PyTorch's export quantisation (PT2E) as quantisers other than
ExecuTorch's do it: int8 and uint8 weights with zero points, and convolutions whose inputs are
quantised at run time.
"""

import torch
from torch import nn

from model import Model, randn, settle
from quantised import Quantised

LAYERS = (
    torch.ops.aten.conv1d.default,
    torch.ops.aten.conv2d.default,
    torch.ops.aten.conv_transpose1d.default,
    torch.ops.aten.conv_transpose2d.input,
    torch.ops.aten.linear.default,
)


class Layers(nn.Module):
    """One layer of each kind. Weights of a channel are mostly of one sign, so that zero points are
    far from the middle; some channels have none of the other sign. What is quantised `at_run_time`
    is read by convolutions that XNNPACK has for that."""

    def __init__(self, at_run_time):
        super().__init__()
        self.on_images = nn.ModuleList([
            nn.Conv2d(16, 20, 3, padding=1),
            nn.Conv2d(16, 17, (3, 2), stride=2),
            nn.Conv2d(16, 32, 3, padding=1, groups=2),
            nn.Conv2d(16, 16, 3, padding=1, groups=16),
            nn.ConvTranspose2d(16, 18, 3, stride=2, output_padding=1),
            nn.ConvTranspose2d(16, 32, 2, stride=2, groups=2),
        ])
        self.on_signals = nn.ModuleList([
            nn.Conv1d(16, 20, 3, padding=1),
            nn.Conv1d(16, 16, 5, padding=2, groups=16),
            nn.ConvTranspose1d(16, 18, 4, stride=2, padding=1),
        ])
        self.linear = nn.Linear(25, 34)
        if at_run_time:
            del self.on_images[3], self.on_signals[1], self.linear

    def forward(self, x):
        signal = x.flatten(2)
        results = [layer(x) for layer in self.on_images]
        results += [layer(signal) for layer in self.on_signals]
        return results + [self.linear(signal)] if hasattr(self, "linear") else results


def shifted(module):
    """Adds to the weights of each channel."""
    for index, parameter in enumerate(module.parameters()):
        if parameter.dim() > 1:
            sizes = -1, *[1] * (parameter.dim() - 1)
            shares = randn(parameter.shape[0], seed=index).reshape(sizes)
            parameter.data += shares * parameter.abs().max()
    return module


def spec_of_weights(target, dtype, per_channel):
    from torchao.quantization.pt2e import MinMaxObserver, PerChannelMinMaxObserver
    from torchao.quantization.pt2e.quantizer import QuantizationSpec

    low, high = (0, 255) if dtype == torch.uint8 else (-128, 127)
    if not per_channel:
        return QuantizationSpec(dtype, MinMaxObserver, low, high, torch.per_tensor_affine)
    axis = 1 if "transpose" in str(target) else 0
    return QuantizationSpec(
        dtype, PerChannelMinMaxObserver, low, high, torch.per_channel_affine, ch_axis=axis
    )


def spec_of_images(dtype, is_dynamic):
    from torchao.quantization.pt2e import HistogramObserver, PlaceholderObserver
    from torchao.quantization.pt2e.quantizer import QuantizationSpec

    low, high = (0, 255) if dtype == torch.uint8 else (-128, 127)
    observer = HistogramObserver
    if is_dynamic:
        observer = PlaceholderObserver.with_args(
            dtype=dtype, quant_min=low, quant_max=high, is_dynamic=True
        )
    return QuantizationSpec(
        dtype, observer, low, high, torch.per_tensor_affine, is_dynamic=is_dynamic
    )


def quantised(module, sample, dtype, per_channel, is_dynamic):
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torchao.quantization.pt2e.quantizer import QuantizationAnnotation, Quantizer

    class LayerQuantizer(Quantizer):
        def annotate(self, model):
            images = spec_of_images(dtype, is_dynamic)
            for node in model.graph.nodes:
                if node.target not in LAYERS:
                    continue
                weights = spec_of_weights(node.target, dtype, per_channel)
                node.meta["quantization_annotation"] = QuantizationAnnotation(
                    input_qspec_map={node.args[0]: images, node.args[1]: weights},
                    output_qspec=None if is_dynamic else images,
                    _annotated=True,
                )
            return model

        def validate(self, model):
            pass

    prepared = prepare_pt2e(torch.export.export(module, (sample,)).module(), LayerQuantizer())
    with torch.no_grad():
        prepared(sample)
    return Quantised(convert_pt2e(prepared))


def models(full):
    sample = randn(1, 16, 5, 5, seed=1)
    cases = {
        "int8_zero_points": (torch.int8, True, False),
        "uint8_zero_points": (torch.uint8, False, False),
        "int8_at_run_time": (torch.int8, True, True),
    }
    # Integers of the results may differ by one: their steps are up to a hundredth of the largest.
    return [
        Model(name, quantised(shifted(settle(Layers(how[-1]))), sample, *how), (sample,),
              scale=1 if how[-1] else 100)  # fmt: skip
        for name, how in cases.items()
    ]
