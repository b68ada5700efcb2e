"""Programs whose operators have no kernel here, run by PyTorch's own: the results are PyTorch's.

    run.py --taper build/release/bin/taper --library custom.so --folder DIR
"""

import argparse
import copy
import os
import subprocess
import sys

import numpy
import torch
from torch.export import Dim, export, save

ops = torch.ops.my


class Model(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


class Counter(torch.nn.Module):
    """A custom operator that writes a buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x):
        ops.accumulate_(self.total, x)
        return self.total * 2


torch.manual_seed(0)
square, row = torch.randn(4, 4), torch.randn(6)
positive = square @ square.mT + 4 * torch.eye(4)
z = torch.complex(torch.randn(3, 3), torch.randn(3, 3))

# name: (function, inputs)
EQUAL = {
    "functional": (lambda x: ops.shrink(x, 0.5) + 1, (row,)),
    "two results": (lambda x: ops.signs(x), (square,)),
    "a list": (lambda x: [p * 2 for p in ops.pieces(x, 3, "last")], (row,)),
    "all kinds of arguments": (
        lambda x, b: (ops.mix(x, 2, [1], [0.5, 1], b, [x, b], True, torch.float64),
                      ops.mix(x, 1.5, [0, 1], [], None, [b], False, None)), (square, row[:4])),
    "eigenvalues": (lambda x: tuple(torch.linalg.eig(x)), (square,)),
    "complex": (lambda x: torch.linalg.svdvals(x * 2) + x.cumprod(0).abs().sum(1), (z,)),
    "complex results": (lambda x: torch.linalg.qr(x.exp())[1].mH + x.asin().mH, (z,)),
    "a complex constant": (lambda x: torch.linalg.householder_product(x, x.new_ones(3) * 1j), (z,)),
    "a dtype without kernel": (lambda x: x.bitwise_xor(x[[1, 0, 3, 2, 4]]) == x,
                               (torch.arange(5).to(torch.uint64),)),
    "LDL": (lambda x: tuple(torch.linalg.ldl_factor(x)), (positive,)),
    "a list and a tensor": (lambda x: tuple(torch.histogramdd(x, [2, 2, 2, 2])), (square,)),
    "complex numbers": (lambda x: (torch.ldexp(x, x.abs()) + ops.mix(x, 2j, [0], [], None, [], False),
                                   ops.mix(x, 1 - 1j, [1], [0.5], x[:1], [x, x], True)), (z,)),
    "pieces at positions in a tensor": (
        lambda x, at: torch.tensor_split(x, at) + torch.tensor_split(x * 1j, at),
        (row, torch.tensor([1, 4]))),
    "under a condition": (
        lambda x: torch.cond(x.sum() > 0, lambda a: torch.linalg.eigvals(a).abs(),
                             lambda a: torch.linalg.eigvals(a).abs() * 2, (x,)), (positive,)),
}
# Refused by the compiler, or for what the program does: (function, inputs, text of the error).
FAILS = {
    "a check": (lambda x: ops.fail(x, 0), (row,), "my::fail: fail: a check of x"),
    "another exception": (lambda x: ops.fail(x, 1), (row,), "fail: not an error of PyTorch"),
    "no exception": (lambda x: ops.fail(x, 2), (row,), "PyTorch's operator has failed"),
    "other sizes": (lambda x: ops.fail(x, 3), (row,), "it gives the sizes [12]"),
    "another dtype": (lambda x: ops.fail(x, 4), (row,), "it gives Double"),
    "sparse": (lambda x: ops.fail(x, 5), (row,), "it gives a tensor with the layout Sparse"),
    "what PyTorch refuses": (lambda x: torch.linalg.cholesky(x), (-positive * (1 + 0j),),
                             "is not positive-definite"),
    "sparse in between": (lambda x: torch.sparse.mm(x.to_sparse(), x), (square,),
                          "value 'to_sparse': is a sparse or otherwise special tensor"),
}


class Runner:
    def __init__(self, options):
        self.taper, self.folder, self.library = options.taper, options.folder, options.library
        self.bad = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def call(self, *words):
        done = subprocess.run([self.taper, *words], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def compile(self, model, inputs, *options, shapes=None):
        with torch.no_grad():
            save(export(model, inputs, dynamic_shapes=shapes), self.path("m.pt2"))
        return self.call("export", self.path("m.pt2"), "-o", self.path("m.pte"), *options)

    def run(self, inputs, *options):
        names = []
        for i, x in enumerate(inputs):
            names.append(self.path(f"in{i}.npy"))
            numpy.save(names[-1], x.numpy())
        subprocess.run(["rm", "-rf", self.path("out")], check=True)
        code, text = self.call("run", self.path("m.pte"), "--inputs", ",".join(names),
                               "--outputs", self.path("out"), *options)
        if code != 0:
            return text
        count = len(os.listdir(self.path("out")))
        return [torch.from_numpy(numpy.load(self.path(f"out/out{i}.npy"))) for i in range(count)]

    def leave(self):
        return "--kernels=aten", "--aten-library", self.library

    def aten(self):
        return "--aten", "--aten-library", self.library

    def check(self, name, good, text=""):
        print(f"{'ok  ' if good else 'FAIL'} {name}", flush=True)
        if not good:
            self.bad.append(f"{name}: {text}")

    def equal(self, name, model, inputs, *others, shapes=None, options=None):
        """Refused without --kernels aten; with it, results equal PyTorch's for all inputs."""
        code, text = self.compile(model, inputs, shapes=shapes)
        if code == 0:
            return self.check(name, False, "it needs no operator of PyTorch's")
        code, text = self.compile(model, inputs, *(options or self.leave()), shapes=shapes)
        if code != 0 or "PyTorch's operators" not in text:
            return self.check(name, False, text)
        for each in (inputs, *others):
            expected = torch.utils._pytree.tree_leaves(copy.deepcopy(model)(*each))
            got = self.run(each, *self.aten())
            if isinstance(got, str):
                return self.check(name, False, got)
            try:
                torch.testing.assert_close(got, expected)
            except AssertionError as error:
                return self.check(name, False, str(error))
        self.check(name, True)

    def fails(self, name, function, inputs, expected):
        code, text = self.compile(Model(function), inputs, *self.leave())
        got = text if code != 0 else self.run(inputs, *self.aten())
        good = isinstance(got, str) and expected in got.splitlines()[0]
        self.check("error: " + name, good, str(got))


class InTraining(torch.nn.Module):
    """A batch norm that moves its statistics, and dropout that draws nothing or all."""

    def __init__(self):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3, momentum=0.3)

    def forward(self, x):
        y = self.norm(x)
        kept = torch.nn.functional.dropout(y, 0.0, True)
        return kept - torch.nn.functional.dropout(y, 1.0, True), self.norm.running_var * 1


def main():
    parser = argparse.ArgumentParser()
    for name in ("taper", "library", "folder"):
        parser.add_argument("--" + name, required=True)
    runner = Runner(options := parser.parse_args())
    torch.ops.load_library(options.library)
    for name, (function, inputs) in EQUAL.items():
        runner.equal(name, Model(function), inputs)
    runner.equal("not declared", Model(lambda x: ops.signs(ops.defaults(ops.shrink(x, 0.5)))),
                 (row,), options=("--kernels=aten",))
    runner.equal("arguments left out",
                 Model(lambda x: ops.defaults(x, c=3) + ops.defaults(x, 7)), (row,))
    n = Dim("n", min=2, max=64)
    runner.equal("dynamic sizes",
                 Model(lambda x: (ops.shrink(x, 0.1), torch.linalg.eigvals(x @ x.mT),
                                  torch.ops.aten.silu_backward(x, x))),
                 (torch.randn(5, 3),), (torch.randn(17, 3),), (torch.randn(2, 3),),
                 shapes={"inputs": ({0: n},)})
    runner.equal("an operator that writes", Counter(), (row[:3],))
    runner.equal("training mode", InTraining(), (torch.randn(5, 3),), (torch.randn(5, 3),))
    runner.compile(Model(lambda x: torch.ops.my.defaults(x, c=3)), (row,), "--kernels=aten")
    runner.check("error: some arguments left out and not declared", "my::defaults.functional2" in
                 str(runner.run((row,), *runner.aten())))
    with open(runner.path("ops.txt"), "w") as file:
        file.write("my::accumulate_(Tensor(a!) total, Tensor x) -> ()\n")
    code, text = runner.compile(Counter(), (row[:3],), "--ops", runner.path("ops.txt"))
    got = runner.run((row[:3],), *runner.aten()) if code == 0 else text
    runner.check("a declared operator that writes", not isinstance(got, str) and
                 torch.allclose(got[0], row[:3] * 2), str(got))

    for name, (function, inputs, expected) in FAILS.items():
        runner.fails(name, function, inputs, expected)
    runner.compile(Model(EQUAL["functional"][0]), (row,), *runner.leave())
    runner.check("error: without --aten", "my::shrink.out" in str(runner.run((row,))))
    runner.compile(Model(lambda x: torch.linalg.eigvals(x)), (square,), "--kernels=aten")
    runner.check("error: without --aten, with a hint", "(--aten)" in str(runner.run((square,))))
    runner.compile(Model(EQUAL["functional"][0]), (row,), *runner.leave())
    runner.check("error: without the custom library",
                 "my::shrink.out" in str(runner.run((row,), "--aten")))
    runner.check("error: no library", "cannot open" in str(runner.run((row,), "--aten=/none.so")))
    for line in runner.bad:
        print(line)
    return 1 if runner.bad else 0


if __name__ == "__main__":
    sys.exit(main())
