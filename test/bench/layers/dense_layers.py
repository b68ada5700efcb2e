"""Families that multiply, and families of windows."""

import math

import torch
import torch.nn.functional as F
from families import Call, channels, family, power, sizes_text
from torch import nn


@family("convolution")
def convolution(draw):
    dims = draw.choice([1, 1, 2, 2, 2, 2, 3])
    kernel = [draw.choice([1, 3, 3, 5, 7] if dims < 3 else [1, 3, 3, 5]) for _ in range(dims)]
    if draw.random() < 0.7:
        kernel = kernel[:1] * dims
    stride = draw.choice([1, 1, 1, 2, 2, 3])
    dilation = draw.choice([1, 1, 1, 1, 2, 3, 4])
    kind = draw.choice(["dense", "dense", "dense", "depthwise", "narrow groups", "groups"])
    inputs, outputs, groups = channels(draw), channels(draw), 1
    if kind == "depthwise":
        groups, outputs = inputs, inputs * draw.choice([1, 1, 1, 2])
    elif kind != "dense":
        each = draw.choice([2, 4, 8, 16]) if kind == "narrow groups" else draw.choice([24, 32, 64])
        groups = draw.choice([2, 4, 8, 16, 32])
        inputs, outputs = groups * each, groups * draw.choice([each, each, each // 2, 2 * each])
    batch = draw.choice([1, 1, 1, 1, 2, 4, 16])
    terms = inputs // groups * math.prod(kernel) * outputs * batch
    side = max(3, round((power(draw, 6, 8.3) / terms) ** (1 / dims))) * stride
    side = min(side, 512 if dims < 3 else 48) if dims > 1 else min(side, 20000)
    image = [max(1, side + draw.choice([0, 0, -1, 1, 3])) for _ in range(dims)]
    padding = [draw.choice([0, dilation * (k // 2), dilation * (k // 2)]) for k in kernel]
    image = [max(size, dilation * (k - 1) + 1) for size, k in zip(image, kernel)]
    make = [nn.Conv1d, nn.Conv2d, nn.Conv3d][dims - 1]
    module = make(inputs, outputs, kernel, stride, padding, dilation, groups, draw.random() < 0.8)
    x = torch.randn(batch, inputs, *image)
    return (f"{sizes_text(x)} -> {outputs}, window {'x'.join(map(str, kernel))} step {stride} "
            f"dilation {dilation} groups {groups}", module, [x])  # fmt: skip


@family("convolution with what follows")
def convolution_block(draw):
    _, conv, (x,) = convolution(draw)
    while not isinstance(conv, nn.Conv2d):
        _, conv, (x,) = convolution(draw)
    after = draw.choice(
        [nn.ReLU, nn.ReLU6, nn.Hardswish, nn.SiLU, nn.GELU, nn.LeakyReLU, nn.Sigmoid]
    )
    parts = (
        [conv, after()]
        if draw.random() < 0.6
        else [conv, nn.BatchNorm2d(conv.out_channels), after()]
    )
    sums = draw.random() < 0.3 and conv.in_channels == conv.out_channels
    net = nn.Sequential(*parts)
    sums = sums and net.eval()(x).shape == x.shape
    function = (lambda x: net(x) + x) if sums else net
    module = Call(function, net=net)
    return f"{sizes_text(x)}, {conv}, {after.__name__}{' + input' if sums else ''}", module, [x]


@family("transposed convolution")
def transposed_convolution(draw):
    dims = draw.choice([1, 2, 2, 2, 3])
    kernel, stride = draw.choice([(2, 2), (3, 1), (3, 2), (4, 2), (5, 2), (4, 4)])
    inputs, outputs = channels(draw, 256), channels(draw, 256)
    groups = 1
    if draw.random() < 0.2:
        groups = inputs = outputs = min(inputs, outputs)
    side = round((power(draw, 6, 8) / (inputs // groups * outputs * kernel**dims)) ** (1 / dims))
    side = min(max(side, 2), [4096, 128, 32][dims - 1])
    x = torch.randn(draw.choice([1, 1, 2]), inputs, *[side] * dims)
    make = [nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d][dims - 1]
    module = make(inputs, outputs, kernel, stride, draw.choice([0, kernel // 2]), groups=groups)
    return f"{sizes_text(x)}, {module}", module, [x]


@family("linear")
def linear(draw):
    inputs, outputs = round(power(draw, 0.8, 3.6)), round(power(draw, 0.8, 3.6))
    rows = min(max(1, round(power(draw, 5, 8.3) / (inputs * outputs))), 20000)
    module = nn.Linear(inputs, outputs, draw.random() < 0.8)
    x = torch.randn([rows, inputs] if draw.random() < 0.5 else [2, rows, inputs])
    return f"{sizes_text(x)} -> {outputs}", module, [x]


@family("product of two inputs")
def product(draw):
    batch = draw.choice([[], [1], [8], [2, 4], [12]])
    m, n, k = (round(power(draw, 0.3, 2.8)) for _ in range(3))
    a, b = torch.randn(*batch, m, k), torch.randn(*batch, k, n)
    if draw.random() < 0.3:
        b = torch.randn(*batch, n, k)
        return f"{sizes_text(a)} @ {sizes_text(b)}^T", lambda a, b: a @ b.transpose(-1, -2), [a, b]
    if draw.random() < 0.2 and batch:
        b = torch.randn(k, n)
    return f"{sizes_text(a)} @ {sizes_text(b)}", torch.matmul, [a, b]


EINSUMS = ("bij,bjk->bik", "bhqd,bhkd->bhqk", "bqhd,bkhd->bhqk", "bhqk,bkhd->bqhd", "nchw,co->nohw",
           "bnd,hde->bhne", "ij,ij->i", "bi,bj->bij", "bik,bjk->bij", "nctv,vw->nctw",
           "bxhwc,hkc->bxhwk", "ab,bc,cd->ad")  # fmt: skip


@family("einsum")
def einsum(draw):
    form = draw.choice(EINSUMS)
    size = {}
    for letter in form.replace(",", "").split("->")[0]:
        size.setdefault(letter, round(power(draw, 0.3, 1.7)))
    args = [
        torch.randn([size[letter] for letter in part]) for part in form.split("->")[0].split(",")
    ]
    text = f"{form}, {', '.join(map(sizes_text, args))}"
    return text, lambda *args: torch.einsum(form, *args), args


@family("attention")
def attention(draw):
    heads, depth = draw.choice([1, 2, 4, 8, 12]), draw.choice([16, 32, 40, 64, 80, 128])
    queries = round(power(draw, 0, 3))
    keys = queries if draw.random() < 0.6 else round(power(draw, 1, 3.2))
    while heads * queries * keys * depth > 4e8:
        queries, keys = max(1, queries // 2), max(1, keys // 2)
    batch = draw.choice([1, 1, 2])
    q = torch.randn(batch, heads, queries, depth)
    k, v = torch.randn(batch, heads, keys, depth), torch.randn(batch, heads, keys, depth)
    kind = draw.choice(["plain", "plain", "causal", "mask", "bool mask"])
    text = f"{sizes_text(q)}, {keys} keys, {kind}"
    if kind == "mask":
        return text, F.scaled_dot_product_attention, [q, k, v, torch.randn(queries, keys)]
    if kind == "bool mask":
        mask = torch.rand(queries, keys) > 0.2
        mask[:, 0] = True
        return text, F.scaled_dot_product_attention, [q, k, v, mask]
    causal = kind == "causal" and queries == keys
    return (
        text,
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal),
        [q, k, v],
    )


@family("recurrent")
def recurrent(draw):
    make = draw.choice([nn.LSTM, nn.LSTM, nn.GRU, nn.GRU, nn.RNN])
    inputs, hidden = round(power(draw, 0.8, 2.4)), round(power(draw, 0.8, 2.4))
    steps = max(1, round(power(draw, 5, 7.7) / (4 * hidden * (inputs + hidden))))
    module = make(inputs, hidden, draw.choice([1, 1, 2]), bidirectional=draw.random() < 0.3)
    x = torch.randn(min(steps, 1000), draw.choice([1, 1, 4]), inputs)
    return f"{sizes_text(x)}, {module}", module, [x]


# Windows.


@family("pool")
def pool(draw):
    dims = draw.choice([1, 2, 2, 3])
    kernel, stride = draw.choice([(2, 2), (3, 2), (3, 1), (5, 1), (7, 3)])
    kind = draw.choice(["max", "max", "avg", "avg", "adaptive avg", "adaptive max", "max dilated"])
    count = channels(draw, 256)
    side = max(kernel * 3, round((power(draw, 4, 6.3) / count) ** (1 / dims)))
    x = torch.randn(
        draw.choice([1, 1, 4]), count, *[side + draw.choice([0, 1]) for _ in range(dims)]
    )
    text = f"{kind} {sizes_text(x)}, window {kernel} step {stride}"
    suffix = f"{dims}d"
    if kind.startswith("adaptive"):
        out = draw.choice([1, 1, 3, 7])
        return f"{text} -> {out}", getattr(nn, f"Adaptive{kind[9:].title()}Pool{suffix}")(out), [x]
    padding = draw.choice([0, kernel // 2])
    if kind == "avg":
        return text, getattr(nn, "AvgPool" + suffix)(kernel, stride, padding), [x]
    dilation = 2 if kind == "max dilated" else 1
    return text, getattr(nn, "MaxPool" + suffix)(kernel, stride, padding, dilation), [x]


@family("resize")
def resize(draw):
    mode = draw.choice(["nearest", "nearest", "bilinear", "bilinear", "bicubic", "linear", "trilinear",
                        "nearest-exact", "nearest 3d", "area"])  # fmt: skip
    dims = {"linear": 1, "trilinear": 3, "nearest 3d": 3}.get(mode, 2)
    x = torch.randn(
        1, channels(draw, 128), *[draw.randint(4, 40 if dims < 3 else 12) for _ in range(dims)]
    )
    kwargs = {"mode": mode.split()[0]}
    if draw.random() < 0.6:
        kwargs["scale_factor"] = draw.choice([2, 2, 4, 0.5, 1.5])
    else:
        kwargs["size"] = [draw.randint(4, 90 if dims < 3 else 20) for _ in range(dims)]
    if mode in ("bilinear", "bicubic", "linear", "trilinear"):
        kwargs["align_corners"] = draw.random() < 0.4
    return f"{sizes_text(x)}, {kwargs}", lambda x: F.interpolate(x, **kwargs), [x]


@family("pad")
def pad(draw):
    dims = draw.choice([1, 2, 2, 3])
    mode = draw.choice(["constant", "constant", "reflect", "replicate", "circular"])
    x = torch.randn(
        draw.choice([1, 4]), channels(draw, 128), *[draw.randint(5, 60 if dims < 3 else 16)] * dims
    )
    by = [draw.randint(0, 4) for _ in range(2 * dims)]
    return f"{mode} {sizes_text(x)} by {by}", lambda x: F.pad(x, by, mode), [x]


@family("sampling")
def sampling(draw):
    x = torch.randn(1, channels(draw, 64), *[draw.randint(8, 64)] * 2)
    kind = draw.choice(["grid", "grid", "unfold", "fold", "shuffle", "unshuffle", "affine grid"])
    side = x.shape[-1]
    if kind == "grid":
        grid = torch.rand(1, side + 3, side, 2) * 2 - 1
        mode, border = draw.choice(["bilinear", "nearest", "bicubic"]), draw.choice(
            ["zeros", "border"]
        )
        return (f"grid_sample {sizes_text(x)}, {mode}, {border}",
                lambda x, g: F.grid_sample(x, g, mode, border, align_corners=False), [x, grid])  # fmt: skip
    if kind == "affine grid":
        size = [1, 3, side * 2, side * 2]
        return (
            f"affine_grid {size}",
            lambda t: F.affine_grid(t, size, align_corners=False),
            [torch.randn(1, 2, 3)],
        )
    if kind == "unfold":
        return f"unfold {sizes_text(x)}", lambda x: F.unfold(x, 3, padding=1), [x]
    if kind == "fold":
        columns = torch.randn(1, 4 * 9, side * side)
        return (
            f"fold {sizes_text(columns)}",
            lambda c: F.fold(c, (side, side), 3, padding=1),
            [columns],
        )
    if kind == "shuffle":
        x = torch.randn(1, 4 * draw.randint(1, 32), side, side + 1)
        return f"pixel_shuffle {sizes_text(x)}", lambda x: F.pixel_shuffle(x, 2), [x]
    x = torch.randn(1, draw.randint(1, 32), 2 * side, 2 * side)
    return f"pixel_unshuffle {sizes_text(x)}", lambda x: F.pixel_unshuffle(x, 2), [x]
