"""Draws programs that look like networks: convolutions, linear layers, norms, attention, pools and
residual sums over images and sequences, for backends that take such layers whole.

Weights are written into the lines as numbers, so that every element of them matters. A line may be
invalid: it is dropped if PyTorch refuses it.
"""

import torch

from random_program import HINTS, Drawer, Input, draw_tensor

ACTIVATIONS = """
F.relu({x})|F.relu6({x})|F.gelu({x})|F.gelu({x}, approximate="tanh")|F.silu({x})|F.hardswish({x})
F.hardsigmoid({x})|torch.sigmoid({x})|torch.tanh({x})|F.leaky_relu({x}, 0.1)|F.elu({x})
F.mish({x})|F.softplus({x})|torch.clamp({x}, -0.5, 1)|torch.exp({x}.clamp(max=2))|{x}.abs().sqrt()
""".replace("\n", "|").strip("|").split("|")


def is_image(t):
    return t.dim() == 4


def is_sequence(t):
    return t.dim() == 3


def weights(g, *shape, scale=None):
    """A tensor of random numbers, spelled out."""
    count = 1
    for size in shape:
        count *= size
    fan = max(count // max(shape[0], 1), 1)
    scale = scale or 1.5 / fan**0.5
    items = [round(g.rng.gauss(0, scale), 3) for _ in range(count)]
    return f"torch.tensor({items}).reshape({tuple(shape)})"


def channels(g, x, dim):
    """The static size of a dimension; None if it is dynamic or too large for weights."""
    size = g.value(x).shape[dim]
    return None if g.is_dynamic(x, dim) or size > 24 else size


def activation(g):
    x = g.pick()
    return f"{g.fresh()} = {g.rng.choice(ACTIVATIONS).format(x=x)}"


def convolution(g):
    x = g.pick(is_image)
    c = x and channels(g, x, 1)
    if not c:
        return None
    groups = g.rng.choice([1, 1, 1, c] + [2] * (c % 2 == 0))
    out = groups * g.rng.choice([1, 1, 2, 3]) if groups > 1 else g.rng.choice([1, 3, 4, 5, 8, 16])
    kh, kw = g.rng.choice([(1, 1), (3, 3), (3, 3), (2, 2), (1, 3), (5, 5)])
    bias = weights(g, out) if g.rng.random() < 0.7 else "None"
    stride, padding = g.rng.choice([1, 1, 2, (2, 1)]), g.rng.choice([0, 1, 1, (1, 0), (kh // 2, kw // 2)])
    if g.rng.random() < 0.15:
        weight = weights(g, c, out // groups, kh, kw)
        return (f"{g.fresh()} = F.conv_transpose2d({x}, {weight}, {bias}, {stride}, {padding}, "
                f"{g.rng.choice([0, 0, 1])}, {groups})")
    weight = weights(g, out, c // groups, kh, kw)
    dilation = g.rng.choice([1, 1, 1, 2])
    return (f"{g.fresh()} = F.conv2d({x}, {weight}, {bias}, {stride}, {padding}, {dilation}, "
            f"{groups})")


def convolution_1d(g):
    x = g.pick(is_sequence)
    c = x and channels(g, x, 1)
    if not c:
        return None
    out, k = g.rng.choice([2, 4, 6]), g.rng.choice([1, 2, 3, 5])
    weight, bias = weights(g, out, c, k), weights(g, out)
    stride, padding, dilation = g.rng.choice([1, 1, 2]), g.rng.choice([0, 1, 2]), g.rng.choice([1, 1, 2])
    return f"{g.fresh()} = F.conv1d({x}, {weight}, {bias}, {stride}, {padding}, {dilation})"


def linear(g):
    x = g.pick(lambda t: t.dim() >= 2)
    n = x and channels(g, x, -1)
    if not n:
        return None
    out = g.rng.choice([1, 3, 4, 8, 12, 16])
    bias = weights(g, out) if g.rng.random() < 0.7 else "None"
    forms = [f"F.linear({x}, {weights(g, out, n)}, {bias})", f"{x} @ {weights(g, n, out)}"]
    return f"{g.fresh()} = {g.rng.choice(forms)}"


def norm(g):
    x = g.pick(lambda t: t.dim() >= 3)
    if x is None:
        return None
    n, c = channels(g, x, -1), channels(g, x, 1)
    forms = []
    if n:
        w, b = weights(g, n), weights(g, n)
        forms += [f"F.layer_norm({x}, ({n},), {w}, {b})", f"F.layer_norm({x}, ({n},))",
                  f"F.rms_norm({x}, ({n},), {w})",
                  f"{x} * torch.rsqrt({x}.pow(2).mean(-1, keepdim=True) + 1e-5) * {w}"]
    if c:
        w, b, mean = weights(g, c), weights(g, c), weights(g, c)
        forms += [f"F.batch_norm({x}, {mean}, {weights(g, c)}.abs() + 0.5, {w}, {b})",
                  f"F.group_norm({x}, {2 if c % 2 == 0 else 1}, {w}, {b})",
                  f"F.instance_norm({x}, None, None, {w}, {b})"]
    return forms and f"{g.fresh()} = {g.rng.choice(forms)}" or None


def pool(g):
    x = g.pick(is_image)
    if x is None:
        return None
    forms = [f"F.max_pool2d({x}, 2)", f"F.max_pool2d({x}, 3, 2, 1)", f"F.avg_pool2d({x}, 2, 1)",
             f"F.avg_pool2d({x}, 3, 2, 1, count_include_pad=False)", f"F.adaptive_avg_pool2d({x}, 1)",
             f"F.adaptive_avg_pool2d({x}, (2, 2))", f"{x}.mean((2, 3))", f"{x}.amax((-1, -2), keepdim=True)",
             f"F.interpolate({x}, scale_factor=2)", f"F.max_pool2d({x}, 2, ceil_mode=True)",
             f"F.interpolate({x}, scale_factor=2, mode='bilinear', align_corners={g.rng.random() < 0.5})",
             f"F.pad({x}, (1, 0, 0, 2))", f"F.pad({x}, (1, 1, 1, 1), mode='reflect')",
             f"F.pad({x}, (1, 0, 2, 1), mode='replicate')", f"F.pixel_shuffle({x}, 2)",
             f"F.pixel_unshuffle({x}, 2)"]
    return f"{g.fresh()} = {g.rng.choice(forms)}"


def residual(g):
    x = g.pick()
    y = g.pick(lambda t: t.dim() == g.value(x).dim())
    if y is None or not g.broadcasts(x, y):
        y = x
    forms = [f"{x} + {y}", f"{x} + {y}", f"{x} * {y}", f"{x} - {y}", f"F.relu({x} + {y})",
             f"torch.maximum({x}, {y})", f"{x} * torch.sigmoid({y})", f"{x} * 0.5 + {y}",
             f"{x} / (1 + {y} * {y})"]
    return f"{g.fresh()} = {g.rng.choice(forms)}"


def join(g):
    x = g.pick(lambda t: t.dim() >= 2)
    y = x and g.pick(lambda t: t.dim() == g.value(x).dim())
    d = x and g.rng.choice([1, 1, -1])
    return x and f"{g.fresh()} = torch.cat([{x}, {y}], {d})"


def excite(g):
    """Squeeze and excitation."""
    x = g.pick(is_image)
    c = x and channels(g, x, 1)
    if not c:
        return None
    down, up = weights(g, 2, c, 1, 1), weights(g, c, 2, 1, 1)
    return (f"{g.fresh()} = {x} * torch.sigmoid(F.conv2d(F.relu(F.conv2d("
            f"{x}.mean((2, 3), keepdim=True), {down})), {up}))")


def move(g):
    x = g.pick(lambda t: t.dim() >= 3)
    if x is None:
        return None
    t = g.value(x)
    b, c = g.size(x, 0), channels(g, x, 1)
    forms = [f"{x}.transpose(1, 2)", f"{x}.transpose(-1, -2)", f"{x}.flatten(1)", f"{x}.flatten(2)",
             f"{x}[:, 1:]", f"{x}[:, :, ::2]", f"{x}[..., :-1]", f"{x}.flip(-1)", f"{x}.mean(1)",
             f"{x}.roll(1, -1)", f"{x}.unsqueeze(1)", f"{x}[:, 0]"]
    if t.dim() == 4:
        forms += [f"{x}.permute(0, 2, 3, 1)", f"{x}.permute(0, 3, 1, 2)", f"{x}.flatten(2).transpose(1, 2)"]
        if c and c % 2 == 0:  # A shuffle of channels.
            forms += [f"{x}.view({b}, 2, {c // 2}, {g.size(x, 2)}, {g.size(x, 3)})"
                      f".transpose(1, 2).reshape({b}, {c}, {g.size(x, 2)}, {g.size(x, 3)})",
                      f"{x}.chunk(2, 1)[1]", f"F.glu({x}, 1)"]
    n = channels(g, x, -1)
    if t.dim() == 3 and n and n % 2 == 0:
        forms += [f"torch.cat([-{x}[..., {n // 2}:], {x}[..., :{n // 2}]], -1)",
                  f"{x}.unflatten(-1, (2, {n // 2})).transpose(1, 2)", f"F.glu({x}, -1)"]
    return f"{g.fresh()} = {g.rng.choice(forms)}"


def attention(g):
    x = g.pick(is_sequence)
    n = x and channels(g, x, -1)
    if not n:
        return None
    heads, size = g.rng.choice([(1, 4), (2, 4), (2, 2), (4, 2)])
    t, b = g.size(x, 1), g.size(x, 0)

    def split():
        return (f"F.linear({x}, {weights(g, heads * size, n)}).view({b}, {t}, {heads}, {size})"
                ".transpose(1, 2)")

    if g.rng.random() < 0.3:
        joined = f"F.linear({x}, {weights(g, 3 * heads * size, n)})"
        parts = f"{joined}.view({b}, {t}, 3, {heads}, {size}).permute(2, 0, 3, 1, 4)"
        call = f"F.scaled_dot_product_attention(*{parts}.unbind(0))"
    elif g.rng.random() < 0.5:
        extra = g.rng.choice(["", ", is_causal=True", ", scale=0.3"])
        call = f"F.scaled_dot_product_attention({split()}, {split()}, {split()}{extra})"
    else:
        call = (f"(torch.softmax({split()} @ {split()}.transpose(-1, -2) * {size**-0.5}, -1) @ "
                f"{split()})")
    return f"{g.fresh()} = {call}.transpose(1, 2).reshape({b}, {t}, {heads * size})"


def reduce(g):
    x = g.pick(lambda t: t.dim() >= 2)
    return x and f"{g.fresh()} = " + g.rng.choice([
        f"F.softmax({x}, -1)", f"F.log_softmax({x}, 1)", f"{x}.mean(-1)", f"{x}.sum(1, keepdim=True)",
        f"{x}.amax(-1)", f"F.normalize({x}, dim=-1)", f"{x}.var(-1)", f"{x}.cumsum(1)",
        f"{x}.argmax(-1).float()", f"{x}.norm(dim=-1, keepdim=True)"])


TEMPLATES = [activation, convolution, convolution_1d, linear, norm, pool, residual, join, excite, move,
             attention, reduce]
WEIGHTS = [8, 14, 4, 8, 7, 6, 8, 4, 2, 8, 6, 4]


class NetworkDrawer(Drawer):
    templates, weights = TEMPLATES, WEIGHTS

    def draw_inputs(self):
        """One or two images or sequences; some have a dynamic batch, height or length."""
        for i in range(self.rng.randint(1, 2)):
            kind = self.rng.choice(["image", "image", "sequence"])
            fixed = [self.rng.choice([1, 1, 2]), self.rng.choice([2, 3, 4, 8])]
            fixed += [self.rng.choice([4, 6, 7, 8]) for _ in range(2 if kind == "image" else 1)]
            dims = [None] * len(fixed)
            if self.dynamic:
                dims[self.rng.choice([0, len(fixed) - 2, len(fixed) - 1 if kind == "image" else 0])] = "a"
            values = []
            for hints, environment in zip(HINTS, self.environments):
                shape = [hints[d] if d else n for d, n in zip(dims, fixed)]
                values.append(draw_tensor(self.rng, shape, torch.float32))
                environment[f"x{i}"] = values[-1].clone()
            self.inputs.append(Input(f"x{i}", values, dims))
            self.names.append(f"x{i}")

    def acceptable(self, name):
        value = self.environments[0].get(name)
        return super().acceptable(name) and value.dtype == torch.float32
