"""Single operators with inputs of typical sizes, for kernels_vs_pytorch.py.

Each row is (name, function, arguments). Tables are constants of the model, since `taper run` copies
the inputs before each run.
"""

import torch
import torch.nn.functional as F


def rand(*sizes):
    return torch.randn(*sizes)


def ints(high, *sizes):
    return torch.randint(0, high, sizes)


def common():
    """What vision and language models are made of."""
    image, tokens, scores = rand(1, 64, 56, 56), rand(1, 197, 768), rand(1, 12, 197, 197)
    norm = [rand(768), rand(768)]
    channel = [rand(64), rand(64)]
    table, mask = rand(30000, 256), torch.rand(1, 12, 197, 197) > 0.5
    return [
        ("softmax last dim", lambda x: F.softmax(x, -1), [scores]),
        ("softmax dim 1", lambda x: F.softmax(x, 1), [image]),
        ("log_softmax", lambda x: F.log_softmax(x, -1), [rand(8, 30000)]),
        ("layer_norm", lambda x, w, b: F.layer_norm(x, [768], w, b), [tokens] + norm),
        ("group_norm", lambda x, w, b: F.group_norm(x, 8, w, b), [image] + channel),
        ("gelu", F.gelu, [tokens]),
        ("gelu tanh", lambda x: F.gelu(x, approximate="tanh"), [tokens]),
        ("silu", F.silu, [tokens]),
        ("sigmoid", torch.sigmoid, [tokens]),
        ("exp", torch.exp, [tokens]),
        ("add", torch.add, [tokens, rand(1, 197, 768)]),
        ("add broadcast", torch.add, [tokens, rand(768)]),
        ("mul channel", torch.mul, [image, rand(1, 64, 1, 1)]),
        ("embedding", lambda i: F.embedding(i, table), [ints(30000, 4, 128)]),
        ("index_select", lambda i: table.index_select(0, i), [ints(30000, 512)]),
        ("index", lambda x, i, j: x[:, i, j], [rand(8, 128, 64), ints(128, 256), ints(64, 256)]),
        ("gather", lambda x, i: x.gather(1, i), [rand(128, 512), ints(512, 128, 256)]),
        ("cat dim 1", lambda a, b: torch.cat([a, b], 1), [image, image]),
        ("cat last dim", lambda a, b: torch.cat([a, b], -1), [tokens, tokens]),
        ("permute heads", lambda x: x.reshape(1, 197, 12, 64).permute(0, 2, 1, 3).contiguous(),
         [tokens]),
        ("permute to channels last", lambda x: x.permute(0, 2, 3, 1).contiguous(), [image]),
        ("transpose", lambda x: x.t().contiguous(), [rand(768, 768)]),
        ("slice", lambda x: x[:, 1:, ::2].contiguous(), [tokens]),
        ("where", torch.where, [mask, scores, rand(1, 12, 197, 197)]),
        ("masked_fill", lambda x, m: x.masked_fill(m, -1e9), [scores, mask]),
        ("sum all", lambda x: x.sum(), [tokens]),
        ("sum last dim", lambda x: x.sum(-1), [tokens]),
        ("mean first dim", lambda x: x.mean(1), [tokens]),
        ("mean image", lambda x: x.mean([2, 3]), [image]),
        ("amax last dim", lambda x: x.amax(-1), [tokens]),
        ("argmax last dim", lambda x: x.argmax(-1), [rand(8, 30000)]),
        ("max dim", lambda x: tuple(x.max(-1)), [tokens]),
        ("var last dim", lambda x: x.var(-1), [tokens]),
        ("any last dim", lambda x: x.any(-1), [mask]),
        ("cumsum", lambda x: x.cumsum(-1), [tokens]),
        ("topk", lambda x: tuple(x.topk(5, -1)), [rand(16, 30000)]),
        ("bmm q k", torch.bmm, [rand(12, 197, 64), rand(12, 64, 197)]),
        ("bmm weights v", torch.bmm, [rand(12, 197, 197), rand(12, 197, 64)]),
        ("sdpa", F.scaled_dot_product_attention, [rand(1, 12, 197, 64) for _ in "qkv"]),
        ("upsample nearest", lambda x: F.interpolate(x, scale_factor=2), [image]),
        ("upsample bilinear", lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
         [image]),
        ("avg_pool2d", lambda x: F.avg_pool2d(x, 2), [image]),
        ("max_pool2d", lambda x: F.max_pool2d(x, 3, 2, 1), [image]),
        ("pad", lambda x: F.pad(x, (1, 1, 1, 1)), [image]),
        ("expand", lambda x: x.expand(64, 197, 768).contiguous(), [rand(1, 197, 768)]),
    ]


def pointwise():
    """Element-wise operators that are not in every model."""
    x, positive = rand(1, 197, 768), torch.rand(1, 197, 768) + 0.1
    other = rand(1, 197, 768)
    mask, mask2 = other > 0, x > 0
    numbers, divisors = ints(1000, 1, 197, 768), ints(999, 1, 197, 768) + 1
    return [
        ("remainder", torch.remainder, [x, positive]),
        ("fmod", torch.fmod, [x, positive]),
        ("remainder int64", torch.remainder, [numbers, divisors]),
        ("floor_divide", lambda a, b: torch.div(a, b, rounding_mode="floor"), [x, positive]),
        ("floor_divide int64", lambda a, b: torch.div(a, b, rounding_mode="floor"),
         [numbers, divisors]),
        ("pow 2", lambda a: a ** 2, [x]),
        ("pow 3", lambda a: a ** 3, [x]),
        ("pow 0.5", lambda a: a ** 0.5, [positive]),
        ("pow tensor", torch.pow, [positive, x]),
        ("logical_and", torch.logical_and, [mask, mask2]),
        ("logical_not", torch.logical_not, [mask]),
        ("bitwise_or bool", torch.bitwise_or, [mask, mask2]),
        ("bitwise_and int64", torch.bitwise_and, [numbers, divisors]),
        ("add int64", torch.add, [numbers, divisors]),
        ("eq int64", lambda a: a == 3, [numbers]),
        ("gt", torch.gt, [x, other]),
        ("floor", torch.floor, [x]),
        ("round", torch.round, [x]),
        ("trunc", torch.trunc, [x]),
        ("sign", torch.sign, [x]),
        ("frac", torch.frac, [x]),
        ("isnan", torch.isnan, [x]),
        ("erf", torch.erf, [x]),
        ("sin", torch.sin, [x]),
        ("atan2", torch.atan2, [x, other]),
        ("tan", torch.tan, [x]),
        ("log1p", torch.log1p, [positive]),
        ("expm1", torch.expm1, [x]),
        ("hypot", torch.hypot, [x, other]),
        ("lerp", torch.lerp, [x, other, positive]),
        ("clamp", lambda a: a.clamp(-1, 1), [x]),
        ("maximum", torch.maximum, [x, other]),
        ("addcmul", torch.addcmul, [x, other, positive]),
        ("softplus", F.softplus, [x]),
        ("mish", F.mish, [x]),
        ("elu", F.elu, [x]),
        ("leaky_relu", F.leaky_relu, [x]),
        ("hardswish", F.hardswish, [x]),
        ("prelu", lambda a: F.prelu(a, torch.full((1,), 0.2)), [x]),
        ("to int64", lambda a: a.to(torch.int64), [x]),
        ("to bool", lambda a: a.to(torch.bool), [x]),
        ("bool to float", lambda a: a.to(torch.float32), [mask]),
        ("int64 to float", lambda a: a.to(torch.float32), [numbers]),
        ("arange mask", lambda a: torch.where(a > 0, a, torch.zeros(())), [x]),
    ]


def along_dims():
    """Scans, reductions and selections along one or more dims."""
    x, image, mask = rand(1, 197, 768), rand(1, 64, 56, 56), rand(1, 197, 768) > 0
    numbers = ints(1000, 1, 197, 768)
    return [
        ("cumsum dim 1", lambda a: a.cumsum(1), [x]),
        ("cumsum int64", lambda a: a.cumsum(-1), [numbers]),
        ("cumprod", lambda a: a.cumprod(-1), [x]),
        ("cummax", lambda a: tuple(a.cummax(-1)), [x]),
        ("cummax dim 1", lambda a: tuple(a.cummax(1)), [x]),
        ("logcumsumexp", lambda a: a.logcumsumexp(-1), [x]),
        ("logsumexp", lambda a: a.logsumexp(-1), [x]),
        ("prod", lambda a: a.prod(-1), [x]),
        ("std dim 1", lambda a: a.std(1), [x]),
        ("norm", lambda a: a.norm(dim=-1), [x]),
        ("normalize", lambda a: F.normalize(a, dim=-1), [x]),
        ("argmax dim 1", lambda a: a.argmax(1), [x]),
        ("argmin", lambda a: a.argmin(-1), [x]),
        ("min dim", lambda a: tuple(a.min(1)), [x]),
        ("all", lambda a: a.all(-1), [mask]),
        ("sum bool", lambda a: a.sum(-1), [mask]),
        ("sum int64", lambda a: a.sum(-1), [numbers]),
        ("mean channels", lambda a: a.mean(1), [image]),
        ("count_nonzero", lambda a: a.count_nonzero(-1), [x]),
        ("median", lambda a: tuple(a.median(-1)), [x]),
        ("sort", lambda a: tuple(a.sort(-1)), [x]),
        ("argsort int64", lambda a: a.argsort(-1), [numbers]),
        ("nonzero", lambda a: a.nonzero(), [mask]),
        ("one_hot", lambda a: F.one_hot(a, 1000), [ints(1000, 1, 197)]),
        ("bucketize", lambda a: torch.bucketize(a, torch.linspace(-3, 3, 64)), [x]),
        ("scatter_add", lambda a, i, s: a.scatter_add(1, i, s),
         [rand(128, 512), ints(512, 128, 256), rand(128, 256)]),
        ("index_add", lambda a, i, s: a.index_add(0, i, s),
         [rand(512, 256), ints(512, 1000), rand(1000, 256)]),
        ("index_put", lambda a, i, s: a.index_put((i,), s),
         [rand(512, 256), torch.randperm(512)[:256], rand(256, 256)]),
        ("flip", lambda a: a.flip(-1), [x]),
        ("roll", lambda a: a.roll((3, 3), (2, 3)), [image]),
        ("tril", torch.tril, [rand(12, 197, 197)]),
        ("repeat_interleave", lambda a: a.repeat_interleave(4, 1), [x]),
        ("cdist", torch.cdist, [rand(1, 256, 64), rand(1, 256, 64)]),
        ("einsum bhid,bhjd", lambda a, b: torch.einsum("bhid,bhjd->bhij", a, b),
         [rand(1, 12, 197, 64), rand(1, 12, 197, 64)]),
        ("einsum bij,jk", lambda a, b: torch.einsum("bij,jk->bik", a, b),
         [x, rand(768, 768)]),
    ]


def images():
    """Windows, resizes, pads and transforms of images, volumes and signals."""
    image, volume, signal = rand(1, 64, 56, 56), rand(1, 16, 16, 32, 32), rand(1, 64, 4000)
    grid = torch.rand(1, 56, 56, 2) * 2 - 1
    return [
        ("pad reflect", lambda x: F.pad(x, (2, 2, 2, 2), mode="reflect"), [image]),
        ("pad replicate", lambda x: F.pad(x, (2, 2, 2, 2), mode="replicate"), [image]),
        ("pad circular", lambda x: F.pad(x, (2, 2, 2, 2), mode="circular"), [image]),
        ("pad reflect 1d", lambda x: F.pad(x, (5, 5), mode="reflect"), [signal]),
        ("upsample bicubic", lambda x: F.interpolate(x, scale_factor=2, mode="bicubic"), [image]),
        ("upsample nearest 3d", lambda x: F.interpolate(x, scale_factor=2), [volume]),
        ("upsample trilinear", lambda x: F.interpolate(x, scale_factor=2, mode="trilinear"),
         [volume]),
        ("upsample linear 1d", lambda x: F.interpolate(x, scale_factor=2, mode="linear"),
         [signal]),
        ("resize antialias", lambda x: F.interpolate(x, (24, 24), mode="bilinear",
                                                     antialias=True), [image]),
        ("max_pool3d", lambda x: F.max_pool3d(x, 2), [volume]),
        ("avg_pool3d", lambda x: F.avg_pool3d(x, 2), [volume]),
        ("max_pool1d", lambda x: F.max_pool1d(x, 4), [signal]),
        ("adaptive_avg_pool2d", lambda x: F.adaptive_avg_pool2d(x, 7), [image]),
        ("adaptive_max_pool2d", lambda x: F.adaptive_max_pool2d(x, 7), [image]),
        ("lp_pool2d", lambda x: F.lp_pool2d(x, 2, 2), [image]),
        ("grid_sample", lambda x, g: F.grid_sample(x, g, align_corners=False), [image, grid]),
        ("instance_norm", F.instance_norm, [image]),
        ("batch_norm", lambda x: F.batch_norm(x, torch.zeros(64), torch.ones(64)), [image]),
        ("local_response_norm", lambda x: F.local_response_norm(x, 5), [image]),
        ("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), [image]),
        ("pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2), [image]),
        ("unfold", lambda x: F.unfold(x, 3, padding=1), [image]),
        ("fold", lambda x: F.fold(x, (56, 56), 2, stride=2), [rand(1, 256, 784)]),
        ("conv3d", lambda x, w: F.conv3d(x, w, padding=1), [volume, rand(16, 16, 3, 3, 3)]),
        ("conv1d", lambda x, w: F.conv1d(x, w, padding=1), [signal, rand(64, 64, 3)]),
        ("conv1d dilated", lambda x, w: F.conv1d(x, w, padding=8, dilation=8),
         [signal, rand(64, 64, 3)]),
        ("conv2d dilated", lambda x, w: F.conv2d(x, w, padding=2, dilation=2),
         [image, rand(64, 64, 3, 3)]),
        ("conv2d groups 8", lambda x, w: F.conv2d(x, w, padding=1, groups=8),
         [image, rand(64, 8, 3, 3)]),
        ("conv2d depthwise 7", lambda x, w: F.conv2d(x, w, padding=3, groups=64),
         [image, rand(64, 1, 7, 7)]),
        ("conv_transpose2d", lambda x, w: F.conv_transpose2d(x, w, stride=2),
         [image, rand(64, 32, 2, 2)]),
        ("stft", lambda x: torch.view_as_real(torch.stft(
            x, 400, 160, window=torch.hann_window(400), return_complex=True)), [rand(1, 16000)]),
        ("rfft", lambda x: torch.view_as_real(torch.fft.rfft(x)), [rand(64, 1024)]),
        ("channel_shuffle", lambda x: F.channel_shuffle(x, 4), [image]),
    ]


def in_16_bits(function):
    """The same of bfloat16, with float32 at both ends, since NumPy has no bfloat16."""
    return lambda *args: function(*[arg.bfloat16() for arg in args]).float()


def other_dtypes():
    """Products, convolutions and functions of float64, bfloat16 and integers."""
    image, dense, line = rand(1, 64, 28, 28), rand(64, 64, 3, 3), rand(1, 64, 1000)
    tokens = rand(1, 197, 768)
    return [
        ("mm float64", torch.mm, [rand(256, 256).double(), rand(256, 256).double()]),
        ("mm int64", torch.mm, [ints(9, 128, 128), ints(9, 128, 128)]),
        ("conv2d float64", lambda x, w: F.conv2d(x, w, padding=1),
         [image.double(), dense.double()]),
        ("rfft float64", lambda x: torch.view_as_real(torch.fft.rfft(x)),
         [rand(64, 1024).double()]),
        ("linear bf16", in_16_bits(F.linear), [rand(256, 512), rand(512, 512)]),
        ("conv2d bf16", in_16_bits(lambda x, w: F.conv2d(x, w, padding=1)), [image, dense]),
        ("conv1d bf16", in_16_bits(lambda x, w: F.conv1d(x, w, padding=1)),
         [line, rand(64, 64, 3)]),
        ("depthwise bf16", in_16_bits(lambda x, w: F.conv2d(x, w, padding=1, groups=64)),
         [rand(1, 64, 56, 56), rand(64, 1, 3, 3)]),
        ("conv_transpose2d bf16", in_16_bits(lambda x, w: F.conv_transpose2d(x, w, stride=2)),
         [image, rand(64, 32, 2, 2)]),
        ("conv_transpose2d depthwise", lambda x, w: F.conv_transpose2d(x, w, stride=2, groups=64),
         [image, rand(64, 1, 4, 4)]),
        ("softmax bf16", in_16_bits(lambda x: F.softmax(x, -1)), [rand(12, 197, 197)]),
        ("layer_norm bf16", in_16_bits(lambda x: F.layer_norm(x, [768])), [tokens]),
        ("silu bf16", in_16_bits(F.silu), [tokens]),
        ("mul bf16", in_16_bits(torch.mul), [tokens, tokens]),
        ("sort float64", lambda x: tuple(x.sort(-1)), [rand(16, 30000).double()]),
        ("sort bool", lambda x: tuple((x > 0).sort(-1)), [rand(16, 30000)]),
        ("topk int64", lambda x: tuple(x.topk(10)), [ints(100000, 8, 8400)]),
    ]


def large():
    """Long rows, large primes, many indices and small matrices."""
    symmetric = rand(4, 64, 64)
    positive = symmetric @ symmetric.mT + 64 * torch.eye(64)
    index, source = ints(1000, 5000), rand(5000, 256)
    return [
        ("rfft of a prime", lambda x: torch.view_as_real(torch.fft.rfft(x)), [rand(16, 4099)]),
        ("sort a million", lambda x: tuple(x.sort(-1)), [rand(1000000)]),
        ("topk 1000", lambda x: tuple(x.topk(1000)), [rand(16, 30000)]),
        ("mode", lambda x: tuple(x.mode(-1)), [ints(100, 64, 4096)]),
        ("median of all", lambda x: x.median(), [rand(64, 4096)]),
        ("unique", torch.unique, [ints(1000, 100000)]),
        ("histc", lambda x: torch.histc(x, 100, -3, 3), [rand(100000)]),
        ("scatter_reduce", lambda x, i, s: x.scatter_reduce(0, i, s, "amax"),
         [rand(1000, 256), ints(1000, 5000, 256), source]),
        ("scatter_add rows", lambda x, i, s: x.scatter_add(0, i[:, None].expand(-1, 256), s),
         [rand(1000, 256), index, source]),
        ("bincount", lambda i: torch.zeros(1000, dtype=torch.int64).scatter_add(
            0, i, torch.ones_like(i)), [ints(1000, 100000)]),
        ("nonzero few", lambda x: x.nonzero(), [rand(1000, 500) > 3]),
        ("masked_select", torch.masked_select, [rand(1000, 500), rand(1000, 500) > 0]),
        ("adaptive_max_pool2d 1", lambda x: F.adaptive_max_pool2d(x, 1), [rand(1, 256, 28, 28)]),
        ("inv", torch.linalg.inv, [rand(32, 64, 64) + 8 * torch.eye(64)]),
        ("inv 256", torch.linalg.inv, [rand(1, 256, 256) + 16 * torch.eye(256)]),
        ("cholesky", torch.linalg.cholesky, [positive]),
        ("qr", lambda x: tuple(torch.linalg.qr(x)), [symmetric]),
        ("svd", lambda x: tuple(torch.linalg.svd(x)), [symmetric]),
        ("eigh", lambda x: tuple(torch.linalg.eigh(x)), [positive]),
    ]


def rows():
    return common() + pointwise() + along_dims() + images() + other_dtypes() + large()
