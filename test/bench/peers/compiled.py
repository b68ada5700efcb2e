#!/usr/bin/env python3
"""torch.compile's backends beside each other: the first call and later ones.

    scripts/bench_peers.sh --compile                   all of it, into docs/benchmarks_compile.md
    scripts/bench_peers.sh --compile --models resnet18,bert_mini --threads 1 --rounds 1

For a model and a number of threads each backend has a process of its own; all are loaded at once and
take turns. It needs a wheel and the peers' packages on PYTHONPATH. Results are kept in the folder
--out, and not measured again.
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

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../figures"))
import provenance  # noqa: E402
import cores  # noqa: E402
from results import Results  # noqa: E402

BACKENDS = ("eager", "taper", "inductor", "openvino")
SECONDS = 1.0  # Of a backend's turn.
LIMIT = 1e-3  # Largest difference from eager mode, of the largest number.
HEAD = """# torch.compile's backends

Written by `scripts/bench_peers.sh --compile`. The models, weights and inputs are those of
[benchmarks.md](benchmarks.md): full size, f32, batch 1, no gradients. Backends take turns, each in a
process of its own; a figure is the median over the rounds of a round's median, and the ratio to
Taper's is in parentheses (above 1 Taper is ahead). The first call compiles; Inductor starts with an
empty cache, and OpenVINO gets the weights as constants (`prepare_freezing`), since its backend
fails without that. Results that differ from eager mode's by more than {limit:g} of the largest number are
listed below instead. PyTorch has no backend for ONNX Runtime any more.
"""


def worker(model, backend, threads):
    """Answers each line on stdin with the seconds of calls; the first answer is of the first."""
    import torch

    import models

    torch.set_num_threads(threads)
    module, args = models.make(model)
    options = {"threads": threads} if backend == "taper" else None
    if backend == "openvino":
        import openvino.torch  # noqa: F401  registers its backend
        # Weights that arrive as inputs, as they do since PyTorch 2.13, fail in it.
        torch._dynamo.config.prepare_freezing = True
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


def versions(rounds, jobs):
    """What was measured, and how."""
    import torch
    try:
        import openvino
        version = ", OpenVINO " + openvino.__version__.partition("-")[0]
    except ImportError:
        version = ""
    return (f"{provenance.line(jobs)} {rounds} rounds. "
            f"PyTorch {torch.__version__.partition('+')[0]}{version}.")


def measure(model, backends, threads, rounds):
    """A result: by backend the seconds of the first call and of a call, and why it failed."""
    figures, failures, began = {}, {}, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        processes = {name: Process(model, name, threads, folder) for name in backends}
        for name, process in list(processes.items()):
            if process.first is None:
                failures[name] = process.reason()
            elif not process.first["difference"] <= LIMIT:
                failures[name] = f"differs from eager mode by {process.first['difference']:.1e}"
            if name in failures:
                processes.pop(name).close()
        for _ in range(rounds):
            for process in processes.values():
                process.turn()
        for name, process in processes.items():
            figures[name] = process.first["first"], statistics.median(process.times)
            process.close()
    print(f"{model}, {threads} threads: {time.monotonic() - began:.0f} s", flush=True)
    return {"figures": figures, "failures": failures, "load": os.getloadavg()[0]}


def table(rows, backends, title, index, scale):
    """Markdown: a row for each model, with ratios to Taper's figure."""
    lines = ["", title, "", "| model | " + " | ".join(backends) + " |",
             "|---|" + "---|" * len(backends)]
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
        lines.append(f"| {model} | " + " | ".join(cells) + " |")
    means = [f"{math.exp(statistics.mean(map(math.log, each))):.2f}" if each else "-"
             for each in ratios.values()]
    return lines + ["| geometric mean of ratios | " + " | ".join(means) + " |"]


def tables(results, backends, threads):
    """The lines of the tables for so many threads; none without results."""
    rows = {key.split("/")[0]: result for key, result in results.items()
            if key.endswith(f"/{threads}")}  # fmt: skip
    if not rows:
        return []
    figures = {model: result["figures"] for model, result in rows.items()}
    lines = ["", f"## {threads} thread" + "s" * (threads > 1)]
    lines += table(figures, backends, "Milliseconds of a call:", 1, 1e3)
    compiling = [name for name in backends if name != "eager"]
    lines += table(figures, compiling, "Seconds of the first call:", 0, 1)
    failed = [f"- {model}, {name}: {reason}" for model, result in rows.items()
              for name, reason in result["failures"].items()]  # fmt: skip
    lines += ["", *failed] if failed else []
    return lines + ["", f"Largest system load: {max(r['load'] for r in rows.values()):.1f}"]


def report(results, backends):
    """The whole report as text."""
    measured = dict.fromkeys(result["measured"] for result in results.values())
    lines = [HEAD.format(limit=LIMIT).rstrip(), "", *(f"- {line}" for line in measured)]
    for threads in sorted({int(key.split("/")[1]) for key in results}):
        lines += tables(results, backends, threads)
    return "\n".join(lines) + "\n"


def main():
    if sys.argv[1:2] == ["--worker"]:
        return worker(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    import models

    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--models", default=",".join(models.ENTRIES))
    parser.add_argument("--backends", default=",".join(BACKENDS))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1, help="number of models at a time")
    parser.add_argument("--out", default="build/peers", help="the folder for results")
    parser.add_argument("--again", action="store_true", help="repeat all measurements")
    parser.add_argument("--markdown", default=os.devnull, help="the file to write")
    options = parser.parse_args()
    backends, results = options.backends.split(","), Results(options.out, "compiled.json")
    measured = versions(options.rounds, options.jobs)
    tasks = [(model, backends, int(threads), options.rounds)
             for threads in options.threads.split(",") for model in options.models.split(",")
             if options.again or f"{model}/{threads}" not in results]  # fmt: skip
    measuring = cores.side_by_side(options.jobs, measure, tasks)
    for (model, _, threads, _), result in zip(tasks, measuring):
        results.keep(f"{model}/{threads}", {**result, "measured": measured})
    text = report(results, backends)
    print(text)
    with open(options.markdown, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
