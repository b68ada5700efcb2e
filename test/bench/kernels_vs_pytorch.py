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
import torch.nn.functional as F

ROUNDS = 3


def rand(*sizes):
    return torch.randn(*sizes)


def ints(high, *sizes):
    return torch.randint(0, high, sizes)


def rows():
    """(name, function, arguments), with shapes typical of vision and language models.

    Tables are constants of the model, since `taper run` copies the inputs before each run."""
    image, tokens, scores = rand(1, 64, 56, 56), rand(1, 197, 768), rand(1, 12, 197, 197)
    norm = [rand(768), rand(768)]
    channel = [rand(64), rand(64)]
    table, mask = rand(30000, 256), torch.rand(1, 12, 197, 197) > 0.5
    return [
        ("softmax last dim", lambda x: F.softmax(x, -1), [scores]),
        ("softmax dim 1", lambda x: F.softmax(x, 1), [image]),
        ("log_softmax", lambda x: F.log_softmax(x, -1), [rand(8, 30000)]),
        ("layer_norm", lambda x, w, b: F.layer_norm(x, [768], w, b), [tokens] + norm),
        ("group_norm", lambda x, w, b: F.group_norm(x, 8, w, b), [image] + channel),
        ("gelu", F.gelu, [tokens]),
        ("gelu tanh", lambda x: F.gelu(x, approximate="tanh"), [tokens]),
        ("silu", F.silu, [tokens]),
        ("sigmoid", torch.sigmoid, [tokens]),
        ("exp", torch.exp, [tokens]),
        ("add", torch.add, [tokens, rand(1, 197, 768)]),
        ("add broadcast", torch.add, [tokens, rand(768)]),
        ("mul channel", torch.mul, [image, rand(1, 64, 1, 1)]),
        ("embedding", lambda i: F.embedding(i, table), [ints(30000, 4, 128)]),
        ("index_select", lambda i: table.index_select(0, i), [ints(30000, 512)]),
        ("index", lambda x, i, j: x[:, i, j], [rand(8, 128, 64), ints(128, 256), ints(64, 256)]),
        ("gather", lambda x, i: x.gather(1, i), [rand(128, 512), ints(512, 128, 256)]),
        ("cat dim 1", lambda a, b: torch.cat([a, b], 1), [image, image]),
        ("cat last dim", lambda a, b: torch.cat([a, b], -1), [tokens, tokens]),
        ("permute heads", lambda x: x.reshape(1, 197, 12, 64).permute(0, 2, 1, 3).contiguous(),
         [tokens]),
        ("permute to channels last", lambda x: x.permute(0, 2, 3, 1).contiguous(), [image]),
        ("transpose", lambda x: x.t().contiguous(), [rand(768, 768)]),
        ("slice", lambda x: x[:, 1:, ::2].contiguous(), [tokens]),
        ("where", torch.where, [mask, scores, rand(1, 12, 197, 197)]),
        ("masked_fill", lambda x, m: x.masked_fill(m, -1e9), [scores, mask]),
        ("sum all", lambda x: x.sum(), [tokens]),
        ("sum last dim", lambda x: x.sum(-1), [tokens]),
        ("mean first dim", lambda x: x.mean(1), [tokens]),
        ("mean image", lambda x: x.mean([2, 3]), [image]),
        ("amax last dim", lambda x: x.amax(-1), [tokens]),
        ("argmax last dim", lambda x: x.argmax(-1), [rand(8, 30000)]),
        ("max dim", lambda x: tuple(x.max(-1)), [tokens]),
        ("var last dim", lambda x: x.var(-1), [tokens]),
        ("any last dim", lambda x: x.any(-1), [mask]),
        ("cumsum", lambda x: x.cumsum(-1), [tokens]),
        ("topk", lambda x: tuple(x.topk(5, -1)), [rand(16, 30000)]),
        ("bmm q k", torch.bmm, [rand(12, 197, 64), rand(12, 64, 197)]),
        ("bmm weights v", torch.bmm, [rand(12, 197, 197), rand(12, 197, 64)]),
        ("sdpa", F.scaled_dot_product_attention, [rand(1, 12, 197, 64) for _ in "qkv"]),
        ("upsample nearest", lambda x: F.interpolate(x, scale_factor=2), [image]),
        ("upsample bilinear", lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
         [image]),
        ("avg_pool2d", lambda x: F.avg_pool2d(x, 2), [image]),
        ("max_pool2d", lambda x: F.max_pool2d(x, 3, 2, 1), [image]),
        ("pad", lambda x: F.pad(x, (1, 1, 1, 1)), [image]),
        ("expand", lambda x: x.expand(64, 197, 768).contiguous(), [rand(1, 197, 768)]),
    ]


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
        text = run([taper, "run", compiled, "-i", inputs, "-n", count])
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
    for name, function, args in rows():
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
