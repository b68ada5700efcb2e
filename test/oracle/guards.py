"""Programs with conditions on their inputs: Taper must refuse the inputs that PyTorch's reloaded
program refuses, in `taper run` and in executor_runner, and give the same results for all others.

    python test/oracle/guards.py --taper build/release/bin/taper

torch.export records every branch that the model took depending on sizes, and every check of an
operator, as a guard; sizes that violate it would need another graph. Ranges bound sizes, and
torch._check on data becomes an assertion.
"""

import argparse
import dataclasses
import functools
import os
import subprocess
import sys
import tempfile
import warnings

import numpy
import torch
from torch.export import Dim
from torch.utils import _pytree as pytree

from taper_process import Taper

OPEN = Dim.DYNAMIC
BOUND = 64  # The bound of sizes that a program leaves unbounded.


@dataclasses.dataclass
class Program:
    name: str
    forward: object  # The module's forward function.
    shapes: list  # Shapes of the inputs to try; the first are those of the sample.
    dynamic: object
    nested: object = None  # Makes the arguments from tensors; None: the tensors are the arguments.
    bounded: bool = False  # Whether its guards bound all sizes.

    def arguments(self, shapes):
        """Tensors of these shapes, or the tensors themselves where a program looks at them."""
        if isinstance(shapes[0], torch.Tensor):
            return tuple(shapes)
        generator = torch.Generator().manual_seed(1)
        tensors = [torch.randn(*shape, generator=generator) for shape in shapes]
        return self.nested(*tensors) if self.nested else tuple(tensors)


PROGRAMS = []


def program(shapes, dynamic=({0: OPEN},), nested=None, bounded=False):
    def add(function):
        PROGRAMS.append(Program(function.__name__, function, shapes, dynamic, nested, bounded))
        return function

    return add


def vectors(*sizes):
    return [[(size,)] for size in sizes]


@program(vectors(40, 20, 22, 24, 28, 39))
def remainder(self, x):
    rows = x.reshape(-1, 4)
    return (rows * 2 if rows.shape[0] > 5 else rows).sum(0)


@program([[(6,), (9,)], [(3,), (3,)], [(3,), (5,)], [(5,), (3,)]], ({0: OPEN}, {0: OPEN}))
def order(self, x, y):
    return x + y[: x.shape[0]]


@program([[(2, n)] for n in (2001, 1500, 1999, 2000, 2002)], ({1: OPEN},), bounded=True)
def quotient(self, x):
    if x.shape[1] * 3 // 4 == 1500:
        x = x[:, :1000]
    return x.sum(1)


@program(
    [[(6, 2), (3,)], [(9, 2), (4,)], [(8, 2), (4,)]],
    ({"a": [{0: OPEN}], "B c": {0: OPEN}},),
    lambda a, b: ({"a": [a], "B c": b},),
)
def nested(self, d):
    return d["a"][0] + 1 if d["a"][0].shape[0] % 3 == 0 else d["a"][0]


@program([[(n, 3)] for n in (8, 2, 3, 4, 5, 6, 7, 9, 10, 12)])
def view(self, x):
    return x.view(-1, x.shape[0] // 2)


@program(vectors(8, 4, 5, 6, 7, 12))
def logic(self, x):
    n = x.shape[0]
    return x + 1 if n * n > 30 and (n % 2 == 0 or n > 100) else x


@program(vectors(8, 2, 3, 50, 51), bounded=True)
def extremes(self, x):
    n = x.shape[0]
    return x + 1 if max(n, 3) == n and min(n, 50) == n else x


@program(vectors(8, 2, 6, 7, 16))
def true_division(self, x):
    return x + 1 if x.shape[0] / 4 > 1.5 else x


@program(vectors(8, 6, 7, 9, 10, 11), bounded=True)
def powers(self, x):
    n = x.shape[0]
    return x + 1 if 2**n > 100 and n**2 != 50 and abs(n - 20) > 3 and round(n / 3) == 3 else x


@program([[(n, 3)] for n in (8, 2, 6, 7, 12, 13)])
def checks(self, x):
    torch._check(x.shape[0] <= 12)
    torch._check(x.shape[0] != 7)
    return x + 1


@program([[(3, n)] for n in (40, 5, 7, 8, 9, 41)], ({1: OPEN},))
def convolution(self, x):
    return torch.nn.functional.conv1d(x.unsqueeze(0), torch.ones(3, 3, 5), stride=3)


@program(
    [[(8, 3), (8, 4)], [(5, 3), (5, 2)], [(5, 3), (4, 2)]],
    ({0: Dim.AUTO, 1: Dim.AUTO}, {0: Dim.AUTO, 1: Dim.AUTO}),
)
def equal(self, x, y):
    return torch.cat([x, y], 1)


@program(
    [[(8, 9), (4,)], [(12, 9), (4,)], [(3, 5), (4,)], [(3, 4), (4,)]],
    ({0: OPEN, 1: OPEN}, {0: OPEN}),
)
def two_inputs(self, x, y):
    if x.shape[0] + y.shape[0] * 2 != 20 and x.shape[1] > y.shape[0]:
        return x.sum() + y.sum()
    return x.sum()


@program([[(8, 4)], [(6, 3)], [(7, 3)], [(4, 2)]], ({0: OPEN, 1: OPEN},))
def multiple(self, x):
    return x * 2 if x.shape[0] == 2 * x.shape[1] else x


@program([[(n, 4)] for n in (8, 2, 6, 7)])
def halves(self, x):
    first, second = x.chunk(2)
    return first + second


@program(vectors(9, 3, 4, 5, 6, 7, 12))
def windows(self, x):
    return x.unfold(0, 4, 2).sum(1)


@program([[(1, 2, n)] for n in (9, 3, 4, 5, 8, 12)], ({2: OPEN},))
def pool(self, x):
    return torch.nn.functional.avg_pool1d(x, 3, 2, ceil_mode=True)


@program(vectors(9, 3, 6, 7, 8, 12))
def thirds(self, x):
    return x.reshape(x.shape[0] // 3, 3).sum(1)


@program([[(1, 1, n, 4)] for n in (13, 5, 8, 16, 21)], ({2: OPEN},))
def padding(self, x):
    missing = -x.shape[2] % 8
    return torch.nn.functional.pad(x, (0, 0, 0, missing)) if missing else x


@program([[(2, 3, n, n + 2)] for n in (14, 6, 7, 8, 20)], ({2: OPEN, 3: OPEN},))
def pyramid(self, x):
    small = torch.nn.functional.max_pool2d(x, 2)
    large = torch.nn.functional.interpolate(small, size=x.shape[2:])
    return large + x if x.shape[2] > 6 else x


@program([[(n, 6)] for n in (5, 0, 1, 2, 9)] + [[(5, 5)], [(5, 7)]])
def fixed_columns(self, x):
    return x + 1


@program([[(n, 6)] for n in (5, 0, 2, 3, 8, 9)], ({0: Dim("rows", min=3, max=8)},))
def least(self, x):
    return x.sum(1)


@program([[(n,)] for n in (5, 0, 1, 2)], ({0: Dim("rows", min=2, max=8)},))
def least_of_two(self, x):
    return x * 2


TWICE = 2 * Dim("half", min=3, max=20)


@program([[(n, 2)] for n in (10, 0, 4, 5, 6, 7, 40, 41)], ({0: TWICE},))
def even(self, x):
    return x.exp()


@program([[(10, 2), (10, 3)], [(8, 2), (8, 3)], [(8, 2), (10, 3)]], ({0: TWICE}, {0: TWICE}))
def even_twice(self, x, y):
    return x.sum() + y.sum()


@program([[(6, 2), (12,)], [(7, 2), (14,)], [(7, 2), (13,)]],
         ({0: Dim("half", min=3, max=20)}, {0: TWICE}))
def half(self, x, y):
    return x.sum() * y.sum()


@program(vectors(9, 4, 5, 8, 16, 17))
def functions(self, x):
    n = x.shape[0]
    return x + 1 if n & 8 and n << 1 > 16 and not n % 3 == 1 else x


def numbers(*values):
    return [(torch.arange(8.0), torch.tensor(value)) for value in values]


@program(numbers(3, -2, -1, 0, 1, 4, 5, 8), None)
def between(self, x, i):
    n = i.item()
    torch._check(n >= 1)
    torch._check(n < 5, lambda: "n must be below five")
    return x.narrow(0, 0, n).sum()


@program(numbers(3, -1, 0, 6, 7), None)
def as_size(self, x, i):
    n = i.item()
    torch._check_is_size(n)
    torch._check(n <= 6)
    return x.new_ones(n) + x[0]


@program(numbers(2, 3, 4), None)
def not_three(self, x, i):
    n = i.item()
    torch._check(n != 3)
    return x * n


@program(numbers(6, 5, 4, 2, -8), None)
def multiples(self, x, i):
    n = i.item()
    torch._check(n % 2 == 0)
    torch._check(n // 2 > 1)
    return x + n


@program(numbers(0.75, 0.25, 0.5, 2.0), None)
def above_half(self, x, p):
    p = p.item()
    torch._check(p > 0.5)
    return x * p


@program(numbers(True, False), None)
def must_hold(self, x, p):
    torch._check(p.item())
    return x * 2


@program(numbers(1, 2, 0), None)
def must_be_one(self, x, i):
    n = i.item()
    torch._check(n == 1)
    return x * n


@program(numbers(1.0, 0.5, -1.0), None)
def all_positive(self, x, y):
    torch._assert_async((x + y > 0).all(), "all must be positive")
    return (x + y).sqrt()


@program([(torch.tensor(v),) for v in ([1.0, 0, 2, 3], [0.0, 0, 0, 1], [0.0, 0, 0, 0])], None)
def chosen(self, x):
    places = x.nonzero()
    torch._check(places.shape[0] > 1)
    return places + 1


@program(numbers(1, 0, -1), None)
def in_a_branch(self, x, i):
    def yes(x):
        torch._assert_async((x < 0).any(), "one must be negative")
        return x + 1

    return torch.cond(i > 0, yes, lambda x: x - 1, (x,))


@program([[(5, 6), (6,)], [(2, 6), (6,)], [(5, 6), (6,)]], ({0: Dim("rows", min=3, max=8)}, None))
def with_a_product(self, x, y):
    return torch.nn.functional.softmax(x @ torch.ones(6, 6), 1) * y


def expected(module, arguments):
    """PyTorch's result, or None if a guard refuses the sizes."""
    try:
        return module(*arguments)
    except (AssertionError, RuntimeError, IndexError):
        return None


def with_taper(taper, pte, files, folder, _):
    """Returns whether the inputs were refused, the result if there is one, and the message."""
    code, text = taper.run("run", pte, "--inputs", ",".join(files), "--outputs", folder + "/out")
    if code != 0:
        return code == 1, None, text
    (name,) = os.listdir(folder + "/out")
    got = numpy.load(os.path.join(folder, "out", name))
    os.remove(os.path.join(folder, "out", name))
    return False, got, text


def with_executor_runner(program, pte, files, folder, like):
    """The same; the runner writes raw elements, which take the dtype and sizes of `like`."""
    done = subprocess.run(
        [program, "--model_path", pte, "--inputs", ",".join(files), "--print_output=none",
         "--output_file", folder + "/raw"],
        capture_output=True, text=True, check=False,
    )
    if done.returncode != 0:
        return done.returncode == 1, None, done.stderr
    if like is None:
        return False, None, ""
    raw = numpy.fromfile(folder + "/raw-0.bin", dtype=like.numpy().dtype)
    return False, raw.reshape(like.shape) if raw.size == like.numel() else raw, ""


def try_inputs(way, case, shapes, module, pte, folder):
    """What is wrong; None if nothing is."""
    arguments = case.arguments(shapes)
    want = expected(module, arguments)
    leaves = pytree.tree_leaves(arguments)
    files = [os.path.join(folder, f"in{i}.npy") for i in range(len(leaves))]
    for path, tensor in zip(files, leaves):
        numpy.save(path, tensor.numpy())
    refused, got, text = way(pte, files, folder, want)
    if want is None:
        return None if refused else "PyTorch refuses it, Taper does not: " + text
    if got is None:
        return "PyTorch takes it, Taper says: " + text
    if got.shape != tuple(want.shape) or not numpy.allclose(got, want.numpy(), atol=1e-5):
        return "the results differ from PyTorch's"
    return None


def run(taper, runner, case, backend):
    """Returns the number of inputs tried, the number of those that PyTorch refuses, and failures."""
    module = type(case.name, (torch.nn.Module,), {"forward": case.forward})()
    exported = torch.export.export(
        module, case.arguments(case.shapes[0]), dynamic_shapes=case.dynamic
    )
    failures, refused = [], 0
    with tempfile.TemporaryDirectory() as folder:
        pt2, pte = folder + "/model.pt2", folder + "/model.pte"
        torch.export.save(exported, pt2)
        reloaded = torch.export.load(pt2).module()
        words = ["export", pt2, "-o", pte] + backend
        for symbol, range in exported.range_constraints.items():
            backed = str(symbol).startswith("s")
            if backed and range.upper > 2**31 and not case.bounded:
                words += ["--bound", f"{symbol}={BOUND}"]
        code, text = taper.run(*words)
        if code != 0:
            return 0, 0, [f"{case.name}: {text}"]
        ways = {"taper run": functools.partial(with_taper, taper),
                "executor_runner": functools.partial(with_executor_runner, runner)}
        for shapes in case.shapes:
            refused += len(ways) * (expected(reloaded, case.arguments(shapes)) is None)
            for name, way in ways.items():
                problem = try_inputs(way, case, shapes, reloaded, pte, folder)
                if problem:
                    failures.append(f"{case.name} {shapes} {' '.join(backend)} {name}: {problem}")
    return len(case.shapes) * len(ways), refused, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--taper", required=True)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    taper = Taper(options.taper)
    runner = os.path.join(os.path.dirname(options.taper), "executor_runner")
    failures, tried, refused = [], 0, 0
    for case in PROGRAMS:
        for backend in ([], ["--backend", "xnnpack"]):
            runs, nays, problems = run(taper, runner, case, backend)
            tried, refused, failures = tried + runs, refused + nays, failures + problems
    for failure in failures:
        print(failure)
    print(f"{len(PROGRAMS)} programs, {tried} runs, {refused} of them refused by "
          f"PyTorch: {len(failures)} differ from PyTorch")
    sys.exit(1 if failures or not refused else 0)


if __name__ == "__main__":
    main()
