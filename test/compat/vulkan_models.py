"""Models that ExecuTorch's Vulkan delegate takes, for make_vulkan_ptes.py.

Together they have every operator that its exporter writes for float32, sizes that depend on inputs,
numbers read off tensors, and several methods. Public architectures stand beside small modules of
operators that those do not have.
"""

import dataclasses
import os
import sys
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "zoo"))
import entry  # noqa: E402
import vulkan_caches as caches  # noqa: E402
import vulkan_quantised as integers  # noqa: E402


class Method(nn.Module):
    """A module that calls another method of a model than forward()."""

    def __init__(self, model, name):
        super().__init__()
        self.model, self.name = model, name

    def forward(self, *args):
        return getattr(self.model, self.name)(*args)


def pack(model):
    from torchao.quantization import IntxWeightOnlyConfig, PerGroup, quantize_
    from torchao.utils import unwrap_tensor_subclass

    config = IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(16))
    quantize_(model, config, lambda part, _: isinstance(part, (nn.Linear, nn.Embedding)))
    unwrap_tensor_subclass(model)


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(24, 32)
        self.first, self.second = nn.Linear(32, 48), nn.Linear(48, 12)

    def forward(self, words):
        return self.second(F.relu(self.first(self.table(words))))


@dataclasses.dataclass
class Example:
    """A model to export with `example`, and to run with `given`, or with these arguments too."""

    name: str
    model: nn.Module
    example: tuple
    given: tuple | None = None
    dynamic: tuple | None = None
    args: dict | None = None  # The arguments of each method, if there are several.
    options: dict = dataclasses.field(default_factory=dict)
    packs: bool = False  # Its weights become integers of 4 bits.
    steps: list = dataclasses.field(default_factory=list)  # What it is called with after that.
    quantise: Callable | None = None  # Makes another model of it, with the arguments `example`.

    def __post_init__(self):
        self.args = self.args or {"forward": self.example}
        self.methods = tuple(self.args)

    def prepare(self):
        """Sets weights with which every layer matters."""
        entry.lively(self.model)
        if self.example:
            entry.settle(self.model, self.example, {})
        if isinstance(self.model, Rounded):
            self.model.half_weights()
        if self.packs:
            pack(self.model)
        if self.quantise:
            self.model = self.quantise(self.model, self.example)

    def of(self, method):
        return self.model if method == "forward" else Method(self.model, method)

    def inputs(self, method):
        return self.args[method] if self.given is None else self.given


class Convnet(nn.Module):
    """Clamps that become part of convolutions, a depthwise one, and a pool."""

    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(
            nn.Conv2d(3, 8, 3, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6()
        )
        self.depthwise = nn.Sequential(nn.Conv2d(8, 8, 3, 1, 1, groups=8), nn.Hardswish())
        self.up = nn.ConvTranspose2d(8, 8, 2, 2)
        self.last = nn.Linear(16, 10)

    def forward(self, x):
        x = self.depthwise(self.first(x))
        x = torch.cat([self.up(x), self.up(x.flip(3))], 1)
        return self.last(F.max_pool2d(x, 2).mean((2, 3))).softmax(-1)


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


class DynamicImage(nn.Module):
    """An image of any even height, pooled and unrolled."""

    def __init__(self):
        super().__init__()
        self.convolution = nn.Conv2d(3, 8, 3, padding=1)
        self.project = nn.Linear(8, 6)

    def forward(self, x):
        y = F.max_pool2d(self.convolution(x).relu(), 2).flatten(2).transpose(1, 2)
        half = y.shape[1] // 2
        return self.project(y)[:, :half] + self.project(y)[:, half : 2 * half]


class Unary(nn.Module):
    """Every function of one tensor that the exporter takes."""

    def forward(self, x):
        y = [x.abs(), x.cos(), x.exp(), F.gelu(x, approximate="tanh"), F.hardshrink(x, 0.3)]
        y += [F.hardswish(x), F.hardtanh(x, -0.4, 0.9), -x, x.relu(), x.sigmoid(), x.sin()]
        y += [(x.abs() + 0.1).sqrt(), (x.abs() + 0.1).rsqrt(), x.tanh(), x.round()]
        y += [F.leaky_relu(x, 0.2), (x.abs() + 0.1).log10(), x.clamp(-0.5, 0.7), x.clamp(min=0.1)]
        return torch.stack([each.sum(0) for each in y])


class Binary(nn.Module):
    """Arithmetic and comparisons of floats and of integers, with broadcasting."""

    def forward(self, a, b, i, j):
        floats = a + b, a - 2 * b, a * b, a / (b.abs() + 1), torch.minimum(a, b), a**2.0
        floats += (a.abs() ** b, torch.div(a, b.abs() + 1, rounding_mode="floor"))
        tests = (a > b) | (a <= 0.5), (a == b) & (a >= b), ~(a < b), i < j, i.ne(3), i >= 2
        tests += torch.logical_and(a > 0, b > 0), torch.logical_or(a > 0, b > 0)
        numbers = i + j, i * j, i - j, torch.minimum(i, j), i.clamp(1, 4)
        return (torch.stack(floats), torch.stack([t.to(torch.float32) for t in tests])) + numbers


class Reductions(nn.Module):
    def forward(self, x):
        y = [x.mean((2, 3)), x.sum((1,)).mean(1), x.amax((2,)).amin((2,)), x.amin((3,)).sum(2)]
        flat = [each.flatten() for each in y]
        return torch.cat(flat), x.argmax(3), x.argmin(1, keepdim=True), x.log_softmax(1)


class Shapes(nn.Module):
    """Movement of elements."""

    def forward(self, x, table, picks):
        y = x.permute(0, 2, 3, 1).reshape(2, 8, -1).unsqueeze(1)[:, :, 1:7:2]
        first, second = torch.split(y, [5, y.shape[3] - 5], 3)
        z = torch.cat([second.flip(2), F.pad(first, (1, 2, 0, 0), value=0.5)], 3)
        rows = table.index_select(0, picks), table[picks], torch.gather(table, 1, picks[None])
        wide = z.expand(2, 3, 3, -1).repeat(1, 2, 1, 1).select(1, 4)
        shuffled = F.pixel_shuffle(x, 2).unfold(3, 4, 2).squeeze((0,))
        return (wide, shuffled, x.transpose(1, 3).contiguous()) + rows


class Creation(nn.Module):
    """Tensors that are made of numbers, and choices between tensors."""

    def forward(self, x):
        steps = torch.arange(0, x.shape[1], 1, dtype=torch.float32) * 0.5
        mask = torch.full((x.shape[0], x.shape[1]), -1.5) + torch.zeros_like(x)
        low = torch.where(x > steps, x + torch.ones(x.shape[1]), mask)
        return low + torch.full_like(x, 0.25) * torch.tensor(3.0), (x > 0).to(torch.int32)


class Norms(nn.Module):
    def __init__(self):
        super().__init__()
        self.batch = nn.BatchNorm2d(6)
        self.group = nn.GroupNorm(2, 6)
        self.layer = nn.LayerNorm([5, 4])
        self.scale = nn.Parameter(torch.rand(4))

    def forward(self, x):
        y = self.layer(self.group(self.batch(x)))
        return y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6) * self.scale


class Warp(nn.Module):
    """Sampling at places that a grid gives, and enlarging."""

    def forward(self, x, grid):
        y = F.grid_sample(x, grid, padding_mode="border", align_corners=True)
        up = F.interpolate(y, scale_factor=2.0, mode="bilinear", align_corners=False)
        return F.interpolate(up, size=(9, 11), mode="nearest"), F.avg_pool2d(up, 3, 2, 1)


class Speech(nn.Module):
    """Convolutions of one dimension: by points, by channels, and strided."""

    def __init__(self):
        super().__init__()
        self.points = nn.Conv1d(8, 16, 1)
        self.channels = nn.Conv1d(16, 16, 5, padding=2, groups=16)
        self.stride = nn.Conv1d(16, 8, 3, stride=2, padding=1)

    def forward(self, x):
        return self.stride(F.hardtanh(self.channels(self.points(x).relu())))


class Detector(nn.Module):
    """Boxes at a grid of points: the exporter has an operator for the points."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(), nn.Conv2d(8, 8, 3, 2, 1))
        self.boxes = nn.Conv2d(8, 4, 1)
        self.scores = nn.Conv2d(8, 3, 1)

    def forward(self, x, picks):
        x = self.features(x).relu()
        points = torch.ops.et_vk.grid_priors(x, 4, 0.5)
        away = self.boxes(x).flatten(2)[0].transpose(0, 1).exp()
        corners = torch.cat([points - away[:, :2], points + away[:, 2:]], 1)
        scores = self.scores(x).flatten(2)[0].transpose(0, 1).sigmoid()
        return corners.index_select(0, picks), scores.amax(1), scores.argmax(1, keepdim=True)


class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, 2, 1)
        self.middle = nn.Conv2d(8, 16, 3, 2, 1, bias=False)
        self.up = nn.ConvTranspose2d(16, 8, 4, 2, 1, groups=1)
        self.last = nn.Conv2d(16, 2, 3, padding=2, dilation=2)

    def forward(self, x):
        first = self.down(x).relu()
        second = F.leaky_relu(self.middle(first), 0.1)
        both = torch.cat([first, self.up(second)], 1)
        return self.last(F.interpolate(both, scale_factor=2.0, mode="nearest")).sigmoid()


class Recurrent(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.layer = kind(6, 8, num_layers=2, batch_first=True)

    def forward(self, x):
        return self.layer(x)[0]


class Attention(nn.Module):
    """Attention with a mask that grows with the sequence, as decoders have it."""

    def __init__(self):
        super().__init__()
        self.project = nn.Linear(16, 48)
        self.out = nn.Linear(16, 16)
        self.register_buffer("mask", torch.full((9, 9), float("-inf")).triu(1))

    def forward(self, x):
        q, k, v = self.project(x).reshape(*x.shape[:2], 3, 2, 8).permute(2, 0, 3, 1, 4).unbind(0)
        length = x.shape[1]
        scores = q @ k.transpose(2, 3) * 0.35 + self.mask[:length, :length]
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(x.shape))


class Positions(nn.Module):
    """A number read off a tensor says where a slice begins."""

    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.randn(10, 4))
        self.linear = nn.Linear(4, 4)

    def forward(self, x, position):
        start = position[-1].item()
        torch._check(start >= 0)
        torch._check(start <= 7)
        return self.linear(x) + self.table.narrow(0, start, 3)


class Gradient(nn.Module):
    """The gradient of a weight, for which the exporter has an operator."""

    def forward(self, slope, x):
        return torch.ops.et_vk.linear_dW(slope, x) * 0.5


class Rounded(Speech):
    """Weights that float16 holds, so that it does not matter if a file has them as that."""

    def half_weights(self):
        with torch.no_grad():
            for weight in self.parameters():
                weight.copy_(weight.half().float())


class Methods(nn.Module):
    """Two methods that share weights."""

    def __init__(self):
        super().__init__()
        self.words = nn.Linear(8, 4)

    def encode(self, x):
        return self.words(x).relu()

    def decode(self, x):
        return x @ self.words.weight


class ConvNext(nn.Module):
    def __init__(self):
        super().__init__()
        self.depthwise = nn.Conv2d(8, 8, 7, padding=3, groups=8)
        self.norm = nn.LayerNorm(8)
        self.wide = nn.Linear(8, 32)
        self.narrow = nn.Linear(32, 8)
        self.scale = nn.Parameter(torch.full((8,), 0.1))

    def forward(self, x):
        y = self.norm(self.depthwise(x).permute(0, 2, 3, 1))
        y = self.narrow(F.gelu(self.wide(y), approximate="tanh")) * self.scale
        return x + y.permute(0, 3, 1, 2)


class Vision(nn.Module):
    """A vision transformer: patches, a class token, positions."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 16, 4, 4)
        self.token = nn.Parameter(torch.randn(1, 1, 16))
        self.positions = nn.Parameter(torch.randn(1, 17, 16))
        self.layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, norm_first=True)
        self.head = nn.Linear(16, 5)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.positions
        return self.head(self.layer(x)[:, 0])


def small_examples():
    """Those that are committed."""
    rows = torch.export.Dim("rows", min=3, max=9)
    ids = torch.randint(0, 20, (2, 7))
    numbers = torch.randint(0, 6, (3, 4), dtype=torch.int32)
    half = torch.export.Dim("half", min=2, max=8)
    pictures = torch.randn(1, 3, 8, 8)
    first, *rest = caches.steps(3)
    return [
        Example("convnet", Convnet(), (torch.randn(1, 3, 16, 16),)),
        Example("encoder", Encoder(), (ids,)),
        Example("sizes", Sizes(), (torch.randn(5, 12),), (torch.randn(4, 12),), ({0: rows},)),
        Example(
            "image",
            DynamicImage(),
            (torch.randn(1, 3, 8, 8),),
            (torch.randn(1, 3, 12, 8),),
            ({2: 2 * half},),
        ),
        Example("unary", Unary(), (torch.randn(4, 5),)),
        Example(
            "binary",
            Binary(),
            (torch.randn(3, 4), torch.randn(4), numbers, torch.tensor([1, 2, 3, 4]).int()),
        ),
        Example("reductions", Reductions(), (torch.randn(2, 3, 4, 5),)),
        Example(
            "shapes",
            Shapes(),
            (torch.randn(2, 4, 4, 6), torch.randn(5, 6), torch.tensor([4, 0, 2])),
        ),
        Example("creation", Creation(), (torch.randn(3, 4),)),
        Example("norms", Norms(), (torch.randn(1, 6, 5, 4),)),
        Example("warp", Warp(), (pictures, torch.rand(1, 5, 6, 2) * 2 - 1)),
        Example("speech", Speech(), (torch.randn(1, 8, 12),)),
        Example("detector", Detector(), (torch.randn(1, 3, 16, 16), torch.tensor([3, 1, 15]))),
        Example("packed", Words(), (torch.tensor([[3, 17, 23, 0, 5]]),), packs=True),
        Example(
            "integers",
            integers.Convnet(),
            (torch.randn(1, 3, 12, 12),),
            quantise=integers.with_static_scales,
        ),
        Example(
            "rows",
            integers.Layers(),
            (torch.randn(3, 32),),
            quantise=integers.with_rows_of_four_bits,
        ),
        Example(
            "weights",
            integers.Layers(),
            (torch.randn(3, 32),),
            quantise=integers.with_weights_of_four_bits,
        ),
        Example("cache", caches.CachedAttention(), first, steps=rest),
        Example("positions", Positions(), (torch.randn(3, 4), torch.tensor([1, 5]))),
        Example("gradient", Gradient(), (torch.randn(2, 4, 3), torch.randn(2, 4, 6))),
        Example(
            "methods",
            Methods(),
            (),
            args={"encode": (torch.randn(2, 8),), "decode": (torch.randn(2, 4),)},
        ),
    ]


def large_examples():
    """Those that are exported anew for each run of scripts/compat.sh."""
    import vision_models  # noqa: F401  declares torchvision's operators
    from torchvision import models as vision

    length = torch.export.Dim("length", min=2, max=8)
    batch = torch.export.Dim("batch", min=2, max=6)
    image = torch.randn(1, 3, 64, 64)
    return [
        Example("mobilenet_v2", vision.mobilenet_v2(), (image,)),
        Example("mobilenet_v3_small", vision.mobilenet_v3_small(), (image,)),
        Example("resnet18", vision.resnet18(), (image,)),
        Example("squeezenet", vision.squeezenet1_1(), (image,)),
        Example("shufflenet", vision.shufflenet_v2_x0_5(), (image,)),
        Example("efficientnet_b0", vision.efficientnet_b0(), (image,)),
        Example("unet", Unet(), (torch.randn(1, 3, 32, 32),)),
        Example("convnext", ConvNext(), (torch.randn(1, 8, 12, 12),)),
        Example("vision", Vision(), (torch.randn(3, 3, 16, 16),)),
        Example("lstm", Recurrent(nn.LSTM), (torch.randn(2, 5, 6),)),
        Example("gru", Recurrent(nn.GRU), (torch.randn(2, 5, 6),)),
        Example(
            "attention",
            Attention(),
            (torch.randn(2, 6, 16),),
            (torch.randn(2, 5, 16),),
            ({1: length},),
        ),
        Example(
            "dynamic_batch",
            Recurrent(nn.LSTM),
            (torch.randn(3, 5, 6),),
            (torch.randn(5, 5, 6),),
            ({0: batch},),
        ),
        Example(
            "buffers",
            ConvNext(),
            (torch.randn(1, 8, 12, 12),),
            options={"storage_type_override": 0},
        ),
        # Its weights are rounded to float16, and these are what is compared.
        Example(
            "float16",
            Rounded(),
            (torch.randn(1, 8, 12),),
            options={"force_fp16": True},
        ),
        Example(
            "wide",
            Shapes(),
            (torch.randn(2, 4, 4, 6), torch.randn(5, 6), torch.tensor([4, 0, 2])),
            options={"downcast_64_bit": False},
        ),
    ]
