"""A Llama-style decoder that generates one token at a time, with a static key-value cache in
buffers.

The cache is written in two ways: by index_put_ at a position tensor, and by copying into a slice.
"""

import torch
from torch import nn
from torch.nn import functional as F

from model import Case, Model


class RMSNorm(nn.Module):
    def __init__(self, width, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps)).type_as(
            x
        ) * self.weight


def rotate(x, cos, sin):
    """Rotary embedding of adjacent pairs; x is [batch, length, heads, head width]."""
    a, b = x.float().reshape(*x.shape[:-1], -1, 2).unbind(-1)
    cos, sin = cos.unsqueeze(-2), sin.unsqueeze(-2)
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(3).type_as(x)


class Attention(nn.Module):
    def __init__(self, width, heads, kv_heads, longest, by_slice):
        super().__init__()
        self.heads, self.kv_heads, self.head_width = heads, kv_heads, width // heads
        self.by_slice = by_slice
        self.wq = nn.Linear(width, heads * self.head_width, bias=False)
        self.wk = nn.Linear(width, kv_heads * self.head_width, bias=False)
        self.wv = nn.Linear(width, kv_heads * self.head_width, bias=False)
        self.wo = nn.Linear(heads * self.head_width, width, bias=False)
        cache = torch.zeros(1, kv_heads, longest, self.head_width)
        self.register_buffer("k_cache", cache.clone())
        self.register_buffer("v_cache", cache.clone())

    def store(self, cache, position, value):
        if self.by_slice:
            start = position[0].item()
            torch._check(start >= 0)
            torch._check(start < cache.size(2))
            cache.narrow(2, start, 1).copy_(value)
        else:
            cache[:, :, position] = value
        return cache

    def forward(self, x, position, cos, sin, mask):
        batch, length, _ = x.shape
        q = rotate(self.wq(x).view(batch, length, self.heads, self.head_width), cos, sin).transpose(
            1, 2
        )
        k = rotate(
            self.wk(x).view(batch, length, self.kv_heads, self.head_width), cos, sin
        ).transpose(1, 2)
        v = self.wv(x).view(batch, length, self.kv_heads, self.head_width).transpose(1, 2)
        k = self.store(self.k_cache, position, k)
        v = self.store(self.v_cache, position, v)
        k = k.repeat_interleave(self.heads // self.kv_heads, dim=1)
        v = v.repeat_interleave(self.heads // self.kv_heads, dim=1)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return self.wo(y.transpose(1, 2).reshape(batch, length, -1))


class Layer(nn.Module):
    def __init__(self, width, heads, kv_heads, hidden, longest, by_slice):
        super().__init__()
        norm = nn.RMSNorm if by_slice else RMSNorm
        self.attention_norm, self.ffn_norm = norm(width, eps=1e-5), norm(width, eps=1e-5)
        self.attention = Attention(width, heads, kv_heads, longest, by_slice)
        self.w1 = nn.Linear(width, hidden, bias=False)
        self.w2 = nn.Linear(hidden, width, bias=False)
        self.w3 = nn.Linear(width, hidden, bias=False)

    def forward(self, x, position, cos, sin, mask):
        x = x + self.attention(self.attention_norm(x), position, cos, sin, mask)
        y = self.ffn_norm(x)
        return x + self.w2(F.silu(self.w1(y)) * self.w3(y))


class Llama(nn.Module):
    def __init__(self, vocabulary, width, layers, heads, kv_heads, hidden, longest, by_slice=False):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.layers = nn.ModuleList(
            Layer(width, heads, kv_heads, hidden, longest, by_slice) for _ in range(layers)
        )
        self.norm = RMSNorm(width)
        self.output = nn.Linear(width, vocabulary, bias=False)
        self.output.weight = self.embedding.weight  # tied
        pairs = width // heads // 2
        angle = torch.outer(torch.arange(longest), 10000.0 ** (-torch.arange(pairs) / pairs))
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)
        mask = torch.ones(longest, longest, dtype=torch.bool).tril()
        self.register_buffer("mask", mask, persistent=False)

    def forward(self, token, position):
        x = self.embedding(token)
        cos, sin = self.cos[position], self.sin[position]
        mask = self.mask[None, None, position]
        for layer in self.layers:
            x = layer(x, position, cos, sin, mask)
        return self.output(self.norm(x))


def step(token, position):
    return torch.tensor([[token]]), torch.tensor([position])


def models(full):
    sizes = (32000, 288, 6, 6, 6, 768, 256) if full else (64, 32, 2, 4, 2, 64, 16)
    steps = [step(5, 0), step(17, 1), step(40, 2)]
    found = []
    for name, by_slice in (("llama", False), ("llama_slice", True))[: 1 if full else 2]:
        net = Llama(*sizes, by_slice=by_slice)
        found.append(Model(name, net, steps[0], cases=[Case(name, steps)]))
    return found
