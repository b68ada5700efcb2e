"""Families of norms, reductions, elements, and what moves elements."""

import torch
import torch.nn.functional as F
from families import channels, family, power, shape_of, sizes_text, some_dims, tensor_of
from torch import nn


@family("norm")
def norm(draw):
    kind = draw.choice(["layer", "layer", "layer of several", "group", "group", "instance", "batch", "rms",
                        "local response", "lp"])  # fmt: skip
    if kind in ("layer", "rms"):
        width = round(power(draw, 0.8, 3.4))
        x = torch.randn(draw.choice([1, 4]), max(1, round(power(draw, 3.5, 6) / width)), width)
        make = nn.LayerNorm if kind == "layer" else nn.RMSNorm
        return f"{kind} {sizes_text(x)}", make(width), [x]
    dims = draw.choice([1, 2, 2, 3])
    count = 8 * draw.randint(1, 24)
    side = max(2, round((power(draw, 3.5, 6) / count) ** (1 / dims)))
    x = torch.randn(draw.choice([1, 1, 4]), count, *[side] * dims)
    text = f"{kind} {sizes_text(x)}"
    if kind == "layer of several":
        return text, nn.LayerNorm(x.shape[1:]), [x]
    if kind == "group":
        groups = draw.choice([1, 2, 4, 8])
        return f"{text}, {groups} groups", nn.GroupNorm(groups, count), [x]
    if kind == "instance":
        return text, getattr(nn, f"InstanceNorm{dims}d")(count, affine=draw.random() < 0.5), [x]
    if kind == "batch":
        return text, getattr(nn, f"BatchNorm{dims}d")(count), [x]
    if kind == "lp":
        return text, lambda x: F.normalize(x, dim=1), [x]
    return text, nn.LocalResponseNorm(5), [x]


@family("softmax")
def softmax(draw):
    x = tensor_of(draw)
    dim = draw.randrange(x.dim())
    make = draw.choice(
        [torch.softmax, torch.softmax, torch.log_softmax, lambda x, dim: F.softmin(x, dim)]
    )
    return (
        f"{getattr(make, '__name__', 'softmin')} {sizes_text(x)} over {dim}",
        lambda x: make(x, dim=dim),
        [x],
    )


REDUCTIONS = {
    "sum": torch.sum, "mean": torch.mean, "amax": torch.amax, "amin": torch.amin, "var": torch.var,
    "std": torch.std, "logsumexp": torch.logsumexp, "norm": torch.linalg.vector_norm,
    "argmax": torch.argmax, "argmin": torch.argmin, "prod": torch.prod, "max": torch.max,
    "min": torch.min, "any": torch.any, "all": torch.all, "median": torch.median,
    "count_nonzero": torch.count_nonzero,
}  # fmt: skip
OF_ONE_DIM = ("argmax", "argmin", "prod", "max", "min", "any", "all", "median")


@family("reduction")
def reduction(draw):
    name = draw.choice(list(REDUCTIONS))
    x = tensor_of(draw)
    dims = some_dims(draw, x.dim())
    function, keep = REDUCTIONS[name], draw.random() < 0.5
    if name in ("any", "all"):
        x = x > 0
    text = f"{name} {sizes_text(x)} over "
    if name in OF_ONE_DIM:
        return text + str(dims[0]), lambda x: function(x, dims[0]), [x]
    if name == "norm":
        return text + str(dims), lambda x: function(x, dim=dims), [x]
    if name == "count_nonzero":
        return text + str(dims), lambda x: function(x, dim=dims), [(x > 0).float()]
    return text + str(dims), lambda x: function(x, dim=dims, keepdim=keep), [x]


@family("running sum")
def running(draw):
    x = tensor_of(draw, 3, 5.7)
    dim = draw.randrange(x.dim())
    name = draw.choice(["cumsum", "cumsum", "cumprod", "cummax", "cummin", "logcumsumexp"])
    return f"{name} {sizes_text(x)} over {dim}", lambda x: getattr(torch, name)(x, dim), [x]


@family("order")
def order(draw):
    x = tensor_of(draw, 3, 5, ranks=(1, 2, 3))
    dim = draw.randrange(x.dim())
    name = draw.choice(
        ["sort", "argsort", "topk", "topk", "searchsorted", "bucketize", "msort", "kthvalue"]
    )
    text = f"{name} {sizes_text(x)}"
    if name == "topk":
        count = max(1, min(x.shape[dim], draw.choice([1, 5, 50, x.shape[dim] // 2])))
        return f"{text} over {dim}, {count}", lambda x: x.topk(count, dim), [x]
    if name == "kthvalue":
        return f"{text} over {dim}", lambda x: x.kthvalue((x.shape[dim] + 1) // 2, dim)[0], [x]
    if name in ("searchsorted", "bucketize"):
        edges = torch.randn(round(power(draw, 1, 4))).sort()[0]
        return (
            f"{text} in {len(edges)}",
            lambda x: getattr(torch, name)(*((x, edges) if name == "bucketize" else (edges, x))),
            [x],
        )
    if name == "msort":
        return text, torch.msort, [x]
    return f"{text} over {dim}", lambda x: getattr(torch, name)(x, dim=dim), [x]


# Elements.

UNARY = ("abs exp exp2 expm1 log log1p log2 log10 sqrt rsqrt sin cos tan asin acos atan sinh cosh tanh asinh "
         "acosh atanh erf erfc erfinv sigmoid floor ceil round trunc frac sign neg reciprocal square relu "
         "relu6 gelu silu mish softplus elu selu celu hardswish hardsigmoid hardtanh leaky_relu logsigmoid "
         "tanhshrink softsign isnan isinf lgamma digamma i0 logit sinc nan_to_num clamp threshold").split()  # fmt: skip


@family("unary")
def unary(draw):
    name = draw.choice(UNARY)
    x = tensor_of(draw, 3, 6.3)
    if name in ("log", "log2", "log10", "sqrt", "rsqrt", "lgamma", "digamma", "log1p"):
        x = x.abs() + 0.01
    if name in ("asin", "acos", "atanh", "erfinv", "logit"):
        x = torch.rand_like(x) * 0.98 + 0.01
    if name == "acosh":
        x = x.abs() + 1
    function = {
        "clamp": lambda x: x.clamp(-1, 1),
        "threshold": lambda x: F.threshold(x, 0.1, 20.0),
    }.get(name)
    function = function or getattr(torch, name, None) or getattr(F, name)
    return f"{name} {sizes_text(x)}", lambda x: function(x), [x]


BINARY = ("add sub mul div maximum minimum pow atan2 remainder fmod floor_divide copysign hypot eq lt ge "
          "ne where lerp addcmul xlogy logaddexp squared_difference").split()  # fmt: skip


@family("binary")
def binary(draw):
    name = draw.choice(BINARY)
    a = tensor_of(draw, 3, 6.3)
    shape = list(a.shape)
    kind = draw.choice(["same", "same", "number", "row", "column", "some dims"])
    if kind == "row":
        shape = shape[-1:]
    elif kind == "column":
        shape[-1] = 1
    elif kind == "some dims":
        shape = [size if draw.random() < 0.5 else 1 for size in shape]
    b = torch.rand(shape) + 0.5
    if name == "pow":
        a = a.abs() + 0.1
        if kind == "number":
            exponent = draw.choice([2, 3, 0.5, -1, 2.5])
            return f"pow {sizes_text(a)}, {exponent}", lambda a: a**exponent, [a]
    if name == "xlogy":
        a = a.abs()
    text = f"{name} {sizes_text(a)}, {'1.5' if kind == 'number' else sizes_text(b)}"
    function = {
        "where": lambda a, b: torch.where(a > 0, a, b), "lerp": lambda a, b: torch.lerp(a, b, 0.3),
        "addcmul": lambda a, b: torch.addcmul(a, a, b), "squared_difference": lambda a, b: (a - b) ** 2,
    }.get(name) or getattr(torch, name)  # fmt: skip
    if kind == "number":
        number = torch.tensor(1.5)
        return text, lambda a: function(a, number), [a]
    return text, lambda a, b: function(a, b), [a, b]


WHOLE = ("add sub mul floor_divide remainder maximum eq lt bitwise_and bitwise_or bitwise_xor "
         "bitwise_left_shift logical_and logical_or logical_not to_float abs clamp sum").split()  # fmt: skip


@family("whole numbers and bools")
def whole(draw):
    name = draw.choice(WHOLE)
    shape = shape_of(draw, draw.choice([1, 2, 3]), power(draw, 3, 6))
    dtype = draw.choice(
        [torch.int64, torch.int32, torch.int64, torch.int32, torch.uint8, torch.int8]
    )
    a, b = torch.randint(1, 50, shape, dtype=dtype), torch.randint(1, 5, shape, dtype=dtype)
    text = f"{name} {str(dtype)[6:]} {sizes_text(a)}"
    if name.startswith("logical"):
        a, b = a > 25, b > 2
        text = f"{name} bool {sizes_text(a)}"
        if name == "logical_not":
            return text, torch.logical_not, [a]
    one = {"to_float": lambda a: a.float() * 0.5, "abs": torch.abs, "clamp": lambda a: a.clamp(3, 30),
           "sum": lambda a: a.sum(-1)}.get(name)  # fmt: skip
    return (text, one, [a]) if one else (text, getattr(torch, name), [a, b])


# Elements elsewhere.


@family("lookup")
def lookup(draw):
    name = draw.choice(["embedding", "gather", "index_select", "index", "take_along_dim", "scatter", "one_hot",
                        "scatter_add", "index_add", "masked_fill", "index_put", "tril", "embedding bag"])  # fmt: skip
    rows, width = round(power(draw, 1.5, 3.5)), round(power(draw, 0.5, 2.7))
    count = round(power(draw, 1, 3))
    x, at = torch.randn(rows, width), torch.randint(0, rows, (count,))
    text = f"{name} {sizes_text(x)}, {count}"
    grid = torch.randint(0, rows, (count, width))
    source = torch.randn(count, width)
    cases = {
        "embedding": (lambda i: F.embedding(i, x), [at]),
        "embedding bag": (lambda i: F.embedding_bag(i, x, torch.tensor([0]), mode="sum"), [at]),
        "gather": (lambda x, i: x.gather(0, i), [x, grid]),
        "take_along_dim": (lambda x, i: torch.take_along_dim(x, i, 0), [x, grid]),
        "index_select": (lambda x, i: x.index_select(0, i), [x, at]),
        "index": (lambda x, i: x[i, i % width], [x, at]),
        "scatter": (lambda x, i, s: x.scatter(0, i, s), [x, torch.randperm(rows)[: min(count, rows), None].expand(-1, width).contiguous(), source[: min(count, rows)]]),
        "scatter_add": (lambda x, i, s: x.scatter_add(0, i, s), [x, grid, source]),
        "index_add": (lambda x, i, s: x.index_add(0, i, s), [x, at, source]),
        "index_put": (lambda x, i, s: x.index_put((i,), s, accumulate=True), [x, at, source]),
        "masked_fill": (lambda x, m: x.masked_fill(m, -1e9), [x, torch.rand(rows, width) > 0.5]),
        "one_hot": (lambda i: F.one_hot(i, width).float(), [at % width]),
        "tril": (lambda x: x.tril(), [x]),
    }  # fmt: skip
    return (text, *cases[name])


@family("movement")
def movement(draw):
    x = tensor_of(draw, 3.5, 6.3, ranks=(2, 3, 4, 5))
    dim, rank = draw.randrange(x.dim()), x.dim()
    name = draw.choice(["permute", "permute", "transpose", "cat", "cat", "stack", "split", "slice", "slice",
                        "roll", "flip", "repeat", "repeat_interleave", "expand", "channel_shuffle"])  # fmt: skip
    text = f"{name} {sizes_text(x)}, {dim}"
    if name == "permute":
        order = draw.sample(range(rank), rank)
        return f"permute {sizes_text(x)}, {order}", lambda x: x.permute(order).contiguous(), [x]
    if name in ("cat", "stack"):
        others = [torch.randn_like(x) for _ in range(draw.choice([1, 1, 2, 4]))]
        text += f", {1 + len(others)} tensors"
        return text, lambda *all: getattr(torch, name)(all, dim), [x, *others]
    if name == "split":
        return (
            text,
            lambda x: tuple(part + 1 for part in x.split((x.shape[dim] + 1) // 2, dim)),
            [x],
        )
    if name == "slice":
        step = draw.choice([1, 2, 3])
        cut = tuple(slice(0, None, step) if d == dim else slice(None) for d in range(rank))
        return f"{text}, step {step}", lambda x: x[cut].contiguous() + 0, [x]
    if name == "channel_shuffle":
        x = torch.randn(1, 4 * draw.randint(1, 60), 28, 28)
        return (
            f"{name} {sizes_text(x)}",
            lambda x: x.view(1, 4, -1, 28, 28).transpose(1, 2).reshape(x.shape),
            [x],
        )
    times = draw.choice([2, 3])
    cases = {
        "transpose": lambda x: x.transpose(dim, -1).contiguous(),
        "roll": lambda x: x.roll(1, dim),
        "flip": lambda x: x.flip(dim),
        "repeat": lambda x: x.repeat([times if d == dim else 1 for d in range(rank)]),
        "repeat_interleave": lambda x: x.repeat_interleave(times, dim),
        "expand": lambda x: x.unsqueeze(dim)
        .expand(*x.shape[:dim], times, *x.shape[dim:])
        .contiguous(),
    }
    return text, cases[name], [x]


@family("signal")
def signal(draw):
    name = draw.choice(["rfft", "fft", "irfft", "stft", "rfft2", "dct by matrix"])
    length = draw.choice([64, 100, 128, 160, 256, 400, 512, 1000, 1024])
    rows = max(1, round(power(draw, 3, 5.5) / length))
    x = torch.randn(rows, length)
    text = f"{name} {sizes_text(x)}"
    if name == "stft":
        x, window = torch.randn(1, length * 20), torch.hann_window(length)
        return f"stft {sizes_text(x)}, {length}", lambda x: torch.view_as_real(
            torch.stft(x, length, length // 4, window=window, return_complex=True)), [x]  # fmt: skip
    if name == "irfft":
        return text, lambda x: torch.fft.irfft(torch.complex(x, x)), [x]
    if name == "dct by matrix":
        return (
            text,
            lambda x: x
            @ torch.cos(torch.arange(length)[:, None] * torch.arange(32) * 3.14159 / length),
            [x],
        )
    return text, lambda x: torch.view_as_real(getattr(torch.fft, name)(x)), [x]


@family("distance")
def distance(draw):
    name = draw.choice(["cdist", "cosine_similarity", "pairwise_distance", "outer", "cross", "bilinear", "glu",
                        "prelu", "cross_entropy", "mse", "huber"])  # fmt: skip
    rows, width = round(power(draw, 1, 3)), 2 * round(power(draw, 0.3, 2.3))
    a, b = torch.randn(rows, width), torch.randn(rows, width)
    text = f"{name} {sizes_text(a)}"
    cases = {
        "cdist": lambda a, b: torch.cdist(a, b), "cosine_similarity": lambda a, b: F.cosine_similarity(a, b),
        "pairwise_distance": lambda a, b: F.pairwise_distance(a, b),
        "outer": lambda a, b: torch.outer(a[:, 0], b[:, 0]),
        "cross": lambda a, b: torch.linalg.cross(a[:, :3] if width >= 3 else a.repeat(1, 3)[:, :3],
                                                 b[:, :3] if width >= 3 else b.repeat(1, 3)[:, :3]),
        "glu": lambda a, b: F.glu(a) + b[:, : width // 2], "huber": lambda a, b: F.huber_loss(a, b),
        "prelu": lambda a, b: F.prelu(a, torch.full((1,), 0.25)) + b, "mse": lambda a, b: F.mse_loss(a, b),
        "cross_entropy": lambda a, b: F.cross_entropy(a, b.softmax(-1)),
    }  # fmt: skip
    if name == "bilinear":
        module = nn.Bilinear(width, width, 8)
        return text, module, [a[:64], b[:64]]
    return text, cases[name], [a, b]
