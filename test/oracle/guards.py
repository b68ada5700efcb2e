"""Programs with guards on their sizes: Taper must refuse the sizes that PyTorch's reloaded program
refuses, and give the same results for all others.

    python test/oracle/guards.py --taper build/release/bin/taper

torch.export records every branch that the model took depending on sizes, and every check of an
operator, as a guard; sizes that violate it would need another graph.
"""

import argparse
import dataclasses
import os
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


def expected(module, arguments):
    """PyTorch's result, or None if a guard refuses the sizes."""
    try:
        return module(*arguments)
    except (AssertionError, RuntimeError):
        return None


def try_sizes(taper, case, shapes, module, pte, folder):
    """Returns what is wrong, or None."""
    arguments = case.arguments(shapes)
    want = expected(module, arguments)
    files = [os.path.join(folder, f"in{i}.npy") for i in range(len(shapes))]
    for path, tensor in zip(files, pytree.tree_leaves(arguments)):
        numpy.save(path, tensor.numpy())
    code, text = taper.run("run", pte, "--inputs", ",".join(files), "--outputs", folder + "/out")
    if want is None:
        return None if code == 1 else f"PyTorch refuses it, Taper exits with {code}"
    if code != 0:
        return "PyTorch accepts it, Taper reports: " + text
    (name,) = os.listdir(folder + "/out")
    got = numpy.load(os.path.join(folder, "out", name))
    os.remove(os.path.join(folder, "out", name))
    if got.shape != tuple(want.shape) or not numpy.allclose(got, want.numpy(), atol=1e-5):
        return "the results differ from PyTorch's"
    return None


def run(taper, case, backend):
    """Returns the number of sizes tried, the number of those that PyTorch refuses, and failures."""
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
            if range.upper > 2**31 and not case.bounded:
                words += ["--bound", f"{symbol}={BOUND}"]
        code, text = taper.run(*words)
        if code != 0:
            return 0, 0, [f"{case.name}: {text}"]
        for shapes in case.shapes:
            refused += expected(reloaded, case.arguments(shapes)) is None
            problem = try_sizes(taper, case, shapes, reloaded, pte, folder)
            if problem:
                failures.append(f"{case.name} {shapes} {' '.join(backend)}: {problem}")
    return len(case.shapes), refused, failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--taper", required=True)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    taper = Taper(options.taper)
    failures, tried, refused = [], 0, 0
    for case in PROGRAMS:
        for backend in ([], ["--backend", "xnnpack"]):
            sizes, nays, problems = run(taper, case, backend)
            tried, refused, failures = tried + sizes, refused + nays, failures + problems
    for failure in failures:
        print(failure)
    print(f"{len(PROGRAMS)} programs with guards, {tried} runs, {refused} of them refused by "
          f"PyTorch: {len(failures)} differ from PyTorch")
    sys.exit(1 if failures or not refused else 0)


if __name__ == "__main__":
    main()
