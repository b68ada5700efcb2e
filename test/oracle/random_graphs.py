"""Runs random programs through torch.export, taper export and taper run; compares with PyTorch.

    python test/oracle/random_graphs.py --taper build/release/bin/taper [--programs 2000]
        [--backend xnnpack] [--networks | --quantised]

A program whose results differ is shrunk and printed as Python. The seeds are fixed, so program N is
the same everywhere. Programs of static sizes share an export, since exporting takes most of the
time.
"""

import argparse
import collections
import logging
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
import warnings

import torch
from torch.export import Dim

import random_network
import random_program
import shrink
from taper_process import Died, Taper, load, save
from verdict import Verdict, differs, is_unstable, is_within_steps

TOGETHER = 24  # The number of programs per task.
DECLINED = "writing through aten::expand"  # A documented refusal.


class Bundle(torch.nn.Module):
    """A module that runs several independent programs."""

    def __init__(self, programs):
        super().__init__()
        self.functions = [p.function() for p in programs]
        names, calls = [], []
        for i, program in enumerate(programs):
            mine = [f"p{i}_{x.name}" for x in program.inputs]
            names += mine
            calls.append(f"*self.functions[{i}]({', '.join(mine)})")
        scope = {}
        exec(f"def forward(self, {', '.join(names)}): return ({', '.join(calls)},)", scope)
        self.forward = scope["forward"].__get__(self)
        self.names = names


def dynamic_shapes(programs, names):
    shapes, at = {}, 0
    for i, program in enumerate(programs):
        for x in program.inputs:
            named = {d: Dim(f"{n}{i}", min=3, max=random_program.LARGEST)
                     for d, n in enumerate(x.dims) if n}
            shapes[names[at]] = named or None
            at += 1
    return shapes


def export(programs, path):
    """Writes the .pt2; returns the exported program. Raises what torch.export raises."""
    bundle = Bundle(programs)
    args = tuple(x.values[0].clone() for p in programs for x in p.inputs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported = torch.export.export(
            bundle, args, dynamic_shapes=dynamic_shapes(programs, bundle.names))
        torch.export.save(exported, path)
    return exported


def narrowed(program, exported, environment):
    """Whether PyTorch's exported module refuses the program's sizes: the number of chunks is a
    constant of the export, whose guard is checked only when it runs."""
    if environment == 0:
        return False
    try:
        exported.module()(*(x.values[environment].clone() for x in program.inputs))
    except (AssertionError, RuntimeError):
        return True
    return False


class Checker:
    def __init__(self, taper, backend, folder):
        self.taper, self.folder = Taper(taper), folder
        self.has_backend = backend != "portable"
        self.export_options = ["--backend", backend]
        if backend != "portable":
            self.export_options.append("--delegate-all")

    def run_export(self):
        return self.taper.run("export", f"{self.folder}/m.pt2", "-o", f"{self.folder}/m.pte",
                              *self.export_options)

    def run_taper(self, programs, environment):
        """Runs the compiled programs; returns a function that loads output k of all of them."""
        paths = []
        for p in programs:
            for x in p.inputs:
                value = x.values[min(environment, len(x.values) - 1)]
                paths.append(f"{self.folder}/in{len(paths)}.npy")
                save(paths[-1], value)
        code, text = self.taper.run("run", f"{self.folder}/m.pte", "--inputs", ",".join(paths),
                                    "--outputs", f"{self.folder}/out")
        if code:
            raise RuntimeError(text)
        return lambda k: load(f"{self.folder}/out/out{k}.npy")

    def check_all(self, programs):
        """The verdict of each program; bisects if any of them fails."""
        if len(programs) == 1:
            return [self.check(programs[0])]
        if self.all_right(programs):
            return [Verdict("ok")] * len(programs)
        middle = len(programs) // 2
        return self.check_all(programs[:middle]) + self.check_all(programs[middle:])

    def all_right(self, programs):
        try:
            export(programs, f"{self.folder}/m.pt2")
        except Exception:  # torch.export may raise anything
            return False
        try:
            code, _ = self.run_export()
            most = max(p.environments for p in programs)
            return code == 0 and all(self.agree(programs, e) for e in range(most))
        except (Died, RuntimeError):
            return False

    def agree(self, programs, environment):
        got, k = self.run_taper(programs, environment), 0
        for p in programs:
            for expected in p.run(min(environment, p.environments - 1)):
                if differs(got(k), expected):
                    return False
                k += 1
        return True

    def check(self, program):
        try:
            exported = export([program], f"{self.folder}/m.pt2")
        except Exception as error:
            return Verdict("unexported", str(error).strip().split("\n")[0])
        try:
            code, text = self.run_export()
            if code:
                return Verdict("declined" if DECLINED in text else "refused", text)
            for environment in range(program.environments):
                try:
                    verdict = self.compare(program, exported, environment)
                except (AssertionError, RuntimeError):
                    if narrowed(program, exported, environment):
                        return Verdict("misexported", "torch's own module refuses these sizes")
                    raise
                if verdict.kind != "ok":
                    return verdict
        except Died as death:
            return Verdict("died", str(death))
        except RuntimeError as error:
            return Verdict("refused", str(error))
        return Verdict("ok")

    def compare(self, program, exported, environment):
        got = self.run_taper([program], environment)
        for k, expected in enumerate(program.run(environment)):
            why = differs(got(k), expected)
            if not why:
                continue
            args = [x.values[environment].clone() for x in program.inputs]
            if differs(exported.module()(*args)[k], expected):
                return Verdict("misexported", why)
            if is_unstable(program, environment, k, got(k)):
                return Verdict("unstable", why)
            if self.has_backend and is_within_steps(program, environment, k, got(k)):
                return Verdict("stepped", why)
            return Verdict("wrong", f"output {k} with sizes {environment}: {why}")
        return Verdict("ok")


def shrunk(checker, seed, program, verdict):
    """Returns (seed, verdict, text of the shrunk program)."""
    if not verdict.is_failure():
        return seed, verdict, ""
    most = 6 if verdict.kind == "refused" else 120
    program = shrink.shrink(program, verdict, checker.check, most)
    return seed, checker.check(program), program.script()


def work(task):
    """Checks the programs of some seeds. Only those of static sizes share an export, because
    torch.export often restricts the dynamic sizes of the others."""
    taper, backend, drawer, seeds, length = task
    logging.disable(logging.ERROR)
    torch.set_num_threads(1)
    folder = tempfile.mkdtemp(prefix="random_graphs")
    checker = Checker(taper, backend, folder)
    try:
        drawn = [(seed, random_program.draw(seed, length, drawer)) for seed in seeds]
        fixed = [(s, p) for s, p in drawn if p.environments == 1]
        verdicts = checker.check_all([p for _, p in fixed]) if fixed else []
        out = [shrunk(checker, s, p, v) for (s, p), v in zip(fixed, verdicts)]
        for seed, program in drawn:
            if program.environments == 1:
                continue
            verdict = checker.check(program)
            if verdict.kind == "unexported":  # Try again with static sizes.
                program = shrink.static(program)
                verdict = checker.check(program)
            out.append(shrunk(checker, seed, program, verdict))
        return out
    finally:
        checker.taper.close()
        shutil.rmtree(folder, ignore_errors=True)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--taper", required=True)
    parser.add_argument("--backend", default="portable", help="the backend to delegate to")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--networks", action="store_true", help="draw layers of networks")
    kind.add_argument("--quantised", action="store_true", help="draw quantised layers")
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--length", type=int, default=20, help="lines per program")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    return parser.parse_args()


def drawer_of(options):
    if options.quantised:
        from random_quantised import QuantisedDrawer  # Needs torchao.

        return QuantisedDrawer
    return random_network.NetworkDrawer if options.networks else random_program.Drawer


def main():
    options = parse()
    start, counts = time.time(), collections.Counter()
    seeds = range(options.first, options.first + options.programs)
    drawer = drawer_of(options)
    tasks = [(options.taper, options.backend, drawer, seeds[i : i + TOGETHER], options.length)
             for i in range(0, len(seeds), TOGETHER)]
    failures = 0
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        for results in pool.imap_unordered(work, tasks):
            for seed, verdict, text in results:
                counts[verdict.kind] += 1
                if verdict.is_failure():
                    failures += 1
                    print(f"== program {seed}: {verdict}\n{text}", flush=True)
            if time.time() - start > options.seconds:
                pool.terminate()
                break
    total = ", ".join(f"{n} {kind}" for kind, n in counts.most_common())
    print(f"{sum(counts.values())} random programs in {time.time() - start:.0f} s: {total}")
    if not counts["ok"]:
        print("failed: no program was compared, or none was equal")
    return 1 if failures or not counts["ok"] else 0


if __name__ == "__main__":
    sys.exit(main())
