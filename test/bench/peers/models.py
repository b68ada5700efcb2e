"""The models that all peers are measured on: full size, seeded random weights, batch 1."""

import importlib.util
import math
import pathlib
from dataclasses import dataclass
from typing import Callable

import torch
from torch import nn
from torch.nn import functional as F


def has_torchvision_operators():
    """Loads torchvision's C++ operators; False if they are of another PyTorch."""
    found = importlib.util.find_spec("torchvision")
    for file in pathlib.Path(found.origin).parent.glob("_C.*") if found else ():
        try:
            torch.ops.load_library(str(file))
            return True
        except OSError:
            pass
    return False


if not has_torchvision_operators():  # Stand-ins; no model here uses them.
    _library = torch.library.Library("torchvision", "DEF")
    _library.define("nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _library.define("qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")


@dataclass
class Entry:
    """`make` returns the module and its arguments; `int8`: also measure it quantised."""

    make: Callable
    int8: bool = False


def image(size=224):
    return (torch.randn(1, 3, size, size),)


def vision(name):
    def make():
        import torchvision

        return getattr(torchvision.models, name)(weights=None), image()

    return make


def timm_model(name):
    def make():
        import timm

        return timm.create_model(name), image()

    return make


def bert():
    from transformers import BertConfig, BertModel

    config = BertConfig(hidden_size=256, num_hidden_layers=4, num_attention_heads=4,
                        intermediate_size=1024)  # fmt: skip

    class Bert(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = BertModel(config)

        def forward(self, ids, mask):
            out = self.model(ids, attention_mask=mask)
            return out.last_hidden_state, out.pooler_output

    return Bert(), (torch.randint(0, 30000, (1, 128)), torch.ones(1, 128, dtype=torch.int64))


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * self.weight


class Block(nn.Module):
    """Causal attention with rotary position embeddings, and a gated feed-forward layer."""

    def __init__(self, width, heads, hidden):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = Norm(width), Norm(width)
        self.q, self.k, self.v, self.o = (nn.Linear(width, width, bias=False) for _ in range(4))
        self.gate, self.up = (nn.Linear(width, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, width, bias=False)

    def split(self, x):
        return x.view(1, x.shape[1], self.heads, -1).transpose(1, 2)

    @staticmethod
    def turn(x, cos, sin):
        a, b = x.chunk(2, -1)
        return torch.cat([a * cos - b * sin, a * sin + b * cos], -1)

    def forward(self, x, cos, sin, mask, past_k=None, past_v=None):
        y = self.norm1(x)
        q, k = (self.turn(self.split(f(y)), cos, sin) for f in (self.q, self.k))
        v = self.split(self.v(y))
        if past_k is not None:
            k, v = torch.cat([past_k, k], 2), torch.cat([past_v, v], 2)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        x = x + self.o(y.transpose(1, 2).reshape(x.shape))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y)), k, v


class Llama(nn.Module):
    """A Llama-style decoder. The caches of `past` tokens are inputs and outputs."""

    def __init__(self, length, past, width=288, heads=6, layers=6, hidden=768, words=32000):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.blocks = nn.ModuleList(Block(width, heads, hidden) for _ in range(layers))
        self.norm, self.out = Norm(width), nn.Linear(width, words, bias=False)
        half = width // heads // 2
        angle = torch.arange(past, past + length)[:, None] * torch.exp(
            -math.log(10000.0) * torch.arange(half) / half
        )
        self.register_buffer("cos", angle.cos())
        self.register_buffer("sin", angle.sin())
        seen = torch.ones(length, past + length).tril(past)
        self.register_buffer("mask", torch.zeros_like(seen).masked_fill(seen == 0, -1e9))

    def forward(self, ids, past_k=None, past_v=None):
        x, keys, values = self.embed(ids), [], []
        for i, block in enumerate(self.blocks):
            past = (None, None) if past_k is None else (past_k[i], past_v[i])
            x, k, v = block(x, self.cos, self.sin, self.mask, *past)
            keys.append(k)
            values.append(v)
        return self.out(self.norm(x[:, -1])), torch.stack(keys), torch.stack(values)


def llama_prefill():
    return Llama(64, 0), (torch.randint(0, 32000, (1, 64)),)


def llama_decode():
    cache = (torch.randn(6, 1, 6, 64, 48), torch.randn(6, 1, 6, 64, 48))
    return Llama(1, 64), (torch.randint(0, 32000, (1, 1)), *cache)


class UNet(nn.Module):
    def __init__(self, widths=(16, 32, 64, 128)):
        super().__init__()

        def twice(a, b):
            layers = []
            for c in (a, b):
                layers += [nn.Conv2d(c, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU()]
            return nn.Sequential(*layers)

        self.down = nn.ModuleList(twice(a, b) for a, b in zip((3, *widths), widths))
        pairs = list(zip(widths[:0:-1], widths[-2::-1]))
        self.up = nn.ModuleList(nn.ConvTranspose2d(a, b, 2, 2) for a, b in pairs)
        self.join = nn.ModuleList(twice(a, b) for a, b in pairs)
        self.out = nn.Conv2d(widths[0], 2, 1)

    def forward(self, x):
        kept = []
        for i, down in enumerate(self.down):
            x = down(x if i == 0 else F.max_pool2d(x, 2))
            kept.append(x)
        for up, join, skip in zip(self.up, self.join, kept[-2::-1]):
            x = join(torch.cat([up(x), skip], 1))
        return self.out(x)


class DsCnn(nn.Module):
    """A keyword-spotting network: 49 frames of 10 coefficients, 12 words."""

    def __init__(self, width=64):
        super().__init__()

        def after(conv):
            return [conv, nn.BatchNorm2d(width), nn.ReLU()]

        layers = after(nn.Conv2d(1, width, (10, 4), 2, (5, 1), bias=False))
        for _ in range(4):
            layers += after(nn.Conv2d(width, width, 3, padding=1, groups=width, bias=False))
            layers += after(nn.Conv2d(width, width, 1, bias=False))
        self.layers = nn.Sequential(
            *layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 12)
        )

    def forward(self, x):
        return self.layers(x)


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(64, 256, 2, batch_first=True)
        self.out = nn.Linear(256, 64)

    def forward(self, x):
        return self.out(self.lstm(x)[0])


ENTRIES = {
    "mobilenet_v1": Entry(timm_model("mobilenetv1_100"), int8=True),
    "mobilenet_v2": Entry(vision("mobilenet_v2"), int8=True),
    "mobilenet_v3_small": Entry(vision("mobilenet_v3_small"), int8=True),
    "resnet18": Entry(vision("resnet18"), int8=True),
    "resnet50": Entry(vision("resnet50"), int8=True),
    "efficientnet_b0": Entry(vision("efficientnet_b0")),
    "squeezenet": Entry(vision("squeezenet1_1"), int8=True),
    "convnext_atto": Entry(timm_model("convnext_atto")),
    "vit_tiny": Entry(timm_model("vit_tiny_patch16_224"), int8=True),
    "bert_mini": Entry(bert, int8=True),
    "llama_prefill": Entry(llama_prefill),
    "llama_decode": Entry(llama_decode),
    "unet": Entry(lambda: (UNet(), image())),
    "ds_cnn": Entry(lambda: (DsCnn(), (torch.randn(1, 1, 49, 10),)), int8=True),
    "lstm": Entry(lambda: (Lstm(), (torch.randn(1, 50, 64),))),
}

CALL = "call"  # Nothing but what a call costs: it is shown beside the models, not among them.


class AddOne(nn.Module):
    def forward(self, x):
        return x + 1


def entry_of(name):
    """One of the models above, CALL, or an architecture of breadth.py."""
    if name in ENTRIES:
        return ENTRIES[name]
    if name == CALL:
        return Entry(lambda: (AddOne(), (torch.randn(1, 1, 1, 1),)))
    import breadth

    return breadth.ENTRIES[name]


def make(name):
    """The module in inference mode and its arguments, the same ones every time."""
    torch.manual_seed(0)
    module, args = entry_of(name).make()
    module.eval()
    settle(module, args)
    return module, args


def settle(module, args):
    """Gives batch norms the statistics of some inputs, as training would. Without, values shrink
    from layer to layer until nothing but zeros is left of them in int8."""
    norms = [m for m in module.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None  # The mean over all batches.
        norm.train()
    if norms:
        with torch.no_grad():
            module(*[torch.randn(4, *a.shape[1:]) for a in args])
    module.eval()
