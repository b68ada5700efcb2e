"""Compares Taper with other runtimes in one headless Chromium, on one thread and on two.

    bench.py --package DIR --npm DIR --models DIR [--rounds N] [--module LABEL=FILE...]
             [--markdown FILE] NAME...

--package: the assembled npm package; --npm: node_modules with the others; --models: what models.py
wrote, and NAME.pte. --module measures other modules of Taper's, too, on one thread. Prints a table,
and writes a page with it if asked to.
"""

import argparse
import json
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [
    str(ROOT / folder) for folder in ("test/view", "bindings/web/tests", "test/bench/figures")
]
import provenance  # noqa: E402
from browser import Browser  # noqa: E402
from in_browser import ISOLATED, serve, wait_for  # noqa: E402

THREADS = (1, 2)
PACKAGES = {
    "onnxruntime-web": "onnxruntime-web",
    "LiteRT": "@litertjs/core",
    "tfjs": "@tensorflow/tfjs-backend-wasm",
}
TITLES = {"mobilenet_v2": "MobileNetV2", "resnet18": "ResNet-18", "bert_mini": "BERT-mini"}
HEAD = """# In a browser

Written by `scripts/bench_web.sh --markdown docs/benchmarks_web.md`; `test/bench/web/README.md`
describes the method. In one headless Chromium, on one page for each model and number of threads,
all run the same model on the same inputs, float32, on the processor alone, in turns whose order
changes. A turn is four runs, of which the first, which wakes threads, is not counted. A cell is the
median time of the runs of {rounds} turns in milliseconds, from inputs as typed arrays to the first
output as one, and the least time in brackets. The page waits for a run; in a worker it stays free.
The difference is the largest one from PyTorch's numbers, as a part of the largest of these.

{machine}
"""


def cell(found):
    if found.get("failure"):
        return "-"
    times = found["times"]
    return f"{statistics.median(times):.1f} ({min(times):.1f})"


def rows_of(title, by_threads):
    """The rows of a model, and what each runtime said that could not run it."""
    labels = list(dict.fromkeys(label for found in by_threads.values() for label in found))
    rows, notes = [], []
    for label in labels:
        found = [by_threads[t].get(label, {"failure": "not measured"}) for t in THREADS]
        errors = [f["error"] for f in found if not f.get("failure")]
        error = f"{max(errors):.1e}" if errors else "-"
        rows.append(f"| {title} | {label} | {' | '.join(map(cell, found))} | {error} |")
        for threads, each in zip(THREADS, found):
            if each.get("failure") not in (None, "not measured"):
                notes.append(f"{label}, {title}, {threads} threads: {each['failure']}")
    return rows, notes


def page_of(options, version, rows, notes):
    lines = [HEAD.format(rounds=options.rounds, machine=f"{provenance.line()} {version}."), *rows, ""]
    lines += [f"Not measured: {note}\n" for note in notes]
    packages = []
    for label, name in PACKAGES.items():
        about = json.loads((options.npm / name / "package.json").read_text())
        packages.append(f"{label} is `{name}` {about['version']}")
    lines.append("; ".join(packages) + ".")
    lines.append("tfjs runs a translation of the exported graph (`test/bench/web/tfjs_graph.py`).")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    for folder in ("package", "npm", "models"):
        parser.add_argument("--" + folder, type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--module", action="append", default=[], metavar="LABEL=FILE")
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("names", nargs="+")
    options = parser.parse_args()
    folders = {"package": options.package, "npm": options.npm, "models": options.models}
    folders["page"] = pathlib.Path(__file__).parent
    modules = {}
    for each in options.module:
        label, file = each.split("=", 1)
        path = pathlib.Path(file).resolve()
        folders[label] = path.parent
        modules[label] = f"/{label}/{path.name}"
    address = serve({name: path.resolve() for name, path in folders.items()}, ISOLATED)
    rows = ["| model | runtime | 1 thread | 2 threads | difference |", "|---|---|---|---|---|"]
    print("\n".join(rows))
    notes = []
    with Browser() as browser:
        for name in options.names:
            by_threads = {}
            for threads in THREADS:
                page = browser.open(address + "/page/page.html")
                wait_for(page, "globalThis.measure !== undefined", "the page")
                given = modules if threads == 1 else {}
                script = f"measure({name!r}, {threads}, {options.rounds}, {given})"
                by_threads[threads] = page.value(script)
                version = page.value("navigator.userAgent.match(/[A-Za-z]*Chrome.[0-9]*/)[0]")
                page.close()
            more_rows, more_notes = rows_of(TITLES.get(name, name), by_threads)
            print("\n".join(more_rows + more_notes), flush=True)
            rows += more_rows
            notes += more_notes
    if options.markdown:
        options.markdown.write_text(page_of(options, version, rows, notes))


if __name__ == "__main__":
    main()
