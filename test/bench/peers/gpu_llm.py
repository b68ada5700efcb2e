#!/usr/bin/env python3
"""Tokens per second of a language model with 4-bit weights on a GPU, through the Vulkan delegate.

    gpu_llm.py --taper build/release/bin/taper [--layers 16 ...] [--prompt 512] [--backends B ...]
               [--markdown docs/benchmarks_gpu_llm.md]

The model has the shape of Llama 3.2 1B, random weights in groups of 32, and a static cache of keys and
values that stays on the device. `decode` computes one token behind 127 others, `prefill` a whole
prompt, of which the scores of the last token are wanted. Inputs come from the host and scores go back
to it. Errors are the largest difference from PyTorch on the processor, over the largest score.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401 Registers the operators that dequantise.
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../figures"))
import provenance  # noqa: E402

GROUP = 32
HEAD = """# A language model on a GPU

Written by `test/bench/peers/gpu_llm.py`. A model of the shape of Llama 3.2 1B with random 4-bit
weights in groups of {group}, {layers} layers, a cache of {longest:,} places and scores of the last
token. `decode` is a token behind {before} others, `prefill` a prompt of {prompt} tokens. Inputs
come from the host and scores go back to it; medians of {runs} runs. The error is the largest
difference from PyTorch on the processor, over the largest score.
"""


def random_bytes(random, rows, columns):
    """Integers from -8 to 7, one in a byte."""
    packed = numpy.frombuffer(random.bytes(rows * columns), dtype=numpy.uint8)
    return torch.from_numpy(((packed & 15).astype(numpy.int8) - 8).reshape(rows, columns))


class Packed(nn.Module):
    """A matrix of 4-bit integers with a scale for each group of a row."""

    def __init__(self, random, rows, columns):
        super().__init__()
        self.register_buffer("integers", random_bytes(random, rows, columns))
        scales = torch.full((rows, columns // GROUP), 0.2 / columns**0.5)
        noise = torch.from_numpy(random.random(scales.shape, dtype=numpy.float32))
        self.register_buffer("scales", scales * (0.5 + noise))
        self.register_buffer("zeros", torch.zeros(scales.shape, dtype=torch.int8))

    def floats(self):
        return torch.ops.quantized_decomposed.dequantize_per_channel_group(
            self.integers, self.scales, self.zeros, -8, 7, torch.int8, GROUP, torch.float32)

    def forward(self, x):
        return F.linear(x, self.floats())


def rotate(x, cos, sin):
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat([-b, a], -1) * sin


class Layer(nn.Module):
    def __init__(self, args, random):
        super().__init__()
        self.heads, self.kv_heads, self.depth = args.heads, args.kv_heads, args.width // args.heads
        self.norm1 = nn.RMSNorm(args.width, eps=1e-5)
        self.norm2 = nn.RMSNorm(args.width, eps=1e-5)
        shared = args.kv_heads * self.depth
        self.q = Packed(random, args.width, args.width)
        self.k = Packed(random, shared, args.width)
        self.v = Packed(random, shared, args.width)
        self.o = Packed(random, args.width, args.width)
        self.gate = Packed(random, args.hidden, args.width)
        self.up = Packed(random, args.hidden, args.width)
        self.down = Packed(random, args.width, args.hidden)
        cache = torch.zeros(1, args.kv_heads, args.longest, self.depth)
        self.register_buffer("keys", cache.clone())
        self.register_buffer("values", cache.clone())

    def heads_of(self, x, heads):
        return x.view(1, -1, heads, self.depth).transpose(1, 2)

    def forward(self, x, position, cos, sin, mask):
        y = self.norm1(x)
        q = rotate(self.heads_of(self.q(y), self.heads), cos, sin)
        k = rotate(self.heads_of(self.k(y), self.kv_heads), cos, sin)
        self.keys[:, :, position] = k
        self.values[:, :, position] = self.heads_of(self.v(y), self.kv_heads)
        y = F.scaled_dot_product_attention(q, self.keys, self.values, attn_mask=mask,
                                           enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).reshape(1, -1, self.heads * self.depth))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Llama(nn.Module):
    def __init__(self, args):
        super().__init__()
        random = numpy.random.default_rng(0)
        self.table = Packed(random, args.vocabulary, args.width)
        self.layers = nn.ModuleList(Layer(args, random) for _ in range(args.layers))
        self.norm = nn.RMSNorm(args.width, eps=1e-5)
        depth = args.width // args.heads
        speeds = 500000.0 ** (-torch.arange(0, depth, 2) / depth)
        angles = torch.outer(torch.arange(args.longest), speeds).repeat(1, 2)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())
        self.register_buffer("places", torch.arange(args.longest))

    def forward(self, tokens, position):
        x = F.embedding(tokens, self.table.floats())
        cos, sin = self.cos[position], self.sin[position]
        mask = self.places <= position[:, None]
        for layer in self.layers:
            x = layer(x, position, cos, sin, mask)
        return self.table(self.norm(x[:, -1:]))


def run(args, *words):
    done = subprocess.run([args.taper, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"taper {words[0]}: {done.stderr[-2000:]}")
    return done.stdout


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--taper", required=True)
    for name, size in (("width", 2048), ("layers", 16), ("heads", 32), ("kv_heads", 8),
                       ("hidden", 8192), ("vocabulary", 128256), ("longest", 1024),
                       ("prompt", 512), ("runs", 50)):
        parser.add_argument(f"--{name}", type=int, default=size)
    parser.add_argument("--methods", nargs="+", default=["decode", "prefill"])
    parser.add_argument("--backends", nargs="+", default=["vulkan", "vulkan:force_fp16=1"])
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the files")
    parser.add_argument("--markdown", type=pathlib.Path, help="the page to write")
    return parser.parse_args()


def measure(args, folder, model, method):
    """Exports the method once, and measures it with each backend: rows of the table."""
    count = 1 if method == "decode" else args.prompt
    tokens = torch.arange(count).remainder(args.vocabulary)[None]
    first = before(args) if method == "decode" else 0
    inputs = (tokens, torch.arange(first, first + count))
    program = folder / f"{method}.pt2"
    with torch.no_grad():
        start = time.time()
        torch.export.save(torch.export.export(model, inputs), program)
        print(f"{method}: torch.export {time.time() - start:.1f} s", flush=True)
        for layer in model.layers:
            layer.keys.zero_()
            layer.values.zero_()
        expected = model(*inputs).numpy()
    names = []
    for i, value in enumerate(inputs):
        names.append(str(folder / f"{method}{i}.npy"))
        numpy.save(names[-1], value.numpy())
    rows = []
    for k, backend in enumerate(args.backends):
        file = folder / f"{method}.{k}.pte"
        start = time.time()
        run(args, "export", program, "-o", file, "--backend", backend, "--require-full-delegation")
        compiled = time.time() - start
        out = folder / f"{file.name}.out"
        run(args, "run", file, "--inputs", ",".join(names), "--outputs", out)
        found = numpy.load(next(out.glob("*.npy")))
        error = abs(found - expected).max() / abs(expected).max()
        seconds = json.loads(run(args, "bench", file, "--inputs", ",".join(names), "-n", args.runs,
                                 "--json"))["median_s"]
        print(f"{method}, {backend}: {count / seconds:.0f} tokens/s, {seconds * 1e3:.3f} ms, "
              f"error {error:.1e}, file {file.stat().st_size / 1e6:.0f} MB, "
              f"taper export {compiled:.1f} s", flush=True)
        rows.append([method, f"`{backend}`", f"{float(f'{count / seconds:.3g}'):,.0f}",
                     f"{error:.0e}"])
    return rows


def before(args):
    """How many tokens lie before the one that is decoded."""
    return min(127, args.longest - 1)


def gpu():
    """The first NVIDIA GPU."""
    query = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    said = subprocess.run(query, check=True, capture_output=True, text=True).stdout
    return said.splitlines()[0].replace(", ", ", driver ")


def page(args, rows):
    titles = ["method", "backend", "tokens per second", "error"]
    head = HEAD.format(group=GROUP, before=before(args), **vars(args))
    lines = [head, f"- GPU: {gpu()}. Commit {provenance.commit()}.", ""]
    for cells in [titles, ["---"] * len(titles), *rows]:
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main():
    args = parse()
    model = Llama(args).eval()
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or pathlib.Path(temporary)
        rows = [row for method in args.methods for row in measure(args, folder, model, method)]
    if args.markdown:
        args.markdown.write_text(page(args, rows))


if __name__ == "__main__":
    main()
