"""Draws programs of quantised layers: tensors that go through integers with static or dynamic
scales, and weights of 2 to 8 bits with scales and zero points per tensor, channel, group or block,
dequantised by PyTorch's and torchao's operators or spelled out, as run_decompositions() leaves
them; and weights of 8-bit floats, or of 16 numbers of a table, with scales.

Between them are layers and arithmetic of random_network.
"""

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers quantized_decomposed
import torchao.quantization.quant_primitives  # noqa: F401  registers torchao

import random_network
from random_network import NetworkDrawer, channels, is_image, is_sequence, weights

PT2E, AO = "torch.ops.quantized_decomposed", "torch.ops.torchao"
# dtype, quant_min, quant_max of activations
RANGES = [("int8", -128, 127)] * 4 + [("uint8", 0, 255)] * 3 + [
    ("int8", -127, 127), ("int8", -64, 63), ("uint8", 0, 127), ("int8", -8, 7),
    ("int16", -32768, 32767), ("uint8", 3, 250)]


def numbers(g, count, low, high, digits=5):
    return [round(g.rng.uniform(low, high), digits) for _ in range(count)]


def through_integers(g, x):
    """An expression: x as integers with a static scale, and back."""
    dtype, low, high = g.rng.choice(RANGES)
    largest = max(g.value(x).abs().max().item(), 0.01)
    reach = g.rng.choice([1.0, 1.0, 0.5, 3.0])  # Some ranges cut values off.
    scale = 2.0271 * reach * largest / (high - low)  # The largest is no tie.
    zero = 0 if dtype == "int16" or g.rng.random() < 0.3 else g.rng.randint(low, high)
    how = f"{scale!r}, {zero}, {low}, {high}, torch.{dtype}"
    return (f"{PT2E}.dequantize_per_tensor.default("
            f"{PT2E}.quantize_per_tensor.default({x}, {how}), {how})")


def quantise(g):
    x = g.pick()
    return x and f"{g.fresh()} = {through_integers(g, x)}"


def block_of(g, x):
    """An expression: the sizes of what shares a scale, a row or, less often, the whole."""
    last = g.value(x).dim() - 1
    whole = g.rng.random() < 0.3
    sizes = [g.size(x, d) if whole or d == last else "1" for d in range(last + 1)]
    return f"[{', '.join(sizes)}]"


def by_rows(g, x):
    """An expression: x as int8 with a scale for each row or for all, chosen in each run."""
    block = block_of(g, x)
    bounds = g.rng.choice(["-128, 127"] * 4 + ["-64, 63"])
    mapping, eps = g.rng.choice([("ASYMMETRIC", "None"), ("SYMMETRIC", "1e-06")])
    keep = g.rng.random() < 0.5
    form = g.rng.choice(["ao", "ao", "pt2e", "tokens"])
    if form == "pt2e":
        choice = f"{PT2E}.choose_qparams.tensor({x}, -128, 127, 1e-07, torch.int8)"
        q = f"{PT2E}.quantize_per_tensor.tensor({x}, *c, -128, 127, torch.int8)"
        back = f"{PT2E}.dequantize_per_tensor.tensor({q}, *c, -128, 127, torch.int8)"
        return f"(lambda c: {back})({choice})"
    if form == "tokens":
        choice = f"{PT2E}.choose_qparams_per_token_asymmetric.default({x}, torch.int8)"
        q = f"{PT2E}.quantize_per_token.default({x}, *c, -128, 127, torch.int8)"
        back = (f"{PT2E}.dequantize_per_token.default({q}, *c, -128, 127, torch.int8, "
                "torch.float32)")
        return f"(lambda c: {back})({choice})"
    points = g.rng.choice(["int8", "float32"])
    choice = (f"{AO}.choose_qparams_affine.default({x}, '{mapping}', {block}, torch.int8, "
              f"{bounds}, {eps}, torch.float32, torch.{points}, {keep})")
    q = f"{AO}.quantize_affine.default({x}, {block}, *c, torch.int8, {bounds})"
    back = f"{AO}.dequantize_affine.default({q}, {block}, *c, torch.int8, {bounds})"
    return f"(lambda c: {back})({choice})"


def integers(g, shape, dtype, low, high):
    count = 1
    for size in shape:
        count *= size
    items = [g.rng.randint(low, high) for _ in range(count)]
    return f"torch.tensor({items}, dtype=torch.{dtype}).reshape({tuple(shape)})"


def weights_of_few_numbers(g, shape, axis):
    """An expression: 8-bit floats or numbers that are looked up, with scales of channels or one."""
    fan = max(1, torch.Size(shape).numel() // shape[axis])
    if g.rng.random() < 0.5:
        dtype = g.rng.choice(["float8_e4m3fn", "float8_e5m2"])
        items = numbers(g, torch.Size(shape).numel(), -100, 100)
        w = f"torch.tensor({items}, dtype=torch.{dtype}).reshape({tuple(shape)}).to(torch.float32)"
        step = 1 / (100 * fan**0.5)
    else:
        w = (f"torch.tensor({numbers(g, 16, -1, 1)})"
             f"[{integers(g, shape, 'int64', 0, 15)}]")
        step = 1 / fan**0.5
    if g.rng.random() < 0.3:
        return f"({w} * {step!r})"
    sizes = [shape[axis] if d == axis else 1 for d in range(len(shape))]
    scales = f"torch.tensor({numbers(g, shape[axis], step / 2, step)}).reshape({sizes})"
    return f"({w} * {scales})"


def kept_weights(g, shape, axis=0):
    """An expression: a weight that is stored as integers, dequantised in one of many forms."""
    if g.rng.random() < 0.15:
        return weights_of_few_numbers(g, shape, axis)
    bits = g.rng.choice([8, 8, 8, 8, 4, 4, 4, 2, 3, 6])
    unsigned = g.rng.random() < 0.2
    low, high = (0, 2**bits - 1) if unsigned else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    if bits == 8 and not unsigned and g.rng.random() < 0.6:
        low = -127
    dtype = "uint8" if unsigned else "int8"
    fan = max(1, torch.Size(shape).numel() // shape[axis])
    step = 3 / (fan**0.5 * (high - low))
    w = integers(g, shape, dtype, low, high)
    bounds = f"{low}, {high}, torch.{dtype}"
    has_points = unsigned or g.rng.random() < 0.2
    lowest, highest = (low, high) if has_points else (0, 0)
    form = g.rng.choice(["tensor", "channel", "channel", "group", "affine", "spelled"])
    if form == "group":  # PyTorch subtracts int8 from int8, which wraps around.
        lowest, highest = (-1 if has_points and low > -127 else 0), 0
    point = lambda n: [g.rng.randint(lowest, highest) for _ in range(n)]
    columns = shape[1] if len(shape) == 2 else 0
    if form == "tensor":
        how = f"{step!r}, {point(1)[0]}, {bounds}"
        return f"{PT2E}.dequantize_per_tensor.default({w}, {how})"
    if form in ("group", "affine") and columns and columns % 2 == 0:
        # PyTorch takes groups of two elements and more.
        groups = g.rng.choice([n for n in (1, 2, columns // 2) if columns % n == 0 and n < columns])
        count = shape[0] * groups
        scales = f"torch.tensor({numbers(g, count, step / 2, step)}).reshape({shape[0]}, {groups})"
        points = f"torch.tensor({point(count)}, dtype=torch.int8).reshape({shape[0]}, {groups})"
        if form == "group" and not unsigned:
            return (f"{PT2E}.dequantize_per_channel_group.default({w}, {scales}, {points}, "
                    f"{bounds}, {columns // groups}, torch.float32)")
        if not unsigned:
            return (f"{AO}.dequantize_affine.default({w}, [1, {columns // groups}], {scales}, "
                    f"{points}, torch.int8, {low}, {high})")
    scales, points = numbers(g, shape[axis], step / 2, step), point(shape[axis])
    if form == "spelled":
        sizes = [shape[axis] if d == axis else 1 for d in range(len(shape))]
        difference = f"{w}.to(torch.float32)"
        if has_points:
            difference = f"({difference} - torch.tensor({points}).float().reshape({sizes}))"
        return f"({difference} * torch.tensor({scales}).reshape({sizes}))"
    kind = g.rng.choice(["int64", "int64", "float32"])
    if kind == "float32" and has_points:
        points = [p + 0.25 for p in points]
    return (f"{PT2E}.dequantize_per_channel.default({w}, torch.tensor({scales}), "
            f"torch.tensor({points}, dtype=torch.{kind}), {axis}, {bounds})")


def prepared(g, x):
    """The input of a layer: with a static scale, dynamic ones, or as it is."""
    kind = g.rng.random()
    if kind < 0.5:
        return through_integers(g, x)
    return by_rows(g, x) if kind < 0.75 else x


def finished(g, call):
    """What follows a layer: often a clamp, often integers again."""
    line = g.rng.choice(["{}", "{}", "F.relu({})", "F.relu6({})"]).format(call)
    name = g.fresh()
    return f"{name} = {line}"


def linear(g):
    x = g.pick(lambda t: t.dim() >= 2)
    n = x and channels(g, x, -1)
    if not n:
        return None
    out = g.rng.choice([1, 3, 4, 8, 16])
    bias = weights(g, out) if g.rng.random() < 0.7 else "None"
    w = kept_weights(g, (out, n))
    forms = [f"F.linear({prepared(g, x)}, {w}, {bias})"] * 3 + [f"{prepared(g, x)} @ {w}.t()"]
    return finished(g, g.rng.choice(forms))


def product_of_bytes(g):
    """A layer as torchao spells it: a product of int8 matrices, whose zero points are taken off."""
    x = g.pick(lambda t: t.dim() >= 2)
    n = x and channels(g, x, -1)
    if not n:
        return None
    out, block = g.rng.choice([1, 3, 8, 16]), block_of(g, x)
    mapping = g.rng.choice(["ASYMMETRIC", "SYMMETRIC"])
    low, high = g.rng.choice([(-128, 127)] * 3 + [(-64, 63)])
    points = ("" if mapping == "SYMMETRIC" else
              " - (c[1].reshape(-1, 1).float() * c[0].reshape(-1, 1)) * w.sum(-1).float()")
    factors = f"torch.tensor({numbers(g, g.rng.choice([1, out, out]), 0.002, 0.02)})"
    q = f"{AO}.quantize_affine.default({x}, {block}, *c, torch.int8, {low}, {high})"
    sums = f"torch._int_mm({q}.reshape(-1, {n}), w.t()).float() * c[0].reshape(-1, 1)"
    sizes = "".join(g.size(x, d) + ", " for d in range(g.value(x).dim() - 1))
    back = f"(({sums}{points}) * {factors}).reshape({sizes}{out})"
    choice = (f"{AO}.choose_qparams_affine.default({x}, '{mapping}', {block}, torch.int8, {low}, "
              f"{high}, 1e-06, torch.float32, torch.int8, True)")
    return finished(g, f"(lambda c, w: {back})({choice}, "
                       f"{integers(g, (out, n), 'int8', -127, 127)})")


def convolution(g):
    x = g.pick(is_image)
    c = x and channels(g, x, 1)
    if not c:
        return None
    groups = g.rng.choice([1, 1, 1, c] + [2] * (c % 2 == 0))
    out = groups * g.rng.choice([1, 1, 2, 3]) if groups > 1 else g.rng.choice([1, 3, 4, 8])
    kh, kw = g.rng.choice([(1, 1), (3, 3), (3, 3), (2, 2), (1, 3)])
    bias = weights(g, out) if g.rng.random() < 0.7 else "None"
    stride, padding = g.rng.choice([1, 1, 2]), g.rng.choice([0, 1, (kh // 2, kw // 2)])
    if g.rng.random() < 0.15:
        w = kept_weights(g, (c, out // groups, kh, kw), g.rng.choice([0, 1]))
        call = (f"F.conv_transpose2d({prepared(g, x)}, {w}, {bias}, {stride}, {padding}, 0, "
                f"{groups})")
    else:
        w = kept_weights(g, (out, c // groups, kh, kw))
        call = f"F.conv2d({prepared(g, x)}, {w}, {bias}, {stride}, {padding}, 1, {groups})"
    return finished(g, call)


def convolution_1d(g):
    x = g.pick(is_sequence)
    c = x and channels(g, x, 1)
    if not c:
        return None
    out, k = g.rng.choice([2, 4, 6]), g.rng.choice([1, 2, 3])
    w = kept_weights(g, (out, c, k))
    call = f"F.conv1d({prepared(g, x)}, {w}, {weights(g, out)}, 1, {k // 2})"
    return finished(g, call)


def table(g):
    """An embedding whose indices come from data."""
    x = g.pick()
    rows, columns = g.rng.choice([4, 9, 16]), g.rng.choice([3, 4, 8])
    return (f"{g.fresh()} = F.embedding({x}.abs().mul(3).clamp(max={rows - 1}).long(), "
            f"{kept_weights(g, (rows, columns))})")


def arithmetic(g):
    """Of two tensors of integers, which become integers again."""
    x = g.pick()
    y = g.pick(lambda t: t.dim() == g.value(x).dim())
    if y is None or not g.broadcasts(x, y):
        y = x
    a, b = through_integers(g, x), through_integers(g, y)
    forms = [f"{a} + {b}", f"{a} * {b}", f"{a} - {b}", f"F.relu({a} + {b})",
             f"torch.cat([{a}, {b}], -1)"]
    return f"{g.fresh()} = " + g.rng.choice(forms)


TEMPLATES = [quantise, linear, product_of_bytes, convolution, convolution_1d, table, arithmetic,
             random_network.activation, random_network.pool, random_network.residual,
             random_network.join, random_network.move, random_network.reduce]
WEIGHTS = [14, 14, 4, 16, 5, 3, 10, 4, 6, 3, 3, 6, 2]


class QuantisedDrawer(NetworkDrawer):
    templates, weights = TEMPLATES, WEIGHTS
