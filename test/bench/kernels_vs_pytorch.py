"""Prints the time of single operators here and in PyTorch, one thread each, and the ratio.

    python test/bench/kernels_vs_pytorch.py --taper build/release/bin/taper [--only softmax,cat]

Each row is a model of one operator: exported, compiled by `taper export`, run by `taper run
--iterations`. The minimum time of each side is used. The two sides alternate, so that a busy
machine slows both. Needs PyTorch and NumPy.
"""

import argparse
import pathlib
import re
import subprocess
import tempfile
import time

import numpy
import torch

import operator_rows

ROUNDS = 3


class Model(torch.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout).strip().splitlines()[0])
    return done.stdout


def seconds(text):
    """The minimum time printed by `taper run --iterations`."""
    number, unit = re.search(r"min ([0-9.]+) ?(ns|us|ms|s)\b", text).groups()
    return float(number) * {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[unit]


def time_pytorch(function, args, count):
    best = float("inf")
    with torch.no_grad():
        for _ in range(count):
            start = time.perf_counter()
            function(*args)
            best = min(best, time.perf_counter() - start)
    return best


def measure(taper, folder, function, args):
    program, compiled = folder / "m.pt2", folder / "m.pte"
    with torch.no_grad():
        torch.export.save(torch.export.export(Model(function), tuple(args)), program)
    run([taper, "export", program, "-o", compiled])
    for i, arg in enumerate(args):
        numpy.save(folder / f"{i}.npy", arg.numpy())
    inputs = ",".join(str(folder / f"{i}.npy") for i in range(len(args)))
    time_pytorch(function, args, 3)
    count = max(5, min(500, int(0.2 / time_pytorch(function, args, 5))))
    ours = theirs = float("inf")
    for _ in range(ROUNDS):
        theirs = min(theirs, time_pytorch(function, args, count))
        text = run([taper, "run", compiled, "-i", inputs, "-n", count, "-t", 1])
        ours = min(ours, seconds(text))
    return ours, theirs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--taper", required=True)
    parser.add_argument("--only", default="", help="rows whose names contain one of these")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    wanted = options.only.split(",")
    print(f"{'operator':26} {'taper us':>10} {'pytorch us':>11} {'ratio':>7}")
    for name, function, args in operator_rows.rows():
        if not any(part in name for part in wanted):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                ours, theirs = measure(options.taper, pathlib.Path(folder), function, args)
            except RuntimeError as error:
                print(f"{name:26} {error}")
                continue
        print(f"{name:26} {ours * 1e6:10.1f} {theirs * 1e6:11.1f} {ours / theirs:7.2f}", flush=True)


if __name__ == "__main__":
    main()
