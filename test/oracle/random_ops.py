"""Templates of the lines of random programs: one function per kind, which returns a line or None.

`g` is the Drawer of random_program.py. A line may be invalid: it is dropped if PyTorch refuses it.
"""

import torch


def is_float(t):
    return t.dtype.is_floating_point


def is_number(t):
    return t.dtype != torch.bool


def is_integer(t):
    return not is_float(t) and is_number(t)


def is_bool(t):
    return t.dtype == torch.bool


def has_dims(t):
    return t.dim() > 0


def repeats(t):
    """Whether it contains an element twice; the result of writing to it would be undefined."""
    places = torch.zeros(1, dtype=torch.int64)
    for size, stride in zip(t.shape, t.stride()):
        places = (places[:, None] + torch.arange(size) * stride).flatten()
    return places.unique().numel() != t.numel()


def shares(g, x, y):
    """Whether y is another variable with the same memory as x."""
    if x == y or y not in g.names:
        return False
    a, b = g.value(x), g.value(y)
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


def writable(g):
    """A predicate for tensors that can be written: they and their other views repeat no element."""
    def fits(t):
        memory = t.untyped_storage()
        whole = t.numel() * t.element_size() == memory.nbytes()
        others = [g.value(n) for n in g.names]
        return not repeats(t) and (whole or not any(
            o.untyped_storage().data_ptr() == memory.data_ptr() and repeats(o) for o in others))
    return fits


def dim_of(g, x):
    rank = g.value(x).dim()
    return g.rng.randrange(-rank, rank)


def scalar(g, t=None):
    if t is not None and not is_float(t):
        return g.rng.choice(["2", "-1", "3", "1"])
    return g.rng.choice(["2", "-1", "3", "0.5", "1.25", "-0.75", "1e-3"])


UNARY_FLOAT = """
torch.sin({x})|torch.cos({x})|torch.tanh({x})|torch.sigmoid({x})|torch.relu({x})|F.gelu({x})
F.gelu({x}, approximate="tanh")|F.silu({x})|F.mish({x})|F.softplus({x})|F.elu({x})
F.leaky_relu({x}, 0.1)|F.hardswish({x})|F.hardsigmoid({x})|F.hardtanh({x})|F.selu({x})
torch.exp({x}.clamp(max=3))|torch.sqrt({x}.abs())|torch.rsqrt({x}.abs() + 1)
torch.log1p({x}.abs())|torch.log({x}.abs() + 0.5)|torch.erf({x})|torch.floor({x})|torch.ceil({x})
torch.round({x})|torch.trunc({x})|torch.reciprocal({x}.abs() + 1)|torch.expm1({x}.clamp(-2, 2))
torch.frac({x})|torch.isnan({x})|torch.isinf({x})|torch.atan({x})|torch.asinh({x})
torch.nan_to_num({x})|torch.log2({x}.abs() + 1)|torch.exp2({x}.clamp(max=3))|F.relu6({x})
F.softsign({x})|F.tanhshrink({x})|F.softshrink({x})|F.hardshrink({x})|F.logsigmoid({x})
F.celu({x})|F.threshold({x}, 0.1, 2.0)|torch.square({x})|torch.signbit({x})|torch.cosh({x})
F.dropout({x}, 0.5, False)|torch.sinc({x})|torch.logit({x}, 0.1)|torch.round({x}, decimals=1)
""".replace("\n", "|").strip("|").split("|")


def unary_float(g):
    x = g.pick(is_float)
    return x and f"{g.fresh()} = " + g.rng.choice(UNARY_FLOAT).format(x=x)


def unary(g):
    x = g.pick(is_number)
    if x is None:
        return None
    form = g.rng.choice([
        "torch.abs({x})", "torch.neg({x})", "-{x}", "torch.sign({x})", "{x}.clone()",
        "torch.clamp({x}, -1, 2)", "torch.clamp({x}, min=0)", "torch.zeros_like({x})",
        "torch.ones_like({x})", "torch.full_like({x}, 3)", "{x} ** 2", "torch.square({x})",
        "torch.clamp_max({x}, 2)", "{x}.contiguous()", "{x}.detach()", "torch.sin({x})",
        "torch.sqrt({x}.abs())", "torch.sigmoid({x})", "torch.relu({x})",
    ])
    return f"{g.fresh()} = " + form.format(x=x)


def logic(g):
    x = g.pick(lambda t: not is_float(t))
    if x is None:
        return None
    y = g.pick(lambda t: t.dtype == g.value(x).dtype)
    if not g.broadcasts(x, y):
        y = x
    op = g.rng.choice(["&", "|", "^"])
    form = g.rng.choice([f"{x} {op} {y}", f"~{x}", f"torch.logical_not({x})",
                         f"torch.logical_and({x}, {y})", f"torch.logical_xor({x}, {y})"])
    return f"{g.fresh()} = {form}"


def partner(g, x, fits=lambda t: True):
    """An operand that broadcasts with x: another variable, or a part of x itself."""
    for _ in range(3):
        y = g.pick(fits)
        if y is not None and g.broadcasts(x, y):
            return y
    if g.value(x).dim() and fits(g.value(x)):
        return g.rng.choice([f"{x}[:1]", f"{x}[..., :1]", f"{x}[0]", f"{x}.flip(0)"])
    return x


def binary(g):
    x = g.pick(is_number)
    if x is None:
        return None
    t = g.value(x)
    y = partner(g, x, is_number) if g.rng.random() < 0.75 else scalar(g, t)
    if g.rng.random() < 0.25 and not y.replace(".", "").strip("-").isdigit() and y != "1e-3":
        x, y = y, x
    forms = ["{x} + {y}", "{x} - {y}", "{x} * {y}", "{x} + {y}", "{x} * {y}",
             "torch.add({x}, {y}, alpha=2)", "torch.sub({x}, {y}, alpha=3)",
             "torch.maximum({x}, torch.as_tensor({y}))", "torch.minimum({x}, torch.as_tensor({y}))",
             "{x} / ({y} * {y} + 1)", "torch.rsub({x}, {y})", "torch.remainder({x}, 3)",
             "torch.fmod({x}, 3)", "torch.div({x}, 2, rounding_mode='floor')",
             "torch.div({x}, 2, rounding_mode='trunc')", "{x} // 2", "torch.true_divide({x}, 4)",
             "torch.atan2({x}, torch.as_tensor({y}))", "torch.where({x} > 0, {x}, {y})",
             "torch.fmax({x}, torch.as_tensor({y}))", "2 - {x}", "torch.float_power({x}, 2)",
             "torch.hypot({x}, {x} + 1)", "torch.lerp({x}, {x} + 1, 0.3)",
             "torch.addcmul({x}, {x}, {x}, value=0.5)", "torch.copysign({x}, torch.as_tensor({y}))"]
    return f"{g.fresh()} = " + g.rng.choice(forms).format(x=x, y=y)


def compare(g):
    x = g.pick()
    y = partner(g, x) if g.rng.random() < 0.6 else scalar(g, g.value(x))
    op = g.rng.choice(["<", "<=", ">", ">=", "==", "!="])
    return f"{g.fresh()} = {x} {op} {y}"


def select(g):
    x, c = g.pick(), g.pick(is_bool)
    if c is None or not g.broadcasts(x, c):
        c = f"({x} > 0)"
    y = partner(g, x)
    form = g.rng.choice([f"torch.where({c}, {x}, {y})", f"{x}.masked_fill({c}, 1)",
                         f"torch.where({c}, {x}, 2)", f"torch.where({c}, 0, {x})"])
    return f"{g.fresh()} = {form}"


def cast(g):
    x = g.pick()
    t = g.value(x)
    to = g.rng.choice(["torch.float32"] * 3 + ["torch.float64", "torch.float16", "torch.bfloat16",
                                               "torch.int64", "torch.int32", "torch.bool",
                                               "torch.int16", "torch.int8", "torch.uint8"])
    safe = is_float(t) and "int" in to
    source = f"torch.nan_to_num({x}, 0, 9, 0).clamp({0 if 'uint' in to else -9}, 9)" if safe else x
    return f"{g.fresh()} = {source}.to({to})"


def view(g):
    x = g.pick(has_dims)
    if x is None:
        return None
    rank, d, e = g.value(x).dim(), dim_of(g, x), dim_of(g, x)
    n = g.size(x, d)
    perm = g.rng.sample(range(rank), rank)
    forms = [f"{x}.transpose({d}, {e})", f"{x}.permute({perm})", f"{x}.unsqueeze({d})",
             f"{x}.flatten()", f"{x}.reshape(-1)", f"{x}.movedim({d}, {e})", f"{x}[1:]",
             f"{x}[..., :-1]", f"{x}[::2]", f"{x}[..., 1::2]", f"{x}.select({d}, 0)",
             f"{x}.select({d}, -1)", f"{x}[None]", f"{x}[..., None]", f"{x}.squeeze()",
             f"{x}.squeeze({d})", f"{x}.narrow({d}, 1, 1)", f"{x}.chunk(2, {d})[0]",
             f"{x}.chunk(2, {d})[-1]", f"{x}.split(2, {d})[0]", f"{x}.unbind({d})[0]",
             f"{x}.flip({d})", f"{x}.roll(1, {d})", f"{x}.roll({n} - 1, {d})", f"{x}.mT",
             f"{x}.unfold({d}, 2, 1)", f"{x}.unfold({d}, 2, 2)", f"{x}[{n} - 1:]", f"{x}[-2:]",
             f"{x}.slice_copy({d}, 0, {n} - 1)" if False else f"{x}[:{n} // 2 + 1]",
             f"{x}.expand(2, {', '.join(['-1'] * rank)})", f"{x}.repeat(2, {', '.join('1' * rank)})",
             f"{x}.tile(2)", f"{x}.repeat_interleave(2, {d})", f"torch.atleast_2d({x})"]
    if rank > 1:
        last = " * ".join(g.size(x, i) for i in range(1, rank))
        forms += [f"{x}.diagonal()", f"{x}.diagonal(1, {d}, {e})", f"{x}.flatten(0, 1)",
                  f"{x}.reshape({g.size(x, 0)}, {last})", f"{x}.view(-1, {g.size(x, -1)})",
                  f"{x}.flatten(-2)", f"{x}[:, 1:]", f"{x}[:, -1]", f"{x}[1:, :-1]", f"{x}.t()",
                  f"{x}.T", f"{x}.swapaxes(0, -1)", f"torch.tril({x})", f"torch.triu({x}, 1)"]
    if not g.is_dynamic(x, d) and g.value(x).shape[d] % 2 == 0:
        forms += [f"{x}.unflatten({d}, (2, -1))", f"{x}.unflatten({d}, (-1, 2))"]
    if g.is_static(x):
        count = g.value(x).numel()
        forms += [f"{x}.reshape({w}, -1)" for w in (2, 3, 4) if count % w == 0]
        forms += [f"{x}.flatten().clone().as_strided(({max(count // 2, 1)}, 2), (2, 1))"]
    return f"{g.fresh()} = {g.rng.choice(forms)}"


def written(g, x):
    """x, or a view of it to write to."""
    if g.value(x).dim() == 0:
        return x
    d = dim_of(g, x)
    forms = [x, x, f"{x}[1:]", f"{x}[..., 0]", f"{x}[::2]", f"{x}[-1]", f"{x}.select({d}, 0)",
             f"{x}.transpose(0, -1)", f"{x}.narrow({d}, 0, 1)", f"{x}.view(-1)", f"{x}[..., :-1]",
             f"{x}.flatten()[1:]", f"{x}.unsqueeze(0)", f"{x}.chunk(2, {d})[0]",
             f"{x}.split(1, {d})[-1]", f"{x}.unbind({d})[-1]"]
    if g.value(x).dim() > 1:
        forms += [f"{x}.diagonal()", f"{x}[:, 1:]", f"{x}.mT", f"{x}.permute(1, 0, ...)[0]"]
        forms += [f"{x}[1:, 1:]", f"{x}[0, 1:]", f"{x}.t()[0]"]
    return g.rng.choice(forms)


def in_place(g):
    x = g.pick(writable(g))
    if x is None:
        return None
    t, w = g.value(x), written(g, x)
    y = partner(g, x) if w == x else g.rng.choice(["1", "2", "-1"])
    if "[" in y or shares(g, x, y):
        y += ".clone()"  # Otherwise the result would depend on the order of the loop.
    if is_bool(t):
        return g.rng.choice([f"{w}.logical_not_()", f"{w}.fill_(True)", f"{w}.zero_()"])
    forms = ["{w}.add_({y})", "{w}.mul_({y})", "{w}.sub_({y})", "{w}.fill_(2)", "{w}.zero_()",
             "{w}.copy_(torch.as_tensor({y}))", "{w}.clamp_(-1, 2)", "{w}.neg_()", "{w}.abs_()",
             "{w}.add_(1, alpha=2)", "{w}.add_({w})", "{w}.mul_({w})", "{w}.masked_fill_({w} > 1, 0)",
             "{w}.square_()", "{w}.maximum(torch.as_tensor({y}))", "{w}.pow_(2)", "{w}.remainder_(3)"]
    if is_float(t):
        forms += ["{w}.sin_()", "{w}.relu_()", "{w}.sigmoid_()", "{w}.tanh_()", "{w}.div_(2)",
                  "{w}.exp_().clamp_(max=9)", "{w}.floor_()", "{w}.round_()", "{w}.lerp_({w} + 1, 0.5)"]
    return g.rng.choice(forms).format(w=w, y=y)


def assign(g):
    x = g.pick(lambda t: has_dims(t) and writable(g)(t))
    if x is None:
        return None
    y = g.pick()
    forms = [f"{x}[0] = {x}[-1].clone()", f"{x}[1:] = 1", f"{x}[..., -1] = {y}.clone()", f"{x}[-1] = {y}.clone()",
             f"{x}[::2] = 0", f"{x}[{x} > 1] = 0", f"{x}[torch.tensor([0, 1])] = 1",
             f"{x}.index_fill_(0, torch.tensor([0]), 1)", f"{x}[:] = {y}.clone()", f"{x}[0] += 1",
             f"{x}[1:] *= 2", f"{x}[:-1] += {x}[1:].clone()", f"{x}.index_add_(0, torch.tensor([0, 0]), {x}[:2].clone())",
             f"{x}.index_copy_(0, torch.tensor([1, 0]), {x}[:2].clone())",
             f"{x}.index_put_((torch.tensor([1, 1]),), {x}[0].clone(), accumulate=True)",
             f"{x}.transpose(0, -1)[0] = {x}.transpose(0, -1)[-1].clone()"]
    return g.rng.choice(forms)


def reduce(g):
    x = g.pick()
    t = g.value(x)
    if t.dim() == 0:
        return f"{g.fresh()} = torch.sum({x})"
    d, keep = dim_of(g, x), g.rng.choice(["True", "False"])
    forms = [f"{x}.sum()", f"{x}.sum({d}, keepdim={keep})", f"{x}.sum({d})", f"{x}.amax({d}, {keep})",
             f"{x}.amin({d})", f"{x}.any({d})", f"{x}.all({d}, keepdim={keep})", f"{x}.any()",
             f"{x}.cumsum({d})", f"{x}.argmax({d})", f"{x}.argmin({d}, keepdim={keep})",
             f"{x}.max({d})[0]", f"{x}.min({d})[0]", f"{x}.max()", f"{x}.sort({d}, stable=True)[0]",
             f"{x}.topk(1, {d})[0]", f"torch.count_nonzero({x}, {d})", f"{x}.argmax()"]
    if is_float(t):
        forms += [f"{x}.mean({d}, keepdim={keep})", f"{x}.mean()", f"F.softmax({x}, {d})",
                  f"F.log_softmax({x}, {d})", f"{x}.logsumexp({d})", f"{x}.norm()",
                  f"{x}.var({d}, correction=0)", f"{x}.std({d}, correction=0, keepdim={keep})",
                  f"torch.linalg.vector_norm({x}, dim={d})", f"{x}.tanh().prod({d})",
                  f"F.normalize({x}, dim={d})", f"F.layer_norm({x}, ({g.size(x, -1)},))",
                  f"{x}.mean(({d},), keepdim=True) + {x}", f"{x}.sum(dtype=torch.float64)"]
    return f"{g.fresh()} = {g.rng.choice(forms)}"


def matmul(g):
    x = g.pick(lambda t: is_float(t) and t.dim() >= 1)
    if x is None:
        return None
    t = g.value(x)
    y = g.pick(lambda u: u.dtype == t.dtype and 1 <= u.dim() <= 3 and
               (u.shape[-2] if u.dim() > 1 else u.shape[0]) == t.shape[-1])
    forms = [f"torch.matmul({x}, {y})"] * 3 if y else []
    if t.dim() > 1:
        forms += [f"{x} @ {x}.mT", f"{x}.mT @ {x}", f"F.linear({x}, {x}[..., :1, :].flatten(0, -2))"]
        if not g.is_dynamic(x, -1):
            n = t.shape[-1]
            forms += [f"{x} @ torch.ones({n}, 3, dtype={t.dtype})",
                      f"F.linear({x}, torch.eye({n}, dtype={t.dtype}) * 2)",
                      f"F.linear({x}, torch.ones(2, {n}, dtype={t.dtype}), torch.ones(2, dtype={t.dtype}))"]
    if t.dim() == 2:
        forms += [f"torch.mm({x}, {x}.t())", f"torch.addmm({x}.t().sum(1), {x}, {x}.t() @ {x})",
                  f"torch.einsum('ij,kj->ik', {x}, {x})", f"torch.einsum('ij->i', {x})"]
    if t.dim() == 3:
        forms += [f"torch.bmm({x}, {x}.transpose(1, 2))", f"torch.einsum('bij,bkj->bik', {x}, {x})",
                  f"F.scaled_dot_product_attention({x}, {x}, {x})"]
    if t.dim() == 1:
        forms += [f"torch.dot({x}, {x})", f"torch.outer({x}, {x})"]
    return forms and f"{g.fresh()} = {g.rng.choice(forms)}" or None


def join(g):
    x = g.pick(has_dims)
    if x is None:
        return None
    y = g.pick(lambda t: t.dim() == g.value(x).dim())
    d, n = dim_of(g, x), g.size(x, -1)
    forms = [f"torch.cat([{x}, {y}], {d})", f"torch.cat([{x}, {x}], {d})", f"torch.stack([{x}, {x}], {d})",
             f"torch.cat([{x}, {y}, {x}], {d})", f"torch.hstack([{x}, {x}])", f"F.pad({x}, (1, 0))",
             f"F.pad({x}, (0, 2), value=3)", f"torch.index_select({x}, {d}, torch.tensor([0, 1, 0]))",
             f"{x}[torch.tensor([1, 0])]", f"{x}[..., torch.tensor([0, 1])]",
             f"torch.arange({n}) + {x}.float()", f"torch.zeros({n}) + {x}.float()",
             f"torch.gather({x}, {d}, ({x} > 0).long())", f"F.pad({x}, (-1, 1))",
             f"torch.take_along_dim({x}, {x}.argsort({d}, stable=True), {d})",
             f"torch.full_like({x}, 1).cumsum({d})", f"{x}.new_zeros({n})", f"{x}.new_ones(2, {n})",
             f"torch.arange({n}, dtype=torch.float32).unsqueeze(-1)", f"torch.eye({n})[0] + {x}.float()",
             f"{x}.scatter({d}, ({x} > 0).long(), 1)", f"torch.select_scatter({x}.clone(), {x}.select({d}, 0), {d}, -1)",
             f"torch.slice_scatter({x}.clone(), {x}[:1], 0, 1, 2)", f"torch.where({x} > 0, {x}, {x}.flip({d}))",
             f"torch.full(({n}, 2), 1.5)", f"{x}.sum() * {n}", f"{x} * {n}", f"{x} + {g.size(x, d)} // 2"]
    return f"{g.fresh()} = {g.rng.choice(forms)}"


def image(g):
    x = g.pick(lambda t: t.dtype == torch.float32 and t.dim() in (3, 4))
    if x is None:
        return None
    t = g.value(x)
    c = t.shape[-3] if t.dim() == 4 else t.shape[-2]
    if g.is_dynamic(x, -3 if t.dim() == 4 else -2):
        return None
    if t.dim() == 4:
        forms = [f"F.max_pool2d({x}, 2, 1)", f"F.avg_pool2d({x}, 2, 1)", f"F.max_pool2d({x}, 3, 2, 1)",
                 f"F.conv2d({x}, torch.ones(2, {c}, 2, 2) * 0.3)", f"F.adaptive_avg_pool2d({x}, 1)",
                 f"F.conv2d({x}, torch.ones({c}, 1, 3, 3) * 0.2, padding=1, groups={c})",
                 f"F.interpolate({x}, scale_factor=2)", f"F.pad({x}, (1, 1, 1, 1), mode='replicate')",
                 f"F.conv_transpose2d({x}, torch.ones({c}, 2, 2, 2), stride=2)", f"F.pixel_shuffle({x}, 2)",
                 f"F.interpolate({x}, scale_factor=2, mode='bilinear')", f"F.pad({x}, (1, 0), mode='reflect')"]
    else:
        forms = [f"F.conv1d({x}, torch.ones(2, {c}, 2) * 0.3)", f"F.max_pool1d({x}, 2)",
                 f"F.avg_pool1d({x}, 2, 1)", f"F.conv1d({x}, torch.ones(3, {c}, 3), padding=1)",
                 f"F.conv_transpose1d({x}, torch.ones({c}, 2, 2))"]
    return f"{g.fresh()} = {g.rng.choice(forms)}"


TEMPLATES = [unary_float, unary, logic, binary, compare, select, cast, view, in_place, assign,
             reduce, matmul, join, image]
WEIGHTS = [10, 7, 2, 16, 3, 4, 4, 24, 14, 7, 10, 4, 8, 2]
