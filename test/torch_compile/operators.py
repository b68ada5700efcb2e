"""Compiles samples of PyTorch's operator database with torch.compile(backend="taper") and compares
with eager mode.

    python test/torch_compile/operators.py [--count 1000] [--only REGEX] [--gradients]
"""

import argparse
import collections
import os
import re
import sys
import tempfile
import time
import warnings

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), name) for name in ("oracle", "zoo")]
DTYPES = ("f32", "i64", "bool", "bf16")
GOLDEN = 0.6180339887  # Its multiples, modulo 1, are spread evenly.


def parse():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--count", type=int, default=1000,
                        help="at least so many samples, if there are")
    parser.add_argument("--only", default="", help="only operators whose name matches")
    parser.add_argument("--seconds", type=int, default=120, help="time limit of each operator")
    parser.add_argument("--gradients", action="store_true", help="compare gradients")
    return parser.parse_args()


def outcome(case, info, call, tensors, gradients):
    """The results of a call and, if they are wanted, the gradients of its inputs."""
    import torch
    if gradients:
        tensors = [each.requires_grad_() if each.is_floating_point() else each
                   for each in tensors]
    torch.manual_seed(1)
    with torch.set_grad_enabled(gradients):
        outputs = list(call(*tensors))
    floats = [each for each in outputs if each.requires_grad]
    if not floats:
        return outputs
    leaves = [each for each in tensors if each.requires_grad]
    found = torch.autograd.grad(sum(each.float().square().sum() for each in floats), leaves,
                                allow_unused=True)
    return [each.detach() for each in outputs] + [
        torch.zeros_like(leaf) if each is None else each for leaf, each in zip(leaves, found)]


def problem_of(case, info, given, gradients):
    """What is wrong with the results; empty if nothing is."""
    import opinfo
    import samples
    import torch
    if case.random and case.operator not in samples.UNWRITTEN:
        same = len(given) == len(case.expected) and all(
            torch.allclose(a, b, equal_nan=True) for a, b in zip(given, case.expected))
        return "" if same else "other random numbers than in eager mode"
    return opinfo.compare(info, case, given)


def compare_operator(name, count, gradients):
    """Draws samples of an operator and runs them; returns a row for each."""
    import samples
    import torch
    from watch import Watch
    info = samples.operators()[name]
    rows = []
    for dtype in ("f32",) if gradients else DTYPES:
        for case in samples.draw(name, info, dtype, count)[:count]:
            torch._dynamo.reset()

            def function(*tensors):
                return tuple(case.call(info, tensors))

            if gradients:
                try:
                    case.expected = outcome(case, info, function, case.copies(), True)
                except RuntimeError:  # No gradients in PyTorch, either.
                    continue
            with Watch() as watch:
                try:
                    fast = torch.compile(function, backend=watch.backend)
                    given = outcome(case, info, fast, case.copies(), gradients)
                    problem = problem_of(case, info, given, gradients)
                except Exception as error:  # Whatever it raises is a failure.
                    problem = f"{type(error).__name__}: {str(error).strip()[:300]}"
            rows.append([case.key(), "failed" if problem else watch.result(), problem,
                         watch.reasons])
    return {"rows": rows}


def plan(options):
    """Names of operators, any first few of which are spread evenly over the database, and how many
    samples of each operator and dtype are drawn."""
    import samples
    names = [name for name in samples.operators() if re.search(options.only, name)]
    if options.gradients:
        names = [name for name in names if samples.operators()[name].supports_autograd]
    infos = [samples.operators()[name] for name in names]
    pairs = len(names) if options.gradients else sum(
        samples.DTYPES[dtype] in info.dtypes for info in infos for dtype in DTYPES)
    order = sorted(range(len(names)), key=lambda k: k * GOLDEN % 1)
    return [names[k] for k in order], max(1, options.count // max(1, pairs))


def main():
    options = parse()
    warnings.filterwarnings("ignore")
    import torch
    import zoo
    torch.set_num_threads(1)
    zoo.warm_up(torch, False)
    torch.compile(torch.nn.Linear(2, 2), backend="taper")(torch.ones(1, 2)).sum().backward()
    names, count = plan(options)
    counts, began, tried = collections.Counter(), time.monotonic(), 0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if sum(counts.values()) >= options.count:
                break
            tried += 1
            row = zoo.in_child(os.path.join(folder, "row.json"), compare_operator,
                               (name, count, options.gradients), options.seconds)
            if "error" in row:
                counts["failed"] += 1
                print(f"{name}: failed: {row['error']}", flush=True)
            for key, result, problem, reasons in row.get("rows", ()):
                counts[result] += 1
                if problem or result != "whole":
                    print(f"{key}: {result}: {problem}", *reasons, sep="\n    ", flush=True)
    print(f"{sum(counts.values())} samples of {tried} operators in "
          f"{time.monotonic() - began:.0f} s:",
          ", ".join(f"{count} {name}" for name, count in counts.most_common()))
    return 1 if counts["failed"] or not counts else 0


if __name__ == "__main__":
    sys.exit(main())
