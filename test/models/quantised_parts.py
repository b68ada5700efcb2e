"""Parts of quantised networks as PyTorch's operators spell them, with weights and scales of our
own: functions between two quantised tensors, and filters of convolutions and weights of recurrent
layers that are stored as int8 while their inputs are floats.
"""

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
from torch import nn
from torch.nn import functional as F

from model import Model, randint, randn, seeded, settle

Q = torch.ops.quantized_decomposed


def through_bytes(x, scale, zero_point):
    """x as int8, and back."""
    how = scale, zero_point, -128, 127, torch.int8
    return Q.dequantize_per_tensor.default(Q.quantize_per_tensor.default(x, *how), *how)


class Functions(nn.Module):
    """Functions of each element between int8 tensors. XNNPACK computes a leaky ReLU with factors of
    eight bits behind the point: here 573, 57, 115 and -171, of 256. Odd ones make no ties."""

    def forward(self, x):
        x = through_bytes(x, 0.02 * 573 / 256, 3)
        return torch.stack([
            through_bytes(function(x), 0.02, -5)
            for function in (
                F.elu,
                lambda x: F.elu(x, 0.7),
                lambda x: F.leaky_relu(x, 57 / 573),
                lambda x: F.leaky_relu(x, 115 / 573),
                lambda x: F.leaky_relu(x, -171 / 573),
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


class Chains(nn.Module):
    """Functions that are several nodes, or one that XNNPACK computes of floats alone, between int8
    tensors: of every byte."""

    def forward(self, x):
        x = through_bytes(x, 0.0417, 3)
        return torch.stack([
            through_bytes(function(x), 0.0231, -5)
            for function in (
                F.silu,
                F.mish,
                F.hardsigmoid,
                lambda x: F.gelu(x, approximate="tanh"),
                lambda x: x.abs().sqrt(),
                lambda x: torch.exp(-x).clamp(max=2.5),
                lambda x: torch.rsqrt(x * x + 0.3),
                lambda x: torch.log(x.square() + 0.1),
                lambda x: x * torch.sigmoid(1.702 * x),
                lambda x: torch.tanh(x) - torch.sin(2 * x) / (1.5 + torch.cos(x)),
                lambda x: torch.maximum(F.leaky_relu(x, 0.3), -0.7 * x),
                lambda x: 1 / (x - 0.02),
                lambda x: x * through_bytes(F.hardsigmoid(x), 0.0039, -128),
                lambda x: through_bytes(torch.tanh(x), 0.0079, 1).square() + 0.1,
            )
        ])


class Pools(nn.Module):
    """Averages of windows and repeated pixels between int8 tensors."""

    def forward(self, x):
        x = through_bytes(x, 0.0417, 3)
        return [
            through_bytes(pool(x), 0.0231, -5)
            for pool in (
                lambda x: F.avg_pool2d(x, 2),
                lambda x: F.avg_pool2d(x, 3, 2, 1),
                lambda x: F.avg_pool2d(x, (1, 4), (2, 1)),
                lambda x: F.avg_pool2d(x, 5, 1),
                lambda x: F.avg_pool2d(x, 3, 1, 1, count_include_pad=False),
                lambda x: F.avg_pool2d(x, (5, 6)),
                lambda x: F.adaptive_avg_pool2d(x, (5, 2)),
                lambda x: F.interpolate(x, scale_factor=2),
                lambda x: F.interpolate(x, scale_factor=(3, 1)),
            )
        ]


class Softmaxes(nn.Module):
    """Softmaxes between int8 tensors: along each dimension, also with steps so large that all but
    the largest elements are zero."""

    def forward(self, x):
        return [
            through_bytes(torch.softmax(through_bytes(x, scale, zero), dim), 0.0041, -128)
            for dim, scale, zero in ((-1, 0.0417, 3), (1, 0.0217, -9), (0, 0.0341, 0), (2, 3.7, 5))
        ]


class Stored(nn.Module):
    """An int8 weight with a scale for each index of a dimension, or one for all."""

    def __init__(self, *sizes, axis, zero_points=False, low=-127, high=127, seed=0):
        super().__init__()
        generator = seeded(seed)
        count = 1 if axis is None else sizes[axis]
        integers = torch.randint(low, high + 1, sizes, generator=generator, dtype=torch.int8)
        scales = 0.5 + torch.rand(count, generator=generator)
        points = torch.randint(-5, 6, (count,), generator=generator) if zero_points else None
        self.register_buffer("integers", integers)
        self.register_buffer("scales", scales * 2 / ((integers.numel() / count) ** 0.5 * high))
        self.register_buffer("points", torch.zeros(count).long() if points is None else points)
        self.axis, self.range = axis, (low, high, torch.int8)

    def forward(self):
        if self.axis is None:
            how = 0.0125, 2, *self.range
            return Q.dequantize_per_tensor.default(self.integers, *how)
        how = self.scales, self.points, self.axis, *self.range
        return Q.dequantize_per_channel.default(self.integers, *how)


class Filters(nn.Module):
    """Convolutions of floats whose weights alone are int8."""

    def __init__(self):
        super().__init__()
        self.plain = Stored(16, 12, 3, 3, axis=0, seed=1)
        self.shifted = Stored(16, 16, 3, 3, axis=0, zero_points=True, seed=2)
        self.depthwise = Stored(64, 1, 5, 5, axis=0, seed=3)
        self.norm = nn.BatchNorm2d(16)
        self.grouped = Stored(64, 4, 3, 3, axis=0, low=-8, high=7, seed=4)
        self.up = Stored(64, 8, 3, 3, axis=1, seed=5)
        self.up_by_input = Stored(8, 40, 3, 3, axis=0, seed=6)
        self.one = Stored(8, 40, 3, axis=None, seed=7)
        self.up_signal = Stored(8, 40, 5, axis=1, zero_points=True, seed=8)
        self.columns = Stored(30, 40, axis=1, seed=9)

    def forward(self, x):
        x = torch.relu(F.conv2d(x, self.plain(), None, 1, 1))
        x = torch.relu(self.norm(F.conv2d(x, self.shifted(), None, 1, 1)))
        x = torch.cat([x, x, -x, -x], 1)
        x = F.conv2d(x, self.depthwise(), None, 1, 2, 1, 64)
        x = F.conv2d(x, self.grouped(), None, 1, 0, 1, 16)
        x = F.conv_transpose2d(x, self.up(), None, 2)
        x = F.conv_transpose2d(x, self.up_by_input())
        x = F.conv1d(torch.tanh(x).mean(-1), self.one())
        x = F.conv_transpose1d(x, self.up_signal(), None, 2)
        return F.linear(x.transpose(1, 2), self.columns())


class Stems(nn.Module):
    """Convolutions of images with few channels, between int8 tensors: input channels, the size of
    the window, its step and the padding."""

    SHAPES = [(3, (3, 3), 2, 1), (3, (7, 7), 2, 3), (1, (5, 5), 1, 2), (4, (3, 5), 1, (1, 2)),
              (2, (3, 4), (1, 2), 1), (3, (3, 3), 2, 0), (4, (3, 3), 1, 0)]

    def __init__(self):
        super().__init__()
        self.weights = nn.ModuleList(
            Stored(5, c, *k, axis=0, seed=20 + i) for i, (c, k, _, _) in enumerate(self.SHAPES)
        )
        # Whole numbers of XNNPACK's steps, so that none is rounded.
        self.biases = nn.ParameterList(
            weight.scales * 0.0217 * torch.tensor([-300.0, 200, 0, 700, -900])
            for weight in self.weights
        )

    def forward(self, x):
        x = through_bytes(x, 0.0217, 3)
        results = []
        for (c, _, step, padding), weight, bias in zip(self.SHAPES, self.weights, self.biases):
            y = F.conv2d(x[:, :c], weight(), bias, step, padding)
            results.append(through_bytes(torch.relu(y), 0.0373, -128))
        return results


class Joins(nn.Module):
    """Tensors of several scales, which are joined to one of bytes: some are bytes, others results
    of layers. One scale is twice another, so that halves are rounded."""

    def __init__(self):
        super().__init__()
        self.first = Stored(24, 8, 3, 3, axis=0, seed=31)
        self.second = Stored(16, 60, 1, 1, axis=0, seed=32)

    def forward(self, x):
        scales = 0.0217, 0.0434, 0.03, 0.0093
        parts = [through_bytes(x[:, 2 * i : 2 * i + 8], s, i) for i, s in enumerate(scales)]
        y = F.conv2d(parts[0], self.first(), None, 1, 1)
        some = through_bytes(torch.cat(parts, 1), 0.0434, 5)
        all = [torch.sigmoid(parts[1])[:, :2], parts[2][:, :4], parts[3][:, 1:7], y, *parts[:3]]
        all = through_bytes(torch.cat(all, 1), 0.0317, -7)
        return some, all, through_bytes(F.conv2d(all, self.second()), 0.0373, 2)


class SmallRanges(nn.Module):
    """An input and layers whose integers are a part of the bytes, as PyTorch's backend "x86" wants
    them."""

    def __init__(self):
        super().__init__()
        self.first = Stored(24, 8, 3, 3, axis=0, low=-8, high=7, seed=33)
        self.depthwise = Stored(24, 1, 5, 5, axis=0, low=-7, high=7, seed=34)
        self.up = Stored(24, 7, 3, 3, axis=1, low=-8, high=7, seed=35)
        self.second = Stored(40, 231, axis=0, low=-8, high=7, seed=36)

    def forward(self, x):
        low = 0, 127, torch.uint8
        as_bytes = lambda x, scale, zero: Q.dequantize_per_tensor.default(
            Q.quantize_per_tensor.default(x, scale, zero, *low), scale, zero, *low
        )
        x = as_bytes(x, 0.0417, 61)
        x = as_bytes(torch.relu(F.conv2d(x, self.first(), None, 1, 1)), 0.0231, 0)
        x = as_bytes(F.conv2d(x, self.depthwise(), None, 1, 2, 1, 24), 0.0171, 71)
        x = as_bytes(F.conv_transpose2d(x, self.up(), None, 2), 0.0137, 64)
        return as_bytes(F.linear(x.flatten(2)[..., :33].flatten(1), self.second()), 0.0251, 60)


class Volumes(nn.Module):
    """Convolutions of volumes, in groups and transposed, between int8 tensors."""

    def __init__(self):
        super().__init__()
        self.grouped = Stored(32, 3, 3, 2, 3, axis=0, seed=37)
        self.flat = Stored(32, 1, 1, 3, 3, axis=0, seed=38)
        self.deep = Stored(32, 1, 3, 3, 3, axis=0, seed=39)
        self.up = Stored(32, 5, 2, 2, 2, axis=1, seed=40)
        self.up_by_some = Stored(5, 4, 3, 3, 1, axis=1, low=-100, high=100, seed=41)
        self.register_buffer("bias", self.up.scales * 0.0373 * torch.tensor([-300.0, 200, 0, 7, 9]))

    def forward(self, x):
        x = through_bytes(x, 0.0217, 3)
        x = through_bytes(F.conv3d(x, self.grouped(), None, 1, (1, 0, 1), 1, 2), 0.0373, -5)
        y = through_bytes(F.conv3d(x, self.flat(), None, 1, (0, 1, 1), 1, 32), 0.0373, 0)
        z = through_bytes(F.conv3d(x, self.deep(), None, (1, 2, 1), 1, 1, 32), 0.0271, 0)
        y = through_bytes(F.conv_transpose3d(y, self.up(), self.bias, 2), 0.0373, 1)
        u = F.conv_transpose3d(y, self.up_by_some(), None, (2, 1, 3), (1, 0, 0), (1, 0, 1))
        return y, z, through_bytes(torch.relu(u), 0.0217, -128)


class Recurrent(nn.Module):
    """LSTM and GRU layers whose weights are int8: two layers in both directions, and one layer with
    one scale for each weight."""

    def __init__(self):
        super().__init__()
        shapes = [(80, 12), (80, 20)] * 2 + [(80, 40), (80, 20)] * 2
        weights = [Stored(*s, axis=0, zero_points=i == 1, seed=i) for i, s in enumerate(shapes)]
        self.first = nn.ModuleList(weights)
        self.second = nn.ModuleList(Stored(*s, axis=None, seed=9) for s in [(48, 40), (48, 16)])
        self.register_buffer("bias", 0.2 * randn(48, seed=10))

    def forward(self, x):
        state = x.new_zeros(4, x.shape[1], 20)
        params = [weight() for weight in self.first]
        x, _, _ = torch.ops.aten.lstm.input(
            x, [state, state], params, False, 2, 0.0, False, True, False
        )
        params = [weight() for weight in self.second] + [self.bias, self.bias]
        state = x.new_zeros(1, x.shape[1], 16)
        return torch.ops.aten.gru.input(x, state, params, True, 1, 0.0, False, False, False)


class Borders(nn.Module):
    """Bytes as inputs and outputs, as after ExecuTorch's QuantizeInputs and QuantizeOutputs."""

    def __init__(self):
        super().__init__()
        self.first = Stored(16, 8, 3, 3, axis=0, seed=11)
        self.second = nn.Conv2d(8, 16, 3)

    def forward(self, q, x):
        y = Q.dequantize_per_tensor.default(q, 0.0217, 3, -128, 127, torch.int8)
        y = torch.relu(F.conv2d(y, self.first(), None, 1, 1))
        y = Q.quantize_per_tensor.default(y, 0.0373, -128, -128, 127, torch.int8)
        z = self.second(x)
        return y, Q.quantize_per_tensor.default(z, 0.0191, 5, -128, 127, torch.int8)


def models(full):
    bytes_in = randint(256, 1, 8, 9, 9, seed=4).sub(128).to(torch.int8)
    every_byte = (torch.arange(256.0).sub(131) * 0.0417).reshape(1, 4, 8, 8)
    return [
        Model("int8_functions", Functions(), (2 * randn(1, 3, 5, 7, seed=1),)),
        Model("int8_chains", Chains(), (every_byte,)),
        Model("int8_softmaxes", Softmaxes(), (randn(3, 5, 7, 150, seed=14),)),
        Model("int8_pools", Pools(), (2 * randn(2, 3, 10, 12, seed=6),)),
        Model("int8_filters", settle(Filters()), (randn(1, 12, 8, 8, seed=2),)),
        Model("int8_stems", Stems(), (randn(2, 4, 13, 24, seed=13),)),
        Model("int8_joins", Joins(), (2 * randn(2, 14, 6, 7, seed=15),)),
        Model("int8_small_ranges", SmallRanges(), (2 * randn(2, 8, 5, 5, seed=16),)),
        Model("int8_volumes", Volumes(), (randn(1, 6, 4, 4, 5, seed=17),)),
        Model("int8_recurrent", Recurrent(), (randn(6, 2, 12, seed=3),)),
        Model("int8_borders", settle(Borders()), (bytes_in, randn(1, 8, 9, 9, seed=5))),
    ]
