#!/usr/bin/env python3
"""Latency on a GPU: Taper's Vulkan delegate beside ncnn, ONNX Runtime (WebGPU on Vulkan) and PyTorch.

    gpu.py --taper build/release/bin/taper --store build/peers/gpu.json [--models resnet50 ...]
    gpu.py --store build/peers/gpu.json --markdown docs/benchmarks_gpu.md     # only the report

Models have their full size, seeded random weights and batch 1. Inputs come from the host and outputs
go back to it, for all but PyTorch's CUDA graph, which stays on the device and shows what the card
can do. All peers take turns: the figure is the median over rounds of a round's median. Errors are the
largest difference from PyTorch on the processor, over the largest value. A peer whose package is
missing is left out; what --store has of it from an earlier run stays, and the report tells of both.

Times to the first result are with a driver that has kept nothing of its own (for NVIDIA's,
__GL_SHADER_DISK_CACHE=0). Taper's are of a fresh process, from opening the model, and include opening
the driver; those of the others begin when the process has it open, except for the first model.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../figures"))
import provenance  # noqa: E402

os.environ["__GL_SHADER_DISK_CACHE"] = "0"  # Before anything opens the driver.
try:
    import torch
except ImportError:  # The report alone does not need it.
    torch = None

MODELS = ["mobilenet_v2", "mobilenet_v3_small", "efficientnet_b0", "resnet18", "resnet50", "vit_b_16",
          "bert"]
ROUNDS, RUNS = 5, 100


def make_model(name):
    """Returns the model and its inputs."""
    torch.manual_seed(0)
    if name == "bert":
        import transformers

        class Encoder(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.model = transformers.BertModel(transformers.BertConfig(),
                                                    add_pooling_layer=False)

            def forward(self, ids):
                return self.model(input_ids=ids).last_hidden_state

        return Encoder().eval(), (torch.randint(0, 30000, (1, 128)),)
    import torchvision

    model = getattr(torchvision.models, name)().eval()
    if name == "vit_b_16":  # Its head is initialised with zeros.
        torch.nn.init.normal_(model.heads.head.weight, std=0.02)
    return model, (torch.randn(1, 3, 224, 224),)


def timed(run):
    """The median time of a call, in milliseconds."""
    for _ in range(5):
        run()
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        run()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


class Taper:
    name = "Taper"
    precision = "f32"

    def __init__(self, args, folder, model, inputs):
        self.taper, self.file = args.taper, folder / "model.pte"
        self.inputs = []
        for i, value in enumerate(inputs):
            self.inputs.append(str(folder / f"in{i}.npy"))
            numpy.save(self.inputs[-1], value.numpy())
        with torch.no_grad():
            torch.export.save(torch.export.export(model, inputs), folder / "model.pt2")
        self.run("export", folder / "model.pt2", "-o", self.file, "--backend", "vulkan",
                 "--require-full-delegation", "--precision", self.precision)
        self.run("run", self.file, "--inputs", ",".join(self.inputs), "--outputs", folder / "out")
        self.output = numpy.load(next((folder / "out").glob("*.npy")))
        self.first_ms = self.first()
        self.first("--cache")
        self.cached_ms = statistics.median(self.first() for _ in range(3))

    def first(self, *options):
        """Milliseconds to the first result of a fresh process."""
        text = self.run("bench", self.file, "--inputs", ",".join(self.inputs), "-n", 1, "--warmup",
                        0, "--threads", min(16, os.cpu_count()), "--json", *options)
        figures = json.loads(text)
        return (figures["open_s"] + figures["load_s"] + figures["first_s"]) * 1e3

    def run(self, *words):
        return subprocess.run([self.taper, *map(str, words)], check=True, capture_output=True,
                              text=True).stdout

    def time(self):
        text = self.run("bench", self.file, "--inputs", ",".join(self.inputs), "-n", RUNS, "--json")
        return json.loads(text)["median_s"] * 1e3


class TaperHalf(Taper):
    """Products multiply float16 and add float32, by matrix units."""
    name = "Taper, f16"
    precision = "f16"


class CudaGraph:
    name = "PyTorch CUDA graph"

    def __init__(self, args, folder, model, inputs):
        model, self.inputs = model.cuda(), [value.cuda() for value in inputs]
        side = torch.cuda.Stream()
        with torch.no_grad(), torch.cuda.stream(side):
            for _ in range(3):
                model(*self.inputs)
        torch.cuda.synchronize()
        self.graph = torch.cuda.CUDAGraph()
        with torch.no_grad(), torch.cuda.graph(self.graph):
            self.result = model(*self.inputs)
        self.once()
        self.output = self.result.cpu().numpy()

    def once(self):
        self.graph.replay()
        torch.cuda.synchronize()

    def time(self):
        return timed(self.once)


class OnnxRuntime:
    name = "ONNX Runtime WebGPU"

    def __init__(self, args, folder, model, inputs):
        import onnxruntime

        if "WebGpuExecutionProvider" not in onnxruntime.get_available_providers():
            raise ImportError("onnxruntime-webgpu")
        torch.onnx.export(model, inputs, folder / "model.onnx", dynamo=False)
        start = time.perf_counter()
        self.session = onnxruntime.InferenceSession(str(folder / "model.onnx"),
                                                    providers=["WebGpuExecutionProvider"])
        names = [each.name for each in self.session.get_inputs()]
        self.feed = dict(zip(names, [value.numpy() for value in inputs]))
        self.output = self.session.run(None, self.feed)[0]
        self.first_ms = (time.perf_counter() - start) * 1e3

    def time(self):
        return timed(lambda: self.session.run(None, self.feed))


class Ncnn:
    name = "ncnn"

    def __init__(self, args, folder, model, inputs):
        import ncnn
        import pnnx

        traced = str(folder / "traced.pt")
        pnnx.export(model, traced, inputs, fp16=False)
        start = time.perf_counter()
        self.ncnn, self.net = ncnn, ncnn.Net()
        self.net.opt.use_vulkan_compute = True
        for option in ("packed", "storage", "arithmetic"):
            setattr(self.net.opt, "use_fp16_" + option, False)
        self.net.load_param(str(folder / "traced.ncnn.param"))
        self.net.load_model(str(folder / "traced.ncnn.bin"))
        self.input = ncnn.Mat(inputs[0].squeeze(0).numpy()).clone()
        self.output = self.once().reshape(1, -1)
        self.first_ms = (time.perf_counter() - start) * 1e3

    def once(self):
        with self.net.create_extractor() as extractor:
            extractor.input("in0", self.input)
            return numpy.array(extractor.extract("out0")[1])

    def time(self):
        return timed(self.once)


def measure(args, name):
    """One row: for each peer its milliseconds and its error."""
    model, inputs = make_model(name)
    with torch.no_grad():
        expected = model(*inputs).numpy()
    peers = []
    with tempfile.TemporaryDirectory() as folder:
        for make in (Taper, TaperHalf, OnnxRuntime, Ncnn, CudaGraph):  # The last one moves the model.
            try:
                place = pathlib.Path(folder) / make.__name__
                place.mkdir()
                peers.append(make(args, place, model, inputs))
            except Exception as problem:  # It cannot run this model, or is not there.
                print(f"{name}: {make.name}: {type(problem).__name__} {str(problem)[:200]}")
        times = {peer.name: [] for peer in peers}
        for _ in range(ROUNDS):
            for peer in peers:
                times[peer.name].append(peer.time())
    row = {}
    for peer in peers:
        error = numpy.abs(peer.output.reshape(expected.shape) - expected).max()
        row[peer.name] = {"ms": statistics.median(times[peer.name]),
                          "error": float(error / numpy.abs(expected).max()),
                          "measured": measured_with()}
        for key in ("first_ms", "cached_ms"):
            if hasattr(peer, key):
                row[peer.name][key] = getattr(peer, key)
    return row


HEAD = """# Benchmarks on a GPU

Written by `test/bench/peers/gpu.py`. Latency in milliseconds, f32 but for the column of
`--precision f16`, batch 1, the ratio to Taper's in parentheses (above 1 Taper is ahead; that of f16
says how much of the time it takes), then the error: the largest difference from PyTorch on the
processor, over the largest value. Models have their full size and seeded random weights. Inputs come
from the host and outputs go back to it; PyTorch's CUDA graph stays on the device, may use TF32 in
convolutions, and shows what the card can do. Peers took turns; the figure is the median over rounds
of a round's median. Where their packages could not be installed together, peers were measured in
different runs on the same kind of machine. "Beyond f16": with these random weights activations fall
below what float16 holds, which `taper export` tells by the error that it measures.
"""


def machines(rows):
    """What the figures were measured with; peers are named where that is not the same for all."""
    peers = {}
    for row in rows.values():
        for peer, figure in row.items():
            peers.setdefault(figure["measured"], {})[peer] = None
    for measured, names in peers.items():
        yield f"- {measured}" + (f" {', '.join(names)}." if len(peers) > 1 else "")


def report(rows):
    """The page in Markdown."""
    peers = ["Taper", "Taper, f16", "ncnn", "ONNX Runtime WebGPU", "PyTorch CUDA graph"]
    lines = [HEAD, *machines(rows), ""]
    lines += ["| model | " + " | ".join(peers) + " |", "|---" * (len(peers) + 1) + "|"]
    for name, row in rows.items():
        cells = []
        for peer in peers:
            figure = row.get(peer)
            if figure is None:
                cells.append("-")
            elif figure["error"] > 1e-2:
                cells.append("beyond f16" if peer == "Taper, f16" else "wrong")
            else:
                ratio = "" if peer == "Taper" else f" ({figure['ms'] / row['Taper']['ms']:.2f})"
                cells.append(f"{figure['ms']:.3g}{ratio}, {figure['error']:.0e}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, *report_first(rows)]) + "\n"


FIRST = """
Milliseconds from a model's file to its first result, with a driver that has kept nothing, and with
Taper's own file of compiled shaders. Taper's include opening the driver.

| model | Taper | Taper, --cache | ncnn | ONNX Runtime WebGPU |
|---|---|---|---|---|"""


def report_first(rows):
    """The table of first results, of the models that have it."""
    rows = {name: row for name, row in rows.items() if "first_ms" in row.get("Taper", {})}
    lines = [FIRST] if rows else []
    for name, row in rows.items():
        cells = [row["Taper"]["first_ms"], row["Taper"]["cached_ms"]]
        cells += [row.get(peer, {}).get("first_ms") for peer in ("ncnn", "ONNX Runtime WebGPU")]
        shown = ["-" if each is None else f"{each:.0f}" for each in cells]
        lines.append(f"| {name} | {' | '.join(shown)} |")
    return lines


def measured_with():
    """The GPU, its driver, and the commit."""
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    said = subprocess.run(query, check=True, capture_output=True, text=True).stdout.split()
    return (f"GPU: {torch.cuda.get_device_name()}, driver {said[0]}; PyTorch {torch.__version__}. "
            f"Commit {provenance.commit()}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--taper", help="the command; without it nothing is measured")
    parser.add_argument("--store", required=True, help="the file with the figures")
    parser.add_argument("--models", nargs="*", default=MODELS)
    parser.add_argument("--markdown", help="the page to write")
    args = parser.parse_args()
    path = pathlib.Path(args.store)
    rows = json.loads(path.read_text()) if path.exists() else {}
    for name in args.models if args.taper else []:
        row = rows.setdefault(name, {})
        row.update(measure(args, name))
        print(name, {peer: f"{value['ms']:.3f} ms, error {value['error']:.1e}"
                     for peer, value in row.items()}, flush=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(rows, indent=1) + "\n")
    if args.markdown:
        pathlib.Path(args.markdown).write_text(report(rows))


main()
