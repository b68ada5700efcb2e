"""A decoder with 4-bit weights and a cache of keys and values, as language models are exported for
devices: rotary embeddings of halves, keys and values that groups of heads share, a table that is
packed like the other weights, and a counter of the tokens so far.
"""

import torch
from torch import nn
from torch.nn import functional as F

from model import Case, Model, settle

WIDTH, HEADS, SHARED, LONGEST, WORDS = 64, 4, 2, 12, 40
DEPTH = WIDTH // HEADS


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.linspace(0.5, 1.5, WIDTH))

    def forward(self, x):
        scale = torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * (x * scale)


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = Norm(), nn.RMSNorm(WIDTH, eps=1e-6)
        self.q = nn.Linear(WIDTH, WIDTH)
        self.k = nn.Linear(WIDTH, SHARED * DEPTH, bias=False)
        self.v = nn.Linear(WIDTH, SHARED * DEPTH, bias=False)
        self.o = nn.Linear(WIDTH, WIDTH, bias=False)
        self.gate = nn.Linear(WIDTH, 96, bias=False)
        self.up = nn.Linear(WIDTH, 96, bias=False)
        self.down = nn.Linear(96, WIDTH, bias=False)
        self.register_buffer("keys", torch.zeros(1, SHARED, LONGEST, DEPTH))
        self.register_buffer("values", torch.zeros(1, SHARED, LONGEST, DEPTH))

    def forward(self, x, position, cos, sin, mask):
        def heads(y):
            return y.view(1, -1, y.shape[-1] // DEPTH, DEPTH).transpose(1, 2)

        def repeated(y):
            return y[:, :, None].expand(1, SHARED, HEADS // SHARED, LONGEST, DEPTH).reshape(
                1, HEADS, LONGEST, DEPTH)

        y = self.norm1(x)
        q, k = rotate(heads(self.q(y)), cos, sin), rotate(heads(self.k(y)), cos, sin)
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, heads(self.v(y)))
        y = F.scaled_dot_product_attention(q, repeated(self.keys), repeated(self.values),
                                           attn_mask=mask)
        x = x + self.o(y.transpose(1, 2).reshape(1, -1, WIDTH))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(2))
        self.norm = Norm()
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        angles = torch.outer(torch.arange(LONGEST), 100.0 ** (-torch.arange(0, DEPTH, 2) / DEPTH))
        self.register_buffer("cos", angles.cos().repeat(1, 2))
        self.register_buffer("sin", angles.sin().repeat(1, 2))
        self.register_buffer("places", torch.arange(LONGEST))
        self.register_buffer("count", torch.zeros((), dtype=torch.int32))

    def forward(self, tokens, position):
        x = self.table(tokens)
        cos, sin = self.cos[position], self.sin[position]
        mask = self.places <= position[:, None]
        for layer in self.layers:
            x = layer(x, position, cos, sin, mask)
        self.count += position.shape[0]
        return self.head(self.norm(x)), self.count.clone()


def packed(module):
    from torchao.quantization import IntxWeightOnlyConfig, PerGroup, quantize_
    from torchao.utils import unwrap_tensor_subclass

    config = IntxWeightOnlyConfig(weight_dtype=torch.int4, granularity=PerGroup(32))
    quantize_(module, config, lambda part, _: isinstance(part, (nn.Linear, nn.Embedding)))
    return unwrap_tensor_subclass(module)


def step(tokens, first):
    return torch.tensor([tokens]), torch.arange(first, first + len(tokens))


def models(full):
    torch.manual_seed(0)
    net = settle(Decoder(), 3)
    steps = [step([7], 0), step([21], 1), step([3], 2)]
    prompt = [step([5, 9, 30, 2, 11, 4], 0)]
    return [
        Model("int4_decoder", packed(net), steps[0], cases=[Case("int4_decoder", steps)]),
        Model("int4_prompt", packed(settle(Decoder(), 3)), prompt[0],
              cases=[Case("int4_prompt", prompt)]),
    ]
