#!/usr/bin/env python3
"""torch.compile's backends beside each other: the first call and later ones.

    compiled.py [--models resnet18,bert_mini] [--threads 1,2] [--backends eager,taper,inductor]

Run it with the installed wheel and the peers' packages on PYTHONPATH. Models, weights and inputs
are those of models.py. For a model and a number of threads each backend has a process of its own; all
are loaded at once and take turns, and the figure is the median over rounds of a round's median.
Inductor starts with an empty cache, so that its first call compiles. PyTorch 2.13 has no backend
for ONNX Runtime. The table is printed as Markdown.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

BACKENDS = ("eager", "taper", "inductor", "openvino")
ROUNDS, SECONDS = 5, 1.0
LIMIT = 1e-3  # Largest difference from eager mode, of the largest number.


def worker(model, backend, threads):
    """Answers each line on stdin with the seconds of calls; the first answer is of the first."""
    import torch

    import models

    torch.set_num_threads(threads)
    module, args = models.make(model)
    options = {"threads": threads} if backend == "taper" else None
    if backend == "openvino":
        import openvino.torch  # noqa: F401  registers its backend
        options = {"device": "CPU", "config": {"INFERENCE_NUM_THREADS": threads,
                                               "INFERENCE_PRECISION_HINT": "f32"}}
    fast = module if backend == "eager" else torch.compile(
        module, backend=backend, options=options, dynamic=False)
    with torch.no_grad():
        expected = torch.utils._pytree.tree_leaves(module(*args))
        begin = time.perf_counter()
        outputs = torch.utils._pytree.tree_leaves(fast(*args))
        first = time.perf_counter() - begin
        worst = max((a - b).abs().max().item() / max(1.0, b.abs().max().item())
                    for a, b in zip(outputs, expected, strict=True))
        print("FIGURE", json.dumps({"first": first, "difference": worst}), flush=True)
        fast(*args)
        for _ in sys.stdin:
            times, until = [], time.perf_counter() + SECONDS
            while len(times) < 5 or time.perf_counter() < until:
                begin = time.perf_counter()
                fast(*args)
                times.append(time.perf_counter() - begin)
            print("FIGURE", json.dumps({"time": statistics.median(times)}), flush=True)


class Process:
    """A backend with a model, in a process of its own."""

    def __init__(self, model, backend, threads, folder):
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads),
                       "TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, "inductor")}
        self._log = open(os.path.join(folder, backend + ".log"), "w+")
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--worker", model, backend, str(threads)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True,
            env=environment)
        self.times = []
        self.first = self.read()

    def read(self):
        """Its next figures; None if it has ended."""
        for line in self._process.stdout:
            if line.startswith("FIGURE "):
                return json.loads(line[len("FIGURE "):])
        return None

    def turn(self):
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        self.times.append(self.read()["time"])

    def reason(self):
        """The last line that it wrote as an error."""
        self._log.seek(0)
        return ([""] + [line.strip() for line in self._log if line.strip()])[-1][:200]

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._log.close()


def measure(model, backends, threads):
    """By backend: (seconds of the first call, seconds of a call); and what failed, and why."""
    figures, failures = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        processes = {name: Process(model, name, threads, folder) for name in backends}
        for name, process in list(processes.items()):
            if process.first is None:
                failures[name] = process.reason()
            elif not process.first["difference"] <= LIMIT:
                failures[name] = f"differs from eager mode by {process.first['difference']:.1e}"
            if name in failures:
                processes.pop(name).close()
        for _ in range(ROUNDS):
            for process in processes.values():
                process.turn()
        for name, process in processes.items():
            figures[name] = process.first["first"], statistics.median(process.times)
            process.close()
    return figures, failures


def table(rows, backends, title, index, scale):
    """Markdown: a row for each model, with ratios to Taper's figure."""
    print(f"\n{title}\n\n| model | " + " | ".join(backends) + " |\n|---|" + "---|" * len(backends))
    ratios = {name: [] for name in backends}
    for model, figures in rows.items():
        cells = []
        for name in backends:
            if name not in figures:
                cells.append("-")
                continue
            value = figures[name][index]
            ratio = value / figures["taper"][index] if "taper" in figures else math.nan
            ratios[name].append(ratio)
            cells.append(f"{value * scale:.3g} ({ratio:.2f})")
        print(f"| {model} | " + " | ".join(cells) + " |")
    means = [f"{math.exp(statistics.mean(map(math.log, each))):.2f}" if each else "-"
             for each in ratios.values()]
    print("| geometric mean of ratios | " + " | ".join(means) + " |")


def main():
    if sys.argv[1:2] == ["--worker"]:
        return worker(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    import models

    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--models", default=",".join(models.ENTRIES))
    parser.add_argument("--backends", default=",".join(BACKENDS))
    parser.add_argument("--threads", default="1,2")
    options = parser.parse_args()
    backends = options.backends.split(",")
    for threads in map(int, options.threads.split(",")):
        rows = {}
        for model in options.models.split(","):
            rows[model], failures = measure(model, backends, threads)
            for name, reason in failures.items():
                print(f"{model}, {name}, {threads} threads: {reason}", flush=True)
        shown = f"{threads} thread" + "s" * (threads > 1)
        table(rows, backends, f"Later calls, {shown}: milliseconds (ratio to Taper's)", 1, 1e3)
        compiling = [name for name in backends if name != "eager"]
        table(rows, compiling, f"First call, {shown}: seconds (ratio to Taper's)", 0, 1)
        print(f"\nSystem load at the end: {os.getloadavg()[0]:.1f}", flush=True)


if __name__ == "__main__":
    main()
