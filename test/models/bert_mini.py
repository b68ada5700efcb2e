"""BERT-mini: token, position and type embeddings, masked self-attention, tanh pooler."""

import torch
from torch import nn
from torch.nn import functional as F

from model import Model, randint


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)
        self.norm1 = nn.LayerNorm(width, eps=1e-12)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)
        self.norm2 = nn.LayerNorm(width, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def split(self, x):
        batch, length, width = x.shape
        return x.view(batch, length, self.heads, width // self.heads).permute(0, 2, 1, 3)

    def forward(self, x, mask):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        y = y.transpose(1, 2).reshape(x.shape)
        x = self.norm1(x + self.dropout(self.output(y)))
        y = self.down(F.gelu(self.up(x)))
        return self.norm2(x + self.dropout(y))


class BertMini(nn.Module):
    def __init__(self, vocabulary, width, layers, heads, longest):
        super().__init__()
        self.word = nn.Embedding(vocabulary, width, padding_idx=0)
        self.position = nn.Embedding(longest, width)
        self.kind = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.dropout = nn.Dropout(0.1)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.pooler = nn.Linear(width, width)
        self.register_buffer("position_ids", torch.arange(longest).unsqueeze(0), persistent=False)

    def forward(self, input_ids, attention_mask, token_type_ids):
        positions = self.position_ids[:, : input_ids.size(1)]
        x = self.word(input_ids) + self.position(positions) + self.kind(token_type_ids)
        x = self.dropout(self.norm(x))
        mask = (1.0 - attention_mask[:, None, None, :].to(x.dtype)) * torch.finfo(x.dtype).min
        mask = mask.expand(-1, -1, input_ids.size(1), -1)
        for layer in self.layers:
            x = layer(x, mask)
        return x, torch.tanh(self.pooler(x[:, 0]))


def inputs(vocabulary, batch, length, padding, seed=1):
    ids = randint(vocabulary - 1, batch, length, seed=seed) + 1
    attention = torch.ones(batch, length, dtype=torch.int64)
    types = torch.zeros(batch, length, dtype=torch.int64)
    types[:, length // 2 :] = 1
    if padding:
        ids[-1, -padding:] = 0
        attention[-1, -padding:] = 0
    return ids, attention, types


def models(full):
    vocabulary, width, layers, heads, length = (
        (30522, 256, 4, 4, 128) if full else (96, 32, 2, 4, 16)
    )
    net = BertMini(vocabulary, width, layers, heads, 512 if full else 32)
    args = inputs(vocabulary, 1 if full else 2, length, length // 4)
    return [Model("bert_mini", net, args, decomposed=not full)]
