#!/usr/bin/env python3
"""Times random layers in Taper, PyTorch and ONNX Runtime, one thread each, and lists those where
Taper takes more than LIMIT times as long as the faster of the two.

    scripts/bench_layers.sh                     3,000 layers, into docs/benchmarks_layers.md
    scripts/bench_layers.sh --jobs 16           as many at a time, each on a core of its own
    scripts/bench_layers.sh --numbers 17,80-99 --again
    scripts/bench_layers.sh --slow --rounds 9   those of the list once more
    scripts/bench_layers.sh --report            only writes the report

All take turns; a figure is the least of all rounds. Taper compiles for XNNPACK; what that does not
take runs on the kernels. No inputs are copied. Results are kept in the folder --out, and not measured
again. Outputs are compared with PyTorch's.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "../figures"), os.path.join(HERE, "../peers")]
import cores  # noqa: E402
import layers  # noqa: E402
import provenance  # noqa: E402
from results import Results  # noqa: E402

LIMIT = 1.5
SECONDS = 0.04  # Of a turn.
WRONG = 1e-3  # Of the largest number.
HEAD = """# Layers that nobody named

Written by `scripts/bench_layers.sh`: {count} random layers of {families} families
(`test/bench/layers/layers.py`), one thread. Below are those for which Taper takes more than {limit:g}
times as long as the faster of PyTorch (eager mode) and ONNX Runtime, the worst first. A figure is the
least of {rounds} rounds, in which all take turns.
"""


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout or "no message").strip().splitlines()[0])
    return done.stdout


def leaves(outputs):
    return [x for x in torch.utils._pytree.tree_leaves(outputs) if isinstance(x, torch.Tensor)]


def least_time(call):
    """The least time of calls within SECONDS."""
    least, until = math.inf, time.perf_counter() + SECONDS
    while True:
        begin = time.perf_counter()
        call()
        end = time.perf_counter()
        least = min(least, end - begin)
        if end > until:
            return least


class Taper:
    def __init__(self, taper, module, args, folder):
        self._command = [
            taper,
            "bench",
            folder / "layer.pte",
            "-t",
            1,
            "--seconds",
            SECONDS,
            "--json",
        ]
        program = folder / "layer.pt2"
        torch.export.save(torch.export.export(module, tuple(args)), program)
        run([taper, "export", program, "-o", folder / "layer.pte", "--backend", "xnnpack",
             "--io", "application"])  # fmt: skip
        files = []
        for i, arg in enumerate(args):
            files.append(str(folder / f"{i}.npy"))
            np.save(files[-1], arg.numpy())
        self._inputs = ["-i", ",".join(files)] if files else []
        run([taper, "run", folder / "layer.pte", "-t", 1, "-o", folder, *self._inputs])
        self._folder = folder

    def difference(self, expected):
        """The largest difference from the expected outputs, of the largest number in each."""
        worst = 0.0
        for i, right in enumerate(expected):
            found = np.load(self._folder / f"out{i}.npy")
            right = right.numpy()
            if found.shape != right.shape:
                return math.inf
            if right.size == 0 or np.array_equal(found, right, equal_nan=True):
                continue
            with np.errstate(invalid="ignore"):
                error = np.abs(found.astype(np.float64) - right)
            worst = max(worst, np.nanmax(error) / max(1e-30, np.nanmax(np.abs(right))))
        return float(worst)

    def time(self):
        return json.loads(run(self._command + self._inputs))["min_s"]


class PyTorch:
    def __init__(self, module, args):
        self._call = lambda: module(*args)

    def time(self):
        return least_time(self._call)


class OnnxRuntime:
    def __init__(self, module, args, folder):
        import onnxruntime

        path = str(folder / "layer.onnx")
        torch.onnx.export(
            module, tuple(args), path, dynamo=True, external_data=False, verbose=False
        )
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = 1, 4
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        names = [value.name for value in session.get_inputs()]
        feed = dict(zip(names, [np.ascontiguousarray(arg.numpy()) for arg in args]))
        self._call = lambda: session.run(None, feed)

    def time(self):
        return least_time(self._call)


def measure(number, taper, rounds):
    """A result: seconds by runtime, what failed and why, how far Taper's outputs are off."""
    torch.set_num_threads(1)
    family, text, module, args = layers.layer(number)
    result = {"family": family, "layer": text, "seconds": {}, "failures": {}, "rounds": rounds}
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        folder, runtimes = pathlib.Path(folder), {"pytorch": PyTorch(module, args)}
        makers = {"taper": lambda: Taper(taper, module, args, folder),
                  "onnxruntime": lambda: OnnxRuntime(module, args, folder)}  # fmt: skip
        for name, make in makers.items():
            try:
                runtimes[name] = make()
            except Exception as error:  # Exporters raise anything.
                result["failures"][name] = (
                    str(error).strip() or type(error).__name__
                ).splitlines()[0][:200]
        if "taper" in runtimes:
            result["difference"] = runtimes["taper"].difference(leaves(module(*args)))
        for name in list(runtimes) * rounds:
            before = result["seconds"].get(name, math.inf)
            result["seconds"][name] = min(before, runtimes[name].time())
    return result


def ratio(result):
    """Taper's time by that of the faster one; None without Taper's."""
    others = [seconds for name, seconds in result["seconds"].items() if name != "taper"]
    return result["seconds"]["taper"] / min(others) if "taper" in result["seconds"] else None


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


def family_rows(results):
    rows = {}
    for result in results.values():
        rows.setdefault(result["family"], []).append(ratio(result))
    lines = [
        "",
        "| family | layers | slower | faster peer / Taper, geometric mean |",
        "|---|---|---|---|",
    ]
    for name in layers.FAMILIES:
        ratios = [each for each in rows.get(name, []) if each is not None]
        slower = sum(each > LIMIT for each in ratios)
        lines.append(f"| {name} | {len(ratios)} | {slower} | {1 / mean(ratios):.2f} |")
    return lines


def cell(result, name):
    return f"{result['seconds'][name] * 1e6:.1f}" if name in result["seconds"] else "-"


def slow(results):
    """The numbers of layers above the limit, the worst first."""
    ratios = {number: ratio(result) for number, result in results.items()}
    return sorted(
        (n for n in ratios if ratios[n] and ratios[n] > LIMIT), key=ratios.get, reverse=True
    )


def slow_rows(results):
    lines = ["", "Microseconds:", "", "| number | family | layer | Taper | PyTorch | ONNX Runtime | ratio |",
             "|---|---|---|---|---|---|---|"]  # fmt: skip
    for number in slow(results):
        result = results[number]
        text = result["layer"].replace("|", "\\|")
        lines.append(f"| {number} | {result['family']} | {text} | {cell(result, 'taper')} | "
                     f"{cell(result, 'pytorch')} | {cell(result, 'onnxruntime')} | {ratio(result):.2f} |")  # fmt: skip
    return lines


def problems(results):
    lines = []
    for number, result in sorted(results.items(), key=lambda item: int(item[0])):
        if "taper" in result["failures"]:
            lines.append(f"- {number}, {result['layer']}: {result['failures']['taper']}")
        elif not result["difference"] <= WRONG:
            lines.append(f"- {number}, {result['layer']}: differs by {result['difference']:.1e}")
    return (
        [
            "",
            f"Not compiled, or more than {WRONG:g} of the largest number away from PyTorch:",
            "",
            *lines,
        ]
        if lines
        else []
    )


def report(results):
    measured = dict.fromkeys(result["measured"] for result in results.values())
    rounds = min((result["rounds"] for result in results.values()), default=0)
    head = HEAD.format(
        count=len(results), families=len(layers.FAMILIES), limit=LIMIT, rounds=rounds
    )
    lines = [head.rstrip(), "", *(f"- {line}" for line in measured), *family_rows(results)]
    return "\n".join(lines + slow_rows(results) + problems(results)) + "\n"


def numbers_in(text):
    """[17, 80, 81] for "17,80-81"."""
    numbers = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def versions(jobs):
    import onnxruntime

    return (f"{provenance.line(jobs)} PyTorch {torch.__version__.partition('+')[0]}, "
            f"ONNX Runtime {onnxruntime.__version__}.")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--taper", default="build/release/bin/taper")
    parser.add_argument("--numbers", default="0-2999")
    parser.add_argument("--slow", action="store_true", help="only those that the list has, again")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1, help="number of layers at a time")
    parser.add_argument("--out", default="build/layers", help="the folder for results")
    parser.add_argument("--again", action="store_true", help="repeat measurements")
    parser.add_argument("--report", action="store_true", help="measure nothing")
    parser.add_argument("--markdown", default=os.devnull, help="the file to write")
    options = parser.parse_args()
    results = Results(options.out, "layers.json")
    wanted = slow(results) if options.slow else map(str, numbers_in(options.numbers))
    tasks = [(int(number), options.taper, options.rounds) for number in wanted
             if options.again or options.slow or number not in results]  # fmt: skip
    if not options.report:
        measured = versions(options.jobs)
        for (number, _, _), result in zip(tasks, cores.side_by_side(options.jobs, measure, tasks)):
            results.keep(str(number), {**result, "measured": measured})
            print(number, result["family"], result["layer"], ratio(result), flush=True)
    with open(options.markdown, "w", encoding="utf-8") as file:
        file.write(report(results))


if __name__ == "__main__":
    main()
