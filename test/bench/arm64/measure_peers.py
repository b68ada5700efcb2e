#!/usr/bin/env python3
"""Counts the instructions of the peers' inferences on 64-bit ARM, as instructions.py does, into
peers.json, whose other models stay.

    measure_peers.py --models build/peers/models --root build/arm64-tests/cortex-a76 \\
        --site FOLDER --python FOLDER NAME...

The models folder is that of test/bench/peers: a NAME has files for the peers there, and a peer
without one is left out. The site has the peers' packages for 64-bit ARM, and the other folder a
Python. Each peer's first output is compared with PyTorch's; in int8 it must only be numbers.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import instructions

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "peers"))
from peers import PEERS, difference  # noqa: E402

CLOSE = 1e-3  # Of the largest number.

# The package of each peer, and the endings of the files of f32 and int8 models.
FILES = {
    "executorch": ("executorch", {"f32": "f32.executorch.pte", "int8": "int8.executorch.pte"}),
    "litert": ("ai_edge_litert", {"f32": "tflite", "int8": "int8.tflite"}),
    "onnxruntime": ("onnxruntime", {"f32": "onnx", "int8": "int8.onnx"}),
    "ncnn": ("ncnn", {"f32": "ncnn.param"}),
}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="+", help="models; one that ends in _int8 is quantised")
    parser.add_argument("--models", type=pathlib.Path, required=True)
    parser.add_argument("--root", required=True, help="where qemu finds libraries")
    parser.add_argument("--site", type=pathlib.Path, required=True)
    parser.add_argument("--python", type=pathlib.Path, required=True)
    parser.add_argument("--cpu", default="cortex-a76", help="the processor that qemu imitates")
    parser.add_argument("--model", default="neoverse-n1", help="the processor of the estimate")
    parser.set_defaults(hot=0)
    return parser.parse_args()


def build_executorch(site, folder):
    """The program that runs ExecuTorch, linked with the libraries of its wheel."""
    package, program = site / "executorch", folder / "executorch_run"
    libraries = ["", "_kernels_optimized", "_kernels_quantized", "_backend_xnnpack", "_threadpool"]
    subprocess.run(
        ["aarch64-linux-gnu-g++", "-O2", "-std=c++17", "-DC10_USING_CUSTOM_GENERATED_MACROS",
         f"-isystem{package}/include",
         f"-isystem{package}/include/executorch/runtime/core/portable_type/c10",
         HERE / "executorch_run.cpp", "-o", program, f"-L{package}/lib", "-Wl,--no-as-needed",
         *[f"-lexecutorch{name}" for name in libraries], f"-Wl,-rpath,{package.resolve()}/lib",
         "-Wl,--allow-shlib-undefined"], check=True)  # fmt: skip
    return program


class Runs:
    """The commands that run the inferences of a model, after qemu's own options."""

    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.executorch = build_executorch(options.site, folder)
        self.output = folder / "output"

    def command(self, peer, file, name):
        """A function from a number of inferences to the command."""
        inputs = self.options.models / f"{name}.inputs.npz"
        if peer == "executorch":
            places = self.raw(inputs)
            return lambda runs: [self.executorch, file, str(runs), self.output, *places]
        library = [self.options.python / path / "aarch64-linux-gnu" for path in ("lib", "usr/lib")]
        peers = HERE.parent / "peers"
        where = {"LD_LIBRARY_PATH": library, "PYTHONPATH": [self.options.site, peers]}
        settings = [f"{key}={':'.join(map(str, paths))}" for key, paths in where.items()]
        settings += ["PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1"]
        head = [word for setting in settings for word in ("-E", setting)]
        head += [self.options.python / "usr/bin/python3.11", HERE / "run_peer.py", peer]
        path = str(file).removesuffix(".param")  # ncnn's models are two files.
        return lambda runs: [*head, path, str(runs), self.output, inputs]

    def raw(self, inputs):
        """Writes the inputs as files of numbers; returns the arguments of executorch_run."""
        words = []
        with np.load(inputs) as stored:
            for key in stored.files:
                array, path = stored[key], self.folder / key
                array.tofile(path)
                kind = {"float32": "f32", "int64": "i64"}[array.dtype.name]
                words += [path, kind, "x".join(map(str, array.shape))]
        return words

    def check(self, expected, exact):
        apart = difference(np.fromfile(self.output, np.float32), expected.ravel())
        if not np.isfinite(apart) or (exact and apart > CLOSE):
            raise RuntimeError(f"its output differs from PyTorch's by {apart:.1e}")


def measure(options, runs, plugin, name):
    """By label of a peer, millions of instructions and of cycles."""
    figures = {}
    plain, dtype = (name[:-5], "int8") if name.endswith("_int8") else (name, "f32")
    for peer, (_, endings) in FILES.items():
        label = PEERS[peer].label
        file = options.models / f"{plain}.{endings.get(dtype)}"
        if not file.exists():
            continue
        try:
            counts = instructions.per_inference(options, plugin, runs.command(peer, file, plain))
            runs.check(np.load(options.models / f"{plain}.expected.npy"), exact=dtype == "f32")
        except RuntimeError as error:
            print(f"measure_peers.py: {name}, {label}: {error}", file=sys.stderr)
            continue
        count = sum(times * len(words) for (_, words), times in counts.items()) / 1e6
        cycles = instructions.estimate(counts, options)
        figures[label] = [float(f"{count:.3g}"), float(f"{cycles:.3g}")]
        print(f"{name}, {label}: {figures[label]}", flush=True)
    return figures


def versions(site):
    """By label, the versions of the packages."""
    found = {}
    for peer, (package, _) in FILES.items():
        folder = next(site.glob(f"{package}-*.dist-info"), None)
        if folder:
            found[PEERS[peer].label] = folder.name.removesuffix(".dist-info").rpartition("-")[2]
    return found


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        runs, plugin = Runs(options, folder), instructions.build_plugin(folder)
        models = {name: measure(options, runs, plugin, name) for name in options.names}
    out = HERE / "peers.json"
    models = {**json.loads(out.read_text())["models"], **models}
    lines = [f"    {json.dumps(name)}: {json.dumps(figures)}" for name, figures in models.items()]
    text = f'{{\n  "versions": {json.dumps(versions(options.site))},\n  "models": {{\n'
    out.write_text(text + ",\n".join(lines) + "\n  }\n}\n")


if __name__ == "__main__":
    main()
