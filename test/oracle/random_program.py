"""Draws small programs: lines of Python over torch, valid by construction, with their inputs.

A program is run while it is drawn, with several sizes of its dynamic dimensions (its environments):
a line that PyTorch refuses in any of them is dropped. Which dimensions are dynamic, and which are
equal, follows from the sizes themselves.
"""

import random
import re
import warnings

import torch
import torch.nn.functional as F

import random_ops

HINTS = [{"a": 7, "b": 5}, {"a": 3, "b": 9}, {"a": 11, "b": 4}]
LARGEST = 16
MOST_ELEMENTS = 4096
DTYPES = [torch.float32] * 8 + [
    torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int64, torch.int32,
    torch.int8, torch.uint8, torch.int16, torch.bool, torch.bool,
]
NAMES = {"torch": torch, "F": F}


def draw_tensor(rng, shape, dtype):
    generator = torch.Generator().manual_seed(rng.randrange(1 << 31))
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) > 0.5
    if dtype.is_floating_point:
        return (torch.randn(shape, generator=generator) * 2).to(dtype)
    low = 0 if dtype == torch.uint8 else -5
    return torch.randint(low, 10, shape, generator=generator).to(dtype)


class Input:
    """values: one tensor per environment. dims: names of dynamic dimensions, or None."""

    def __init__(self, name, values, dims):
        self.name, self.values, self.dims = name, values, dims


class Program:
    def __init__(self, inputs, lines, outputs):
        self.inputs, self.lines, self.outputs = inputs, lines, outputs

    @property
    def environments(self):
        return len(self.inputs[0].values) if self.inputs else 1

    def source(self, name="forward"):
        args = ", ".join(x.name for x in self.inputs)
        body = "".join(f"    {line}\n" for line in self.lines)
        return f"def {name}({args}):\n{body}    return ({', '.join(self.outputs)},)\n"

    def function(self, name="forward"):
        scope = dict(NAMES)
        exec(compile(self.source(name), "<random program>", "exec"), scope)
        return scope[name]

    def run(self, environment):
        args = [x.values[environment].clone() for x in self.inputs]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.function()(*args)

    def values_before(self, line, environment):
        """The value of every variable before the line is executed."""
        scope = {**NAMES, **{x.name: x.values[environment].clone() for x in self.inputs}}
        for each in self.lines[:line]:
            exec(each, scope)
        return scope

    def script(self):
        """The program as a self-contained Python file."""
        text = "import torch\nimport torch.nn.functional as F\n"
        if "quantized_decomposed" in self.source():
            text += "import torch.ao.quantization.fx._decomposed\n"
        if "torchao" in self.source():
            text += "import torchao.quantization.quant_primitives\n"
        text += "\n"
        for x in self.inputs:
            text += f"# dynamic: {x.dims}\n" if any(x.dims) else ""
            value = x.values[0]
            text += f"{x.name} = torch.tensor({value.tolist()}, dtype={value.dtype})"
            text += f".reshape({tuple(value.shape)})\n" if value.numel() == 0 else "\n"
        return text + "\n\n" + self.source() + "\n"


class Drawer:
    """Draws one program. The templates in random_ops call it `g`."""

    templates, weights = random_ops.TEMPLATES, random_ops.WEIGHTS

    def __init__(self, seed, length):
        self.rng = random.Random(seed)
        self.length = length
        self.dynamic = self.rng.random() < 0.25
        self.lines, self.inputs, self.names = [], [], []
        self.environments = [dict(NAMES) for _ in (HINTS if self.dynamic else HINTS[:1])]

    # ---- Queries by templates
    def value(self, name):
        return self.environments[0][name]

    def pick(self, fits=lambda t: True):
        """A random variable that fits, preferably a recent one; None if there is none."""
        found = [n for n in self.names if fits(self.value(n))]
        if not found:
            return None
        return found[-1 - min(int(self.rng.expovariate(0.25)), len(found) - 1)]

    def sizes_of(self, name):
        """For each dimension, the sizes in all environments."""
        return list(zip(*(tuple(e[name].shape) for e in self.environments)))

    def is_dynamic(self, name, dim):
        return len(set(self.sizes_of(name)[dim])) > 1

    def is_static(self, name):
        return not any(self.is_dynamic(name, d) for d in range(self.value(name).dim()))

    def size(self, name, dim):
        dim = dim % self.value(name).dim()
        return f"{name}.shape[{dim}]" if self.is_dynamic(name, dim) else str(
            self.value(name).shape[dim])

    def broadcasts(self, name, other):
        """Whether `other` broadcasts to the sizes of `name` in every environment."""
        mine, its = self.sizes_of(name), self.sizes_of(other)
        if len(its) > len(mine):
            return False
        pairs = zip(reversed(mine), reversed(its))
        return all(a == b or set(b) == {1} for a, b in pairs)

    # ---- Drawing
    def draw_inputs(self):
        for i in range(self.rng.randint(1, 4)):
            rank = self.rng.choice([0, 1, 2, 2, 2, 3, 3, 4])
            fixed = [self.rng.choice([1, 2, 3, 4, 4, 4, 6, 8]) for _ in range(rank)]
            dims = [None] * rank
            if self.dynamic and rank and (i == 0 or self.rng.random() < 0.5):
                dims[self.rng.randrange(rank)] = "a"
                if rank > 1 and self.rng.random() < 0.3:
                    dims[self.rng.randrange(rank)] = "b"
            dtype = self.rng.choice(DTYPES)
            values = []
            for hints, environment in zip(HINTS, self.environments):
                shape = [hints[d] if d else n for d, n in zip(dims, fixed)]
                values.append(draw_tensor(self.rng, shape, dtype))
                environment[f"x{i}"] = values[-1].clone()
            self.inputs.append(Input(f"x{i}", values, dims))
            self.names.append(f"x{i}")

    def acceptable(self, name):
        values = [e[name] for e in self.environments]
        if not all(isinstance(v, torch.Tensor) for v in values):
            return False
        first = values[0]
        if any(v.dtype != first.dtype or v.dim() != first.dim() for v in values):
            return False
        if first.dtype not in DTYPES or first.dim() > 5:
            return False
        if any(v.numel() > MOST_ELEMENTS or v.numel() == 0 for v in values):
            return False
        bad = first.dtype.is_floating_point and (~torch.isfinite(first)).float().mean() > 0.3
        return not bad

    def rebuild(self):
        """Recomputes the environments after a line failed halfway."""
        program = Program(self.inputs, self.lines, [])
        self.environments = [
            program.values_before(len(self.lines), e) for e in range(len(self.environments))
        ]

    def add(self, line):
        target = re.match(r"(v\d+) = ", line)
        try:
            for environment in self.environments:
                exec(line, environment)
            fine = not target or self.acceptable(target.group(1))
        except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError):
            fine = False
        if not fine:
            if target:
                for environment in self.environments:
                    environment.pop(target.group(1), None)
            else:
                self.rebuild()
            return
        self.lines.append(line)
        if target:
            self.names.append(target.group(1))

    def draw(self):
        self.draw_inputs()
        for attempt in range(self.length * 6):
            if len(self.lines) >= self.length:
                break
            template = self.rng.choices(self.templates, self.weights)[0]
            line = template(self)
            if line is not None:
                self.add(line)
        drawn = [n for n in self.names if n.startswith("v")] or self.names
        count = min(len(drawn), self.rng.randint(1, 4))
        outputs = {drawn[-1], *self.rng.sample(drawn, count)}
        outputs |= {x.name for x in self.inputs if self.rng.random() < 0.15}
        return Program(self.inputs, self.lines, sorted(outputs, key=lambda n: (n[0], int(n[1:]))))

    def fresh(self):
        return f"v{len(self.lines)}"


def draw(seed, length=20, drawer=Drawer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return drawer(seed, length).draw()
