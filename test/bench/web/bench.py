"""Compares Taper with onnxruntime-web in one headless Chromium, on one thread.

    bench.py --package DIR --ort DIR --models DIR [--rounds N] [--module LABEL=FILE...] NAME...

--package: the assembled npm package; --ort: dist/ of the npm package onnxruntime-web; --models: what
models.py wrote, and NAME.pte. --module measures other modules, too. Prints a table: median and least
milliseconds of a run, and the largest difference from PyTorch's numbers.
"""

import argparse
import pathlib
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "test/view"), str(ROOT / "bindings/web/tests")]
from browser import Browser  # noqa: E402
from in_browser import serve, wait_for  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    for folder in ("package", "ort", "models"):
        parser.add_argument("--" + folder, type=pathlib.Path, required=True)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--module", action="append", default=[], metavar="LABEL=FILE")
    parser.add_argument("names", nargs="+")
    options = parser.parse_args()
    folders = {"package": options.package, "ort": options.ort, "models": options.models}
    folders["page"] = pathlib.Path(__file__).parent
    modules = {"Taper": "/package/taper/taper.wasm"}
    for each in options.module:
        label, file = each.split("=", 1)
        path = pathlib.Path(file).resolve()
        folders[label] = path.parent
        modules[label] = f"/{label}/{path.name}"
    address = serve({name: path.resolve() for name, path in folders.items()})
    print("| model | runtime | median ms | least ms | difference |\n|---|---|---|---|---|")
    with Browser() as browser:
        for name in options.names:
            page = browser.open(address + "/page/page.html")
            wait_for(page, "globalThis.measure !== undefined", "the page")
            results = page.value(f"measure({name!r}, {options.rounds}, {modules})")
            for label, found in results.items():
                times = found["times"]
                print(
                    f"| {name} | {label} | {statistics.median(times):.1f} | {min(times):.1f} "
                    f"| {found['error']:.1e} |",
                    flush=True,
                )
            page.close()


if __name__ == "__main__":
    main()
