"""torch.nn: recurrent networks, Transformers, 1-d and 3-d convolutions, custom networks."""

import inspect

import torch
from torch import nn
from torch.nn import functional as F

from entry import Entry, ids, randn


class Recurrent(nn.Module):
    """A recurrent layer and a head on its last step."""

    def __init__(self, kind, **options):
        super().__init__()
        self.layer = kind(12, 20, num_layers=2, batch_first=True, **options)
        self.head = nn.Linear(40 if options.get("bidirectional") else 20, 5)

    def forward(self, x):
        y, state = self.layer(x)
        return self.head(y[:, -1]), state


class Cells(nn.Module):
    """Recurrent cells in a Python loop."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.LSTMCell(8, 16), nn.GRUCell(16, 12)

    def forward(self, x):
        h, c = torch.zeros(x.shape[0], 16), torch.zeros(x.shape[0], 16)
        g = torch.zeros(x.shape[0], 12)
        out = []
        for t in range(x.shape[1]):
            h, c = self.first(x[:, t], (h, c))
            g = self.second(h, g)
            out.append(g)
        return torch.stack(out, 1)


class Translator(nn.Module):
    """nn.Transformer with embeddings and masks."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 32)
        self.core = nn.Transformer(32, 4, 2, 2, 64, batch_first=True)
        self.head = nn.Linear(32, 50)

    def forward(self, source, target):
        mask = nn.Transformer.generate_square_subsequent_mask(target.shape[1])
        y = self.core(self.embed(source), self.embed(target), tgt_mask=mask, tgt_is_causal=True)
        return self.head(y)


class Padded(nn.Module):
    """An encoder with a mask of padded positions."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=True)
        self.core = nn.TransformerEncoder(layer, 2)

    def forward(self, x, padded):
        return self.core(x, src_key_padding_mask=padded)


class Attention(nn.Module):
    """nn.MultiheadAttention with different widths of key and value; also returns its weights."""

    def __init__(self):
        super().__init__()
        self.core = nn.MultiheadAttention(24, 4, kdim=10, vdim=14, batch_first=True)

    def forward(self, q, k, v):
        return self.core(q, k, v)


class Wave(nn.Module):
    """Gated dilated causal convolutions, as in WaveNet."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv1d(1, 16, 1)
        self.gates = nn.ModuleList(nn.Conv1d(16, 32, 2, dilation=2**i) for i in range(5))
        self.skips = nn.ModuleList(nn.Conv1d(16, 16, 1) for i in range(5))
        self.last = nn.Conv1d(16, 8, 1)

    def forward(self, x):
        x, total = self.first(x), 0
        for gate, skip in zip(self.gates, self.skips):
            a, b = gate(F.pad(x, (gate.dilation[0], 0))).chunk(2, 1)
            y = skip(torch.tanh(a) * torch.sigmoid(b))
            x, total = x + y, total + y
        return self.last(F.relu(total))


class Volume(nn.Module):
    """A 3-d U-Net with one level of downsampling."""

    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(nn.Conv3d(1, 8, 3, padding=1), nn.InstanceNorm3d(8), nn.ReLU())
        self.middle = nn.Sequential(nn.MaxPool3d(2), nn.Conv3d(8, 16, 3, padding=1), nn.ELU())
        self.up = nn.ConvTranspose3d(16, 8, 2, stride=2)
        self.wide = nn.Upsample(scale_factor=2, mode="trilinear", align_corners=False)
        self.last = nn.Conv3d(32, 2, 1)

    def forward(self, x):
        a = self.down(x)
        b = self.middle(a)
        return self.last(torch.cat([a, self.up(b), self.wide(b)], 1))


class Denoiser(nn.Module):
    """A diffusion model's U-Net: time embedding, group norm, attention at the bottom."""

    def __init__(self):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(16, 32), nn.SiLU(), nn.Linear(32, 32))
        self.first = nn.Conv2d(3, 32, 3, padding=1)
        self.norm, self.down = nn.GroupNorm(8, 32), nn.Conv2d(32, 32, 3, 2, 1)
        self.qkv, self.out = nn.Conv2d(32, 96, 1), nn.Conv2d(32, 32, 1)
        self.last = nn.Conv2d(64, 3, 3, padding=1)

    def forward(self, x, t):
        frequency = torch.exp(torch.arange(8) * -(9.2 / 7))
        angle = t[:, None].float() * frequency[None]
        time = self.time(torch.cat([angle.sin(), angle.cos()], -1))
        a = F.silu(self.norm(self.first(x) + time[:, :, None, None]))
        b = self.down(a)
        n, c, h, w = b.shape
        q, k, v = self.qkv(b).reshape(n, 3, 4, c // 4, h * w).transpose(-1, -2).unbind(1)
        y = F.scaled_dot_product_attention(q, k, v).transpose(-1, -2).reshape(n, c, h, w)
        b = F.interpolate(b + self.out(y), scale_factor=2, mode="nearest")
        return self.last(torch.cat([a, b], 1))


class Recommender(nn.Module):
    """Embedding tables, pairwise dot products and a perceptron, as in DLRM."""

    def __init__(self):
        super().__init__()
        self.bags = nn.ModuleList(nn.EmbeddingBag(40, 8, mode=m) for m in ("sum", "mean", "max"))
        self.dense = nn.Sequential(nn.Linear(5, 8), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(14, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())

    def forward(self, dense, sparse):
        x = self.dense(dense)
        all_ = torch.stack([x] + [bag(sparse[:, i]) for i, bag in enumerate(self.bags)], 1)
        dots = torch.bmm(all_, all_.transpose(1, 2))
        i, j = torch.tril_indices(4, 4, -1)
        return self.top(torch.cat([x, dots[:, i, j]], 1))


class Graph(nn.Module):
    """Message passing over an edge list: gather, transform, scatter."""

    def __init__(self):
        super().__init__()
        self.message, self.update = nn.Linear(16, 8), nn.GRUCell(8, 8)

    def forward(self, x, edges):
        for _ in range(2):
            m = F.relu(self.message(torch.cat([x[edges[0]], x[edges[1]]], -1)))
            total = torch.zeros_like(x).index_add(0, edges[1], m)
            most = torch.zeros_like(x).scatter_reduce(
                0, edges[1][:, None].expand_as(m), m, "amax", include_self=False
            )
            x = self.update(total + most, x)
        return x, torch.softmax(x.sum(-1), 0)


class Warper(nn.Module):
    """A spatial transformer: an affine grid from a small network, and grid sampling."""

    def __init__(self):
        super().__init__()
        self.where = nn.Sequential(
            nn.Conv2d(1, 4, 5), nn.MaxPool2d(2), nn.Flatten(), nn.LazyLinear(6), nn.Tanh()
        )
        self.where(torch.zeros(1, 1, 20, 20))

    def forward(self, x):
        grid = F.affine_grid(self.where(x).view(-1, 2, 3), x.size(), align_corners=False)
        return F.grid_sample(x, grid, mode="bilinear", padding_mode="border", align_corners=False)


class Field(nn.Module):
    """A radiance field: positional encoding, a perceptron, and a sum along rays."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(39, 32), nn.Softplus(), nn.Linear(32, 4))

    def forward(self, origin, direction):
        t = torch.linspace(0.1, 2.0, 12)
        x = origin[:, None] + direction[:, None] * t[:, None]
        parts = [x] + [f(x * 2.0**i) for i in range(6) for f in (torch.sin, torch.cos)]
        y = self.net(torch.cat(parts, -1))
        alpha = 1 - torch.exp(-F.relu(y[..., 3]) * 0.16)
        seen = torch.cumprod(torch.cat([torch.ones(len(x), 1), 1 - alpha + 1e-10], 1), 1)[:, :-1]
        return ((alpha * seen)[..., None] * torch.sigmoid(y[..., :3])).sum(1)


class Generator(nn.Module):
    """DCGAN's generator with a PixelShuffle at the end."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.ConvTranspose2d(16, 32, 4, 1, 0, bias=False), nn.BatchNorm2d(32), nn.ReLU(True),
            nn.ConvTranspose2d(32, 16, 4, 2, 1, output_padding=1), nn.LeakyReLU(0.2, True),
            nn.Conv2d(16, 12, 3, padding=1, padding_mode="reflect"), nn.PixelShuffle(2), nn.Tanh(),
        )  # fmt: skip

    def forward(self, z):
        return self.net(z[:, :, None, None])


class Listener(nn.Module):
    """Like Wav2Letter: a spectrogram, then strided convolutions and log probabilities."""

    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.hann_window(64))
        self.net = nn.Sequential(
            nn.Conv1d(33, 32, 7, 2, 3), nn.ReLU(), nn.Conv1d(32, 32, 5, groups=4), nn.Hardtanh(),
            nn.Conv1d(32, 12, 1), nn.LogSoftmax(1),
        )  # fmt: skip

    def forward(self, x):
        frames = F.pad(x[:, None], (32, 32), mode="reflect")[:, 0].unfold(-1, 64, 16)
        k = torch.arange(33)[:, None] * torch.arange(64)[None] * (2 * torch.pi / 64)
        re, im = (frames * self.window) @ torch.cos(k).T, (frames * self.window) @ torch.sin(k).T
        return self.net(torch.log1p(re.square() + im.square()).transpose(1, 2))


class Conformer(nn.Module):
    """A Conformer block: half-step feed-forward layers, attention, gated depthwise convolution."""

    def __init__(self, d=32):
        super().__init__()
        half = lambda: nn.Sequential(nn.LayerNorm(d), nn.Linear(d, 64), nn.SiLU(), nn.Linear(64, d))
        self.a, self.b, self.norm = half(), half(), nn.LayerNorm(d)
        self.attend = nn.MultiheadAttention(d, 4, batch_first=True)
        self.conv = nn.Sequential(
            nn.Conv1d(d, 2 * d, 1), nn.GLU(1), nn.Conv1d(d, d, 7, padding="same", groups=d),
            nn.BatchNorm1d(d), nn.SiLU(), nn.Conv1d(d, d, 1),
        )  # fmt: skip

    def forward(self, x):
        x = x + 0.5 * self.a(x)
        y = self.norm(x)
        x = x + self.attend(y, y, y, need_weights=False)[0]
        x = x + self.conv(x.transpose(1, 2)).transpose(1, 2)
        return x + 0.5 * self.b(x)


class Tiny(nn.Module):
    """Networks like those of MLPerf Tiny: a depthwise convolutional one and an autoencoder."""

    def __init__(self):
        super().__init__()
        self.speech = nn.Sequential(
            nn.Conv2d(1, 16, (10, 4), (2, 2), (5, 1)), nn.BatchNorm2d(16), nn.ReLU6(),
            nn.Conv2d(16, 16, 3, padding=1, groups=16), nn.Conv2d(16, 16, 1), nn.Hardswish(),
            nn.AvgPool2d((5, 3), ceil_mode=True, count_include_pad=False), nn.AdaptiveAvgPool2d(2),
            nn.Flatten(), nn.LazyLinear(12), nn.Softmax(-1),
        )  # fmt: skip
        self.sound = nn.Sequential(
            nn.Linear(64, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 4), nn.PReLU(),
            nn.Linear(4, 64), nn.Mish(),
        )  # fmt: skip
        self.speech(torch.zeros(1, 1, 49, 10)) if not self.training else None
        self.eval()
        self.speech(torch.zeros(1, 1, 49, 10))

    def forward(self, words, noise):
        return self.speech(words), F.mse_loss(self.sound(noise), noise, reduction="none").mean(-1)


# (name, kind, module, arguments)
def table():
    x = randn(2, 7, 12)
    return [
        ("rnn", "recurrent", lambda: Recurrent(nn.RNN), (x,)),
        ("rnn_relu", "recurrent", lambda: Recurrent(nn.RNN, nonlinearity="relu"), (x,)),
        ("lstm", "recurrent", lambda: Recurrent(nn.LSTM), (x,)),
        ("lstm_bidirectional", "recurrent", lambda: Recurrent(nn.LSTM, bidirectional=True), (x,)),
        ("gru_bidirectional", "recurrent", lambda: Recurrent(nn.GRU, bidirectional=True), (x,)),
        ("cells", "recurrent", Cells, (randn(2, 5, 8),)),
        ("transformer", "encoder-decoder", Translator, (ids(2, 7, high=50), ids(2, 5, high=50))),
        ("transformer_padded", "encoder", Padded, (randn(2, 6, 32), ids(2, 6, high=2) == 1)),
        ("multihead_attention", "encoder", Attention,
         (randn(2, 5, 24), randn(2, 6, 10), randn(2, 6, 14))),
        ("wavenet", "1-d", Wave, (randn(2, 1, 80),)),
        ("listener", "1-d", Listener, (randn(2, 480),)),
        ("conformer_block", "1-d", Conformer, (randn(2, 20, 32),)),
        ("unet_3d", "3-d", Volume, (randn(1, 1, 8, 12, 10),)),
        ("diffusion_unet", "generative", Denoiser, (randn(2, 3, 16, 16), ids(2, high=900))),
        ("dcgan", "generative", Generator, (randn(2, 16),)),
        ("radiance_field", "generative", Field, (randn(6, 3), randn(6, 3, seed=5))),
        ("recommender", "tabular", Recommender, (randn(3, 5), ids(3, 3, 4, high=40))),
        ("graph_net", "graph", Graph, (randn(9, 8), ids(2, 20, high=9))),
        ("spatial_transformer", "mixed", Warper, (randn(2, 1, 20, 20),)),
        ("mlperf_tiny", "mixed", Tiny, (randn(2, 1, 49, 10), randn(2, 64))),
    ]  # fmt: skip


QUICK = {"lstm", "transformer", "unet_3d", "graph_net"}


def entries():
    source = inspect.getsource(inspect.getmodule(Entry)) and open(__file__).read()
    return [
        Entry(f"torch.nn/{name}", family, lambda make=make, args=args: (make(), args), source,
              name in QUICK)
        for name, family, make, args in table()
    ]  # fmt: skip
