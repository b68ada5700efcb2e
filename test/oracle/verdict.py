"""Whether two results differ, and whether the program amplified rounding to that difference."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

RELATIVE = {torch.float64: 1e-9, torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 6e-2}
ROUNDING = {torch.float64: 1e-15, torch.float32: 1e-6, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}
EXACT = {"abs", "neg", "relu", "maximum", "minimum", "cat", "stack", "index", "where", "clone",
         "sign", "floor", "ceil", "round", "trunc", "amax", "amin", "max", "min", "flip", "sort",
         "zeros_like", "ones_like", "full_like", "full", "clamp", "gather", "roll", "repeat",
         "clamp_min", "clamp_max", "index_select", "constant_pad_nd", "tril", "triu", "arange"}


# Operators whose rounding is relative to the operand, not to the result, and operators whose zeros
# may have either sign, depending on the position in a vector.
OPERAND_SIZED, UNSIGNED_ZERO = {"gelu"}, {"softshrink"}


class Verdict:
    """kind: ok, wrong, refused, died; declined (a documented refusal), unstable (rounding),
    stepped (a backend's integer arithmetic), unexported and misexported (defects of torch.export)."""

    def __init__(self, kind, detail=""):
        self.kind, self.detail = kind, detail

    def is_failure(self):
        return self.kind in ("wrong", "refused", "died")

    def __str__(self):
        return f"{self.kind}: {self.detail}".strip()


def differs(got, expected):
    """Returns how they differ; empty if they do not."""
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return f"{got.dtype} {tuple(got.shape)}, not {expected.dtype} {tuple(expected.shape)}"
    if not expected.dtype.is_floating_point:
        return "" if torch.equal(got, expected) else f"{few(got)}, not {few(expected)}"
    finite = expected[torch.isfinite(expected)].double()
    largest = finite.abs().max().item() if finite.numel() else 0.0
    limit = RELATIVE[expected.dtype] * max(1.0, largest)
    same = torch.allclose(got.double(), expected.double(), rtol=0, atol=limit, equal_nan=True)
    return "" if same else f"{few(got)}, not {few(expected)}"


def few(tensor):
    return str(tensor.flatten()[:6].tolist())


class Jitter(TorchDispatchMode):
    """Perturbs every rounded result of an operator by slightly more than its rounding."""

    def __init__(self, seed):
        super().__init__()
        self.generator = torch.Generator().manual_seed(seed)

    def shaken(self, value, size=None):
        """Perturbs `value` relative to `size`, by default to itself; subnormals may become zero."""
        if value.dtype not in ROUNDING:
            return value
        noise = torch.randn(value.shape, generator=self.generator) * ROUNDING[value.dtype]
        moved = value.double() * (1 + noise) if size is None else value.double() + noise * size
        tiny = (moved != 0) & (moved.abs() < torch.finfo(value.dtype).smallest_normal)
        return torch.where(tiny & (noise > 0), 0.0, moved).to(value.dtype)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        schema = func._schema
        name = schema.name.split("::")[1].rstrip("_")
        if name.startswith("quantize_") and args[0].numel():  # Sums round relative to their terms.
            args = self.shaken(args[0], args[0].abs().amax()), *args[1:]
        out = func(*args, **(kwargs or {}))
        if name in EXACT:
            return out
        if name in UNSIGNED_ZERO:
            sign = torch.randint(0, 2, out.shape, generator=self.generator) * 2.0 - 1
            return torch.where(out == 0, 0.0 * sign, out).to(out.dtype)
        if name in OPERAND_SIZED and not schema.is_mutable:
            return self.shaken(out, args[0])
        if name == "native_layer_norm":  # Its rounding is relative to operand times third result.
            return self.shaken(out[0], args[0] * out[2]), *out[1:]
        if schema.is_mutable:
            if name not in ("copy", "fill", "zero", "masked_fill", "index_put") and args:
                args[0].copy_(self.shaken(args[0].clone()))
            return out
        if any(r.alias_info for r in schema.returns):
            return out
        return tree_map_only(torch.Tensor, self.shaken, out)


class Steps(Jitter):
    """Also moves the integers of quantised tensors by a step, as integer arithmetic rounds them."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func._schema.name.split("::")[1]
        if not name.startswith("quantize_"):
            return super().__torch_dispatch__(func, types, args, kwargs)
        out = func(*args, **(kwargs or {}))
        bounds = torch.iinfo(out.dtype)
        step = torch.randint(-1, 2, out.shape, generator=self.generator)
        return (out.long() + step).clamp(bounds.min, bounds.max).to(out.dtype)


def distance(a, b):
    gap = (a.double() - b.double()).abs()
    return torch.nan_to_num(gap, nan=1e30, posinf=1e30).max().item() if gap.numel() else 0.0


def is_within_steps(program, environment, output, got):
    """Whether a result is as near as integer arithmetic comes that rounds each quantised tensor by
    itself: backends multiply integers, where PyTorch dequantises, multiplies floats and rounds."""
    if "quantize_" not in program.source():
        return False
    return is_unstable(program, environment, output, got, Steps, 3)


def is_unstable(program, environment, output, got, jitter=Jitter, factor=10):
    """Whether a little noise changes the result by about as much as `got` differs from it."""
    expected = program.run(environment)[output]
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return False
    moved = 0.0
    for seed in range(12):
        with jitter(seed):
            try:
                shaken = program.run(environment)[output]
            except (RuntimeError, IndexError):
                return True
        moved = max(moved, distance(shaken, expected))
    return distance(got, expected) <= factor * moved
