"""Dynamic sizes: a CNN and an MLP with a dynamic batch size, encoders with a dynamic length, and a
decoder's step whose past is empty at first.
"""

import torch
from torch import nn
from torch.export import Dim

import bert_mini
from model import Case, Model, randint, randn, settle


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3, 2, 1)
        self.bn = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 12, 3, 1, 1)
        self.fc = nn.Linear(12, 5)

    def forward(self, x):
        x = torch.relu(self.bn(self.conv1(x)))
        x = nn.functional.max_pool2d(torch.relu(self.conv2(x)), 2)
        return self.fc(x.mean((2, 3)))


class Mlp(nn.Module):
    """Sizes computed from other sizes: rows times two, a view with -1, a slice to one half."""

    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 8)
        self.fc2 = nn.Linear(8, 4)

    def forward(self, x, y):
        z = torch.cat([x, y], dim=0)
        z = self.fc2(torch.relu(self.fc1(z)))
        pairs = z.view(-1, 8)
        ramp = torch.arange(z.shape[0], dtype=torch.float32).unsqueeze(1)
        return pairs, z[: x.shape[0]] + ramp[x.shape[0] :], z.shape[0] // 2


class Encoder(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.embedding = nn.Embedding(40, width)
        layer = nn.TransformerEncoderLayer(
            width, heads, 2 * width, activation="gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, ids):
        x = self.encoder(self.embedding(ids), is_causal=True, mask=self.mask(ids.shape[1]))
        return torch.log_softmax(x, -1)

    def mask(self, length):
        return torch.full((length, length), float("-inf")).triu(1)


class Step(nn.Module):
    """Attends to the past and to one new position."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.inner = nn.Linear(width, 3 * width)
        self.outer = nn.Linear(width, width)

    def forward(self, x, keys, values):
        q, k, v = (t.unflatten(2, (self.heads, -1)) for t in self.inner(x).chunk(3, 2))
        keys, values = torch.cat([keys, k], 1), torch.cat([values, v], 1)
        scores = q.transpose(1, 2) @ keys.permute(0, 2, 3, 1)
        mixed = scores.softmax(-1) @ values.transpose(1, 2)
        return self.outer(mixed.transpose(1, 2).flatten(2)), keys, values


def past(length):
    cache = (1, length, 2, 8)
    return randn(1, 1, 16, seed=length), randn(*cache, seed=20), randn(*cache, seed=21)


def models(full):
    batch = {0: Dim("batch", min=1, max=8)}
    length = {1: Dim("length", min=2, max=16)}
    pictures = {n: (randn(n, 3, 16, 16, seed=n),) for n in (3, 1, 8)}
    rows = {n: (randn(n, 6, seed=n), randn(n, 6, seed=n + 50)) for n in (4, 2, 10)}
    texts = {n: bert_mini.inputs(40, 2, n, 2, seed=n) for n in (7, 4, 16)}
    lines = {n: (randint(40, 1, n, seed=n),) for n in (6, 2, 16)}
    bert = bert_mini.BertMini(40, 16, 1, 2, 16)

    def cases(name, inputs):
        return [Case(f"{name}_{n}", [args]) for n, args in inputs.items()]

    pasts = {n: past(n) for n in (3, 0, 16)}
    positions = {1: Dim("past", min=0, max=16)}
    row = {0: Dim("rows", min=2, max=10)}
    return [
        Model(
            "dynamic_batch",
            settle(Cnn()),
            pictures[3],
            dynamic_shapes=(batch,),
            cases=cases("dynamic_batch", pictures),
        ),
        Model(
            "dynamic_rows",
            settle(Mlp()),
            rows[4],
            dynamic_shapes=(row, row),
            cases=cases("dynamic_rows", rows),
        ),
        Model(
            "dynamic_bert",
            bert,
            texts[7],
            dynamic_shapes=(length,) * 3,
            cases=cases("dynamic_bert", texts),
        ),
        Model(
            "dynamic_encoder",
            Encoder(12, 2),
            lines[6],
            dynamic_shapes=(length,),
            cases=cases("dynamic_encoder", lines),
        ),
        Model(
            "dynamic_past",
            Step(16, 2),
            pasts[3],
            dynamic_shapes=(None, positions, positions),
            cases=cases("dynamic_past", pasts),
        ),
    ]
