"""Compares Taper with its peers and writes the report.

    bench.py --taper build/release/bin/taper --out build/peers [--models a,b] [--peers x,y] ...

For every model, dtype and number of threads all peers are loaded at once, each in its own process,
and run alternately, so that other load on the machine affects all of them alike. Cold starts are
processes of their own, as many for each, in turns, too. Results are kept in results.json and not
measured again unless --again is given; --report only writes the report.

    --again                      measures all models again
    --again a,b --rounds 14      these models, in so many rounds, of which the report tells
    --jobs 4                     four models at a time, each on a quarter of the cores
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import traceback

import numpy as np

import breadth
import breadth_report
import cores
import models
import peers
import report
from results import Results

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../figures"))
import provenance  # noqa: E402

SECONDS_PER_TURN = 0.25
HERE = os.path.dirname(os.path.abspath(__file__))
TAPER = "taper"
EVERY_MODEL = "*"  # What --again means without names.
KINDS = (("f32", 1), ("f32", 2), ("int8", 1), ("int8", 2))
EVERY_PEER = {
    "models": [*models.ENTRIES, models.CALL],
    "peers": [name for name in peers.PEERS if name != "kernels"],
    "kinds": [f"{dtype}x{threads}" for dtype, threads in KINDS],
}
BREADTH = {
    "models": list(breadth.ENTRIES),
    "peers": [TAPER, "kernels", *breadth_report.PEERS],
    "kinds": [f"f32x{threads}" for threads in (1, 2, 4, 8) if threads <= os.cpu_count()],
}


class Worker:
    """A peer that runs in a process of its own, worker.py."""

    def __init__(self, name, file, inputs, expected, threads, *cache):
        environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
        environment["PEERS_START"] = str(time.monotonic())
        self.process = subprocess.Popen(
            [sys.executable, os.path.join(HERE, "worker.py"), name, file, inputs, expected,
             str(threads), *cache],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=environment)  # fmt: skip
        self.first = self.answer()

    def answer(self):
        for line in self.process.stdout:
            if line.startswith("PEER "):
                return json.loads(line[5:])
        last = (self.process.stderr.read().strip().splitlines() or ["it ended"])[-1]
        raise RuntimeError(last[:160])

    def turn(self, count):
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()


class TaperRuns:
    """Taper: every turn is a `taper bench`, which reports the time of a run without loading."""

    def __init__(self, taper, file, arrays, expected, threads):
        self.command = [taper, "bench", file, "--json", "--threads", str(threads)]
        self.inputs = arrays
        with tempfile.TemporaryDirectory() as folder:
            peers.run_checked([taper, "run", file, "-i", ",".join(arrays), "-t", str(threads),
                               "--outputs", folder])  # fmt: skip
            first = np.load(os.path.join(folder, "out0.npy"))
        self.first = {"difference": peers.difference(first, np.load(expected))}

    def turn(self, count):
        text = peers.run_checked(
            [*self.command, "-i", ",".join(self.inputs), "-n", str(count), "--warmup", "1"]
        )
        figures = json.loads(text)
        return {"wall_s": [figures["median_s"]], "cpu_s": figures["cpu_s"]}

    def close(self):
        pass


class ColdStarts:
    """Cold starts of all peers with one model: each sample loads it in a new process and runs once.
    With a cache, the first one, which does not count, fills it."""

    FIGURES = ("first_s", "process_s", "rss_kb")

    def __init__(self, bench, model, names, rounds):
        self.bench, self.model, self.names, self.rounds = bench, model, names, rounds
        self.inputs, self.expected = bench.inputs(model), bench.context(model).expected

    def figures(self):
        """For each name {"cold": ..., "cached": ...}, each with the medians of FIGURES, or with an
        "error"."""
        found = {name: {"cold": {}} for name in self.names}
        with tempfile.TemporaryDirectory() as folder:
            self.drop_ours()
            self.measure(found, "cold", {name: () for name in self.names})
            caches = {}
            for name in (name for name in self.names if peers.PEERS[name].has_cache):
                caches[name] = (os.path.join(folder, name),)
                os.mkdir(*caches[name])
                found[name]["cached"] = {}
            self.measure(found, "cached", caches)
            self.drop_ours()
        return found

    def drop_ours(self):
        """Removes the packed weights beside our file, which would be used unasked."""
        cache = os.path.splitext(self.bench.export(self.model, TAPER, "f32"))[0] + ".xnncache"
        if os.path.exists(cache):
            os.remove(cache)

    def measure(self, found, what, caches):
        samples = {name: [] for name in caches}
        for turn in range(self.rounds + 1):  # After the first, files are in the page cache.
            for name, cache in caches.items():
                if "error" in found[name][what]:
                    continue
                try:
                    samples[name].append(self.sample(name, cache))
                except Exception as error:
                    found[name][what] = {"error": reason(error)}
            if turn == 0 and TAPER in caches:
                time.sleep(3.5)  # After this time Taper trusts the file's modification time.
        for name, rows in samples.items():
            for field in self.FIGURES if "error" not in found[name][what] else ():
                found[name][what][field] = statistics.median(row[field] for row in rows[1:])

    def sample(self, name, cache):
        file = self.bench.export(self.model, name, "f32")
        if name == TAPER:
            return self.ours(file, ["--cache"] if cache else [])
        worker = Worker(name, file, self.inputs[0], self.expected, 1, *cache)
        worker.close()
        return worker.first

    def ours(self, file, options):
        taper, inputs = self.bench.options.taper, ["-i", ",".join(self.inputs[1])]
        start = time.perf_counter()
        peers.run_checked([taper, "run", file, *inputs, *options])
        seconds = time.perf_counter() - start
        bench = [taper, "bench", file, *inputs, *options, "--json", "-n", "1", "--warmup", "0"]
        loaded = json.loads(peers.run_checked(bench))
        memory = loaded["peak_resident_bytes"] - loaded["idle_resident_bytes"]
        return {"first_s": loaded["open_s"] + loaded["load_s"] + loaded["first_s"],
                "process_s": seconds, "rss_kb": memory / 1024}  # fmt: skip


class Bench:
    def __init__(self, options):
        self.options = options
        self.results = Results(options.out,
                               "breadth.json" if options.breadth else "results.json")
        # The program was built just now; the tree may change.
        self.measured = provenance.line(options.jobs)
        self.contexts = {}
        self.exported = {}  # What this process exported: None, or why it failed.

    def context(self, model):
        if model not in self.contexts:
            self.contexts = {}  # Only one at a time, since they hold weights.
            folder = os.path.join(self.options.out, "models")
            os.makedirs(folder, exist_ok=True)
            self.contexts[model] = peers.Context(model, folder, self.options.taper)
        return self.contexts[model]

    def inputs(self, model):
        """Writes the arguments as a .npz for workers and as .npy files for Taper."""
        context = self.context(model)
        arrays = [a.numpy() for a in context.model[1]]
        path = context.path("inputs.npz")
        np.savez(path, **{f"in{i}": a for i, a in enumerate(arrays)})
        names = [context.path(f"in{i}.npy") for i in range(len(arrays))]
        for name, array in zip(names, arrays):
            np.save(name, array)
        return path, names

    def export(self, model, name, dtype):
        """The peer's file. Files of an earlier run are reused, except Taper's own."""
        key = (model, name, dtype)
        where = self.context(model).path(f"{dtype}.{name}.where")
        if key not in self.exported:
            self.exported[key] = None
            if is_taper(name) or self.is_again(model) or not os.path.exists(where):
                self.exported[key] = self.make(",".join(key))
        if self.exported[key] is not None:
            raise RuntimeError(self.exported[key])
        with open(where) as file:
            return file.read()

    def make(self, what):
        """Exports in a separate process with a time limit. Returns what went wrong, or None."""
        command = [sys.executable, os.path.join(HERE, "bench.py"), "--export", what,
                   "--taper", self.options.taper, "--out", self.options.out]  # fmt: skip
        try:
            peers.run_checked(command, timeout=self.options.export_timeout)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            return reason(error)
        return None

    def start(self, model, name, dtype, threads, inputs):
        path, expected = self.export(model, name, dtype), self.context(model).expected
        if is_taper(name):
            return TaperRuns(self.options.taper, path, inputs[1], expected, threads), path
        return Worker(name, path, inputs[0], expected, threads), path

    def is_again(self, model):
        return self.options.again == EVERY_MODEL or model in self.options.again.split(",")

    def wanted(self, model, key):
        """The peers to measure: none, or the whole row, for ratios compare figures of one run."""
        if self.is_again(model):
            return self.options.peers
        before = self.results.get(key, {})
        is_complete = all(name in before for name in self.options.peers)
        every = [] if is_complete else [*before, *self.options.peers]
        return [name for name in peers.PEERS if name in every]

    def rows(self, model):
        """(key, row) for each kind of the model that is to be measured."""
        rows = []
        for dtype, threads in (kind.rsplit("x", 1) for kind in self.options.kinds):
            if dtype == "f32" or models.entry_of(model).int8:
                key = f"{model}/{dtype}/{threads}"
                names = self.wanted(model, key)
                if names:
                    rows.append((key, self.measure(model, dtype, int(threads), names)))
        return rows

    def measure(self, model, dtype, threads, names):
        row, runners, inputs = {}, {}, self.inputs(model)
        for name in names:
            try:
                runners[name], path = self.start(model, name, dtype, threads, inputs)
                row[name] = {**runners[name].first, "file_bytes": size_of(path)}
            except Exception as error:  # Any failure of a peer is listed in the report.
                row[name] = {"error": reason(error)}
        figures = self.take_turns(runners, row)
        over_rounds = {"least": min, "median": statistics.median}[self.statistic()]
        for name, (walls, cpus) in figures.items():
            row[name].update(wall_s=over_rounds(walls), cpu_s=over_rounds(cpus))
        if (dtype, threads) == KINDS[0] and not self.options.breadth and model != models.CALL:
            starts = ColdStarts(self, model, list(figures), self.options.rounds)
            for name, found in starts.figures().items():
                row[name].update(found)
        row |= {"load": os.getloadavg()[0], "measured": self.measured,
                "rounds": self.options.rounds, "statistic": self.statistic()}  # fmt: skip
        print(f"{model}/{dtype}/{threads}",
              {n: f"{r['wall_s'] * 1e3:.3g} ms" if "wall_s" in r else r["error"][:60]
               for n, r in row.items() if isinstance(r, dict)}, flush=True)  # fmt: skip
        return row

    def statistic(self):
        """Which figure of several rounds counts. Breadth is measured on large machines, which
        others use, too: there the least tells what the program needs."""
        return "least" if self.options.breadth else "median"

    def take_turns(self, runners, row):
        figures = {name: ([], []) for name in runners}
        counts = {}
        for name, runner in list(runners.items()):
            try:
                runner.turn(2)
                once = max(1e-6, statistics.median(runner.turn(3)["wall_s"]))
                counts[name] = max(3, min(20000, int(SECONDS_PER_TURN / once)))
            except Exception as error:
                row[name] = {"error": reason(error)}
                del figures[name]
        for _ in range(self.options.rounds):
            for name in counts:
                turn = runners[name].turn(counts[name])
                figures[name][0].append(statistics.median(turn["wall_s"]))
                figures[name][1].append(turn["cpu_s"])
        for runner in runners.values():
            runner.close()
        return figures


def is_taper(name):
    return isinstance(peers.PEERS[name], peers.Taper)


def reason(error):
    if isinstance(error, subprocess.TimeoutExpired):
        return f"not finished in {error.timeout:.0f} s"
    if isinstance(error, ModuleNotFoundError):
        return f"not installed ({error.name})"
    return (str(error).strip() or type(error).__name__).splitlines()[0][:160]


def size_of(path):
    """The size of a peer's file, or of the two files of ncnn."""
    parts = (path, path + ".param", path + ".bin")
    return sum(os.path.getsize(part) for part in parts if os.path.exists(part))


def export(options):
    """Runs in a separate process: writes the peer's file, and a file with its path."""
    model, name, dtype = options.export.split(",")
    context = Bench(options).context(model)
    try:
        path = peers.PEERS[name].export(context, dtype)
    except Exception as error:
        if options.verbose:
            traceback.print_exc()
        print(reason(error), file=sys.stderr)
        return 1
    with open(context.path(f"{dtype}.{name}.where"), "w") as file:
        file.write(path)
    return 0


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--taper", required=True, help="the program to measure")
    parser.add_argument("--out", required=True, help="the folder for models and results")
    parser.add_argument("--markdown", help="write the report to this file")
    parser.add_argument("--breadth", action="store_true",
                        help="the architectures of breadth.py beside the fastest peers")  # fmt: skip
    parser.add_argument("--models")
    parser.add_argument("--peers")
    parser.add_argument("--kinds", help="dtypes and threads: f32x1,int8x2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--export-timeout", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=1, help="number of models at a time")
    parser.add_argument("--again", nargs="?", const=EVERY_MODEL, default="",
                        help="repeat all measurements, or those of these models")  # fmt: skip
    parser.add_argument("--report", action="store_true", help="only write the report")
    parser.add_argument("--export", help=argparse.SUPPRESS)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    chosen = BREADTH if options.breadth else EVERY_PEER
    for name, default in chosen.items():
        given = getattr(options, name)
        setattr(options, name, given.split(",") if given else default)
    options.taper = os.path.abspath(options.taper)
    options.out = os.path.abspath(options.out)
    return options


def main():
    options = parse()
    if options.export:
        return export(options)
    bench = Bench(options)
    if not options.report:
        tasks = [(model,) for model in options.models]
        for rows in cores.side_by_side(options.jobs, bench.rows, tasks):
            for key, row in rows:
                bench.results.keep(key, row)
    if options.markdown:
        text = (breadth_report if options.breadth else report).write(bench.results)
        with open(options.markdown, "w") as file:
            file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
