"""Exports public architectures with random weights, compiles, runs and compares with PyTorch.

    python test/zoo/zoo.py --taper build/release/bin/taper [--only 'timm/*'] [--quick] [--peers]

Exports and results are kept in --work, so that a run resumes where the last one stopped. Each step
of each model runs in a separate process with a time limit.
"""

import argparse
import concurrent.futures
import fnmatch
import importlib
import json
import multiprocessing
import os
import sys
import time
import warnings

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(FOLDER))
SOURCES = "nn_models vision_models timm_models transformers_models".split()


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--taper", required=True)
    parser.add_argument("--backend", default="portable", help="the backend to delegate to")
    parser.add_argument("--work", default=os.path.join(ROOT, "build", "zoo"))
    parser.add_argument("--only", default="*", help="patterns over names, comma-separated")
    parser.add_argument("--quick", action="store_true", help="only some small models")
    parser.add_argument("--peers", action="store_true", help="also run ExecuTorch")
    parser.add_argument("--seconds", type=int, default=300, help="time limit of each step")
    parser.add_argument("--jobs", type=int, default=1, help="number of models at a time")
    parser.add_argument("--again", action="store_true", help="repeat Taper's measurements")
    parser.add_argument("--table", help="write the table to this file, such as docs/models.md")
    parser.add_argument("--keep-peers", action="store_true", help="keep ExecuTorch's column")
    parser.add_argument("--list", action="store_true")
    return parser.parse_args()


def read(path):
    try:
        with open(path) as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def write(path, result):
    with open(path + ".part", "w") as file:
        json.dump(result, file, indent=1)
    os.replace(path + ".part", path)


def guarded(path, step, args):
    """Runs a step in a child process; stores the result, or the exception as a result."""
    sys.stdout = open(os.devnull, "w")
    try:
        result = step(*args)
    except BaseException as error:  # libraries may raise anything
        lines = [line for line in str(error).strip().splitlines() if line.strip()] or [""]
        text = f"{type(error).__name__}: {lines[0]}"
        result = {"error": text[:300], "text": str(error)[:4000]}
    write(path, result)
    os._exit(0)


def in_child(path, step, args, seconds):
    """Runs a step in a child process and returns the result that it wrote to `path`."""
    if os.path.exists(path):
        os.remove(path)
    child = multiprocessing.get_context("fork").Process(target=guarded, args=(path, step, args))
    child.start()
    child.join(seconds)
    if child.is_alive():
        child.kill()
        child.join()
        write(path, {"error": f"takes more than {seconds} s"})
    elif read(path) is None:
        write(path, {"error": f"the process died, exit code {child.exitcode}"})
    return read(path)


def step(folder, name, key, again, work):
    """Returns the stored result of a step if its key matches; else runs the step."""
    path = os.path.join(folder, name + ".json")
    result = read(path)
    if result is None or result.get("key") != key or again:
        result = work(path)
        result["key"] = key
        write(path, result)
    return result


def versions():
    import torch

    return f"torch {torch.__version__.split('+')[0]} seed 0 form 2"


def one(entry, options, taper_key):
    import make
    import measure

    folder = os.path.join(options.work, entry.name.replace("/", "-"))
    os.makedirs(folder, exist_ok=True)
    key = entry.key(versions())
    row = {"name": entry.name, "family": entry.family}
    row["made"] = step(
        folder,
        "made",
        key,
        False,
        lambda path: in_child(path, make.make, (entry, folder), options.seconds),
    )
    if "error" in row["made"]:
        return row
    row["taper"] = step(
        folder,
        "taper",
        key + taper_key,
        options.again,
        lambda path: in_child(
            path,
            measure.taper,
            (options.taper, options.backend, folder, options.seconds),
            4 * options.seconds,
        ),
    )
    if options.peers:
        import peer

        row["peer"] = step(
            folder,
            "peer",
            key + peer.version(),
            False,
            lambda path: in_child(path, peer.executorch, (entry, folder), options.seconds),
        )
    return row


def line(row, seconds):
    taper = row.get("taper", {})
    if "error" in row["made"]:
        text = "not exported: " + row["made"]["error"]
    elif "error" in taper:
        text = f"FAILED: {taper['error']}, float32 itself {row['made'].get('rounding')}"
    else:
        text = f"ok {taper['worst']:.1e}  export {taper['export_s']:.2f} s  "
        text += (
            f"{taper['planned'] / 1e6:.2f} MB +{taper['gap']} %  run {taper['run_s'] * 1e3:.1f} ms"
        )
    if "peer" in row:
        text += "  | ExecuTorch: " + row["peer"].get("error", "ok")
    return f"{row['name']:44} {text}  ({seconds:.0f} s)"


def chosen(options):
    patterns = options.only.split(",")
    for source in SOURCES:
        if not os.path.exists(os.path.join(FOLDER, source + ".py")):
            continue
        for entry in importlib.import_module(source).entries():
            wanted = any(fnmatch.fnmatch(entry.name, p) for p in patterns)
            if wanted and (entry.quick or not options.quick):
                yield entry


def timed(name, options, taper_key):
    """Finds the entry by name, since its function cannot be sent to another process."""
    entry = next(e for e in chosen(options) if e.name == name)
    begin = time.monotonic()
    row = one(entry, options, taper_key)
    return row, time.monotonic() - begin


def all_rows(names, options, taper_key):
    """Returns the rows in the order of the names, and prints each one when it is ready."""
    rows = []
    context = multiprocessing.get_context("fork")
    with concurrent.futures.ProcessPoolExecutor(options.jobs, mp_context=context) as pool:
        waiting = [pool.submit(timed, name, options, taper_key) for name in names]
        for done in waiting:
            row, seconds = done.result()
            print(line(row, seconds), flush=True)
            rows.append(row)
    return rows


def warm_up(torch, peers):
    """Imports the exporter's lazily loaded modules once, instead of in each child."""
    model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2)).eval()
    with torch.no_grad():
        program = torch.export.export(model, (torch.ones(1, 2),), strict=False)
    if peers:
        from executorch.exir import to_edge
        from executorch.runtime import Runtime

        Runtime.get()
        to_edge(program).to_executorch()


def main():
    options = parse()
    sys.path.insert(0, FOLDER)
    warnings.filterwarnings("ignore")
    import torch

    torch.set_num_threads(1)
    warm_up(torch, options.peers)
    os.makedirs(options.work, exist_ok=True)
    stat = os.stat(options.taper)
    taper_key = f" taper {stat.st_size} {stat.st_mtime_ns} {options.backend}"
    started = time.monotonic()
    names = [entry.name for entry in chosen(options)]
    if options.list:
        print(*names, sep="\n")
        return 0
    rows = all_rows(names, options, taper_key)
    write(os.path.join(options.work, "results.json"), rows)
    import table

    if options.table:
        kept = table.keep_peers(options.table, rows) if options.keep_peers else ""
        table.write(options.table, rows, {"torch": torch.__version__, "executorch": "1.5.1"}, kept)
    for row in table.failures(rows):
        print(f"failed: {row['name']}: {row['taper']['error']}")
    print(f"{table.summary(rows)} ({time.monotonic() - started:.0f} s)")
    if not table.exported(rows):
        print("failed: torch.export exported none of them")
    return 1 if table.failures(rows) or not table.exported(rows) else 0


if __name__ == "__main__":
    sys.exit(main())
