"""Runs the calls of PyTorch's OpInfo database in PyTorch and, through .pt2 -> .pte, in Taper.

    opinfo.py --taper build/release/bin/taper [--quick] [--only REGEX] [--jobs N] [--samples N]
    opinfo.py --taper build/release/bin/taper --aten

See README.md for the verdicts.
"""

import argparse
import collections
import hashlib
import logging
import multiprocessing
import os
import pickle
import pathlib
import re
import shutil
import sys
import tempfile
import time
import warnings

import torch

import archive
import complex_samples
import samples
import taper_process

HERE = pathlib.Path(__file__).parent
OK, REFUSED, WRONG, DIED, UNEXPORTED = "ok", "refused", "wrong", "died", "unexported"


class Result:
    refused = None  # With --aten: why the kernels here do not run the case.

    def __init__(self, case, verdict, text=""):
        self.operator, self.dtype, self.index = case.operator, case.dtype, case.index
        self.verdict, self.text = verdict, text
        self.is_vacuous = verdict == OK and not any(has_numbers(t) for t in case.expected)

    def key(self):
        return f"{self.operator} {self.dtype} #{self.index}"


def has_numbers(tensor):
    """Whether a wrong number could show: some element is neither NaN nor infinite."""
    return bool(torch.isfinite(tensor).any()) if tensor.numel() else False


class Worker:
    """Runs the cases of operators one after another, in one folder with one Taper process."""

    def __init__(self, program, backend, folder, cache, aten):
        self.taper = taper_process.Taper(program)
        self.export_options = ["--backend", backend]
        if backend != "portable":
            self.export_options.append("--delegate-all")
        self.folder = tempfile.mkdtemp(dir=folder)
        self.cache, self.aten = cache, aten

    def path(self, name):
        return os.path.join(self.folder, name)

    def operator(self, name, count):
        self.info = samples.operators()[name]
        results = []
        for is_complex in (False, True)[:1 + self.aten]:
            groups, unexported = self.groups(name, count, is_complex)
            results += unexported
            for entries, cases in groups:
                results += self.run(entries, cases)
        return results

    def groups(self, name, count, is_complex):
        """([(archive, cases)], results of cases that failed to export), cached if possible."""
        path = self.cache and os.path.join(self.cache, f"{name}.{count}" + ".complex" * is_complex)
        if path and os.path.exists(path):
            with open(path, "rb") as file:
                return pickle.load(file)
        info = self.info
        if is_complex:
            cases = complex_samples.draw(name, info, count)
        else:
            cases = [c for dtype in samples.DTYPES for c in samples.draw(name, info, dtype, count)]
        made = ([], [])
        if cases:
            self.export(cases, *made)
        if path:
            with open(path + ".part", "wb") as file:
                pickle.dump(made, file)
            os.rename(path + ".part", path)
        return made

    def export(self, cases, groups, failed):
        """Exports the cases together; if torch.export fails, divides them and tries again."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                groups.append((archive.export(self.info, cases)[0], cases))
        except Exception as error:
            if len(cases) == 1:
                failed.append(Result(cases[0], UNEXPORTED, str(error)[:200]))
                return
            parts = collections.defaultdict(list)
            for case in cases:
                parts[case.dtype].append(case)
            if len(parts) == 1:
                parts = {i: [case] for i, case in enumerate(cases)}
            for part in parts.values():
                self.export(part, groups, failed)

    def run(self, entries, cases):
        """Runs all cases together; if that fails, each case separately."""
        outputs, stage, text = self.attempt(entries, [t for c in cases for t in c.tensors])
        if outputs is None and len(cases) > 1:
            return self.separately(entries, cases)
        refused = None
        if outputs is None and self.aten and stage != "died":
            refused = f"{stage}: {text}"
            outputs, stage, text = self.attempt(entries, cases[0].tensors, ["--kernels=aten"],
                                                ["--aten"])
        if outputs is None:
            verdict = DIED if stage == "died" else REFUSED
            results = [Result(cases[0], verdict, f"{stage}: {text}")]
            results[0].refused = refused
            return results
        results, at = [], 0
        for case in cases:
            end = at + len(case.expected)
            problem = compare(self.info, case, outputs[at:end])
            results.append(Result(case, WRONG if problem else OK, problem))
            results[-1].refused = refused
            at = end
        return results

    def separately(self, entries, cases):
        results, first_input, first_output = [], 0, 0
        for case in cases:
            part = archive.cut(entries, first_input, len(case.tensors), first_output,
                               len(case.expected))
            results.extend(self.run(part, [case]))
            first_input += len(case.tensors)
            first_output += len(case.expected)
        return results

    def attempt(self, entries, tensors, export_options=(), run_options=()):
        """Returns (outputs, "", "") or (None, stage, message)."""
        shutil.rmtree(self.path("out"), ignore_errors=True)
        archive.write(self.path("m.pt2"), entries)
        names = []
        for i, tensor in enumerate(tensors):
            names.append(self.path(f"in{i}.npy"))
            taper_process.save(names[-1], tensor)
        try:
            code, text = self.taper.run("export", self.path("m.pt2"), "-o", self.path("m.pte"),
                                        *self.export_options, *export_options)
            if code != 0:
                return None, "export", message(text)
            words = ["run", self.path("m.pte"), "--outputs", self.path("out"), *run_options]
            if names:
                words += ["--inputs", ",".join(names)]
            code, text = self.taper.run(*words)
            if code != 0:
                return None, "run", message(text)
        except taper_process.Died as error:
            return None, "died", str(error)
        count = len(os.listdir(self.path("out")))
        return [taper_process.load(self.path(f"out/out{i}.npy")) for i in range(count)], "", ""


def message(text):
    lines = [line for line in text.splitlines() if not line.startswith("taper: warning")]
    errors = [line for line in lines if "error:" in line]
    text = " | ".join((errors or lines)[:1] + [line.strip() for line in lines if line not in errors][:3])
    return re.sub(r"/\S*/m\.(pt2|pte)", r"m.\1", text)[:400]


def compare(info, case, outputs):
    """Returns what is wrong with the outputs, or ""."""
    if len(outputs) != len(case.expected):
        return f"{len(outputs)} outputs, expected {len(case.expected)}"
    is_complex = case.dtype == complex_samples.DTYPE
    rtol, atol = samples.tolerance(info, "f32" if is_complex else case.dtype)
    exact = None
    both = zip(without_signs(case, outputs), without_signs(case, case.expected))
    for i, (ours, theirs) in enumerate(both):
        if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
            return (f"output {i}: {ours.dtype} {tuple(ours.shape)}, "
                    f"expected {theirs.dtype} {tuple(theirs.shape)}")
        if case.random or differs(ours, theirs, rtol, atol) == "":
            continue
        if is_free_choice(case, i, ours, theirs):
            continue
        # The result differs from PyTorch's; accept it if it is close to the result in double.
        exact = exact or case.run_exact(info) or []
        if ours.is_floating_point() and i < len(exact) and exact[i].shape == ours.shape:
            if differs(ours, exact[i].to(ours.dtype), rtol, atol) == "":
                continue
        return f"output {i}: " + differs(ours, theirs, rtol, atol) + describe(case)
    return ""


def without_signs(case, outputs):
    """Replaces factors whose columns may have either sign by products that do not depend on it."""
    if case.operator in ("svd", "linalg.svd") and len(outputs) == 3:
        u, s, v = outputs
        v = v.mT if case.operator == "svd" else v
        k = s.shape[-1]
        if u.shape[-2] and v.shape[-1] and bool(u.any()):
            return [s, u[..., :k] * s.unsqueeze(-2) @ v[..., :k, :], u.mT @ u, v @ v.mT]
    if case.operator == "linalg.eigh":
        values, v = outputs
        return [values, v * values.unsqueeze(-2) @ v.mT, v.mT @ v]
    return outputs


# Operators that return (values, indices), where indices of equal values are interchangeable.
TIES = {"topk", "sort", "msort", "kthvalue", "median", "nanmedian", "mode", "argsort"}


def is_free_choice(case, i, ours, theirs):
    """Whether both indices select equal values."""
    if case.operator not in TIES or ours.dtype != torch.int64 or case.tensors[0].dim() == 0:
        return False
    x = case.tensors[0]
    for dim in range(x.dim()):
        a, b = (t if t.dim() == x.dim() else t.unsqueeze(dim) for t in (ours, theirs))
        try:
            picked = [torch.nan_to_num(torch.gather(x, dim, t), nan=7.5) for t in (a, b)]
        except RuntimeError:  # The indices refer to another dimension.
            continue
        if torch.equal(*picked):
            return True
    return False


def differs(ours, theirs, rtol, atol):
    if ours.is_floating_point() or ours.is_complex():
        rtol2, atol2 = torch.testing._comparison.default_tolerances(ours.dtype)
        rtol, atol = max(rtol, rtol2), max(atol, atol2)
    else:
        rtol, atol = 0, 0
    try:
        torch.testing.assert_close(ours, theirs, rtol=rtol, atol=atol, equal_nan=True)
        return ""
    except AssertionError as error:
        lines = [line for line in str(error).splitlines() if line][1:3]
        return "; ".join(lines) + f"; ours {flat(ours, theirs)}"


def flat(ours, theirs):
    a, b = ours.flatten(), theirs.flatten()
    bad = [i for i in range(len(a)) if not torch.isclose(
        a[i].double(), b[i].double(), rtol=1e-2, atol=1e-3, equal_nan=True)][:4] or [0]
    return f"{[a[i].item() for i in bad]}, PyTorch {[b[i].item() for i in bad]} at {bad}"


def describe(case):
    shapes = [f"{str(t.dtype)[6:]}{list(t.shape)}" for t in case.tensors]
    return f"; inputs {' '.join(shapes)}, others {[x for x in case.leaves if x is not None]}"


# ---- Worker processes ----

worker = None


def start_worker(*args):
    global worker
    torch.set_num_threads(1)
    torch._logging.set_logs(all=logging.ERROR)
    warnings.simplefilter("ignore", FutureWarning)
    worker = Worker(*args)


def run_operator(job):
    name, count = job
    start = time.time()
    try:
        results = worker.operator(name, count)
    except Exception as error:  # A failure of the harness itself.
        import traceback
        return name, [], time.time() - start, traceback.format_exc()
    return name, results, time.time() - start, ""


def read_classes():
    classes = {}
    for line in (HERE / "classes.txt").read_text().splitlines() if (HERE / "classes.txt").exists() else []:
        if line and not line.startswith("#"):
            name, kind = line.split()[:2]
            classes[name] = kind
    return classes


def read_expected(backend):
    """[(operator, set of dtypes or None for all, reason)], the common ones and the backend's."""
    lines = []
    own = HERE.resolve().parents[1] / "backends" / backend / "expected_failures.txt"
    for path in (HERE / "expected_failures.txt", own):
        for line in path.read_text().splitlines() if path.exists() else []:
            if line.strip() and not line.startswith("#"):
                name, dtypes, reason = line.split(None, 2)
                lines.append((name, None if dtypes == "*" else set(dtypes.split(",")), reason))
    return lines


def is_expected(result, expected):
    return any(name == result.operator and (dtypes is None or result.dtype in dtypes)
               for name, dtypes, _ in expected)


def is_surprise(result, classes, expected):
    """Whether it fails the run: a process that died always does, whatever is listed."""
    if result.verdict == DIED:
        return True
    return not is_expected(result, expected) and (
        result.verdict == WRONG or (classes.get(result.operator) == "core" and
                                    result.dtype != complex_samples.DTYPE))


def stale_lines(results, expected):
    """The operators and dtypes that are listed as failing although all of their cases pass."""
    seen = collections.defaultdict(set)
    for r in results:
        seen[r.operator, r.dtype].add(r.verdict)
    return [f"{name} {dtype}" for (name, dtype), verdicts in seen.items()
            if verdicts == {OK} and any(n == name and (d is None or dtype in d)
                                        for n, d, _ in expected)]


def summary(results, classes):
    """A row for each class. Vacuous are ok cases with only sizes to compare: what PyTorch computes is
    empty, NaN or infinite."""
    table, vacuous = collections.defaultdict(collections.Counter), collections.Counter()
    for r in results:
        kind = classes.get(r.operator, "other")
        table[kind][r.verdict] += 1
        vacuous[kind] += r.is_vacuous
    print(f"{'class':8} {'cases':>6} {'ok':>6} {'rate':>7} {'vacuous':>8} {'refused':>8} "
          f"{'wrong':>6} {'died':>6}   not exported by torch")
    for kind, counts in sorted(table.items()):
        cases = counts[OK] + counts[REFUSED] + counts[WRONG] + counts[DIED]
        print(f"{kind:8} {cases:6} {counts[OK]:6} {100 * counts[OK] / max(cases, 1):6.2f}% "
              f"{vacuous[kind]:8} {counts[REFUSED]:8} {counts[WRONG]:6} {counts[DIED]:6}   "
              f"{counts[UNEXPORTED]}")


def cache_folder(folder):
    """The cache folder for this version of PyTorch and this way of drawing samples."""
    if not folder:
        return None
    digest = hashlib.sha256(torch.__version__.encode())
    for name in ("samples.py", "archive.py"):
        digest.update((HERE / name).read_bytes())
    path = pathlib.Path(folder) / digest.hexdigest()[:12]
    path.mkdir(parents=True, exist_ok=True)
    return str(path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--taper", required=True)
    parser.add_argument("--backend", default="portable", help="the backend to delegate to")
    parser.add_argument("--only", default="", help="only operators whose name matches")
    parser.add_argument("--quick", action="store_true", help="every fourth operator")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--samples", type=int, default=4, help="per operator and dtype")
    parser.add_argument("--verbose", action="store_true", help="print a line per operator")
    parser.add_argument("--aten", action="store_true",
                        help="leave what is refused to PyTorch's operators; complex cases too")
    parser.add_argument("--cache", help="keep the exported programs in this folder")
    parser.add_argument("--report", help="write every case that is not ok to this file")
    parser.add_argument("--peers", type=int, nargs="?", const=500, metavar="N",
                        help="also run a sample of N core cases (500) in ExecuTorch")
    options = parser.parse_args()
    names = [n for n in samples.operators() if re.search(options.only, n)]
    if options.quick:
        names = names[::4]
    cache = cache_folder(options.cache)
    start, results, slow, broken = time.time(), [], [], 0
    classes, expected = read_classes(), read_expected(options.backend)
    with tempfile.TemporaryDirectory() as folder:
        context = multiprocessing.get_context("fork")
        worker_args = (options.taper, options.backend, folder, cache, options.aten)
        with context.Pool(options.jobs, start_worker, worker_args) as pool:
            jobs = [(name, options.samples) for name in names]
            for name, part, seconds, trouble in pool.imap_unordered(run_operator, jobs):
                results += part
                if options.verbose:
                    print(name, collections.Counter(r.verdict for r in part), f"{seconds:.1f} s",
                          flush=True)
                slow.append((seconds, name))
                if trouble:
                    broken += 1
                    print(f"harness failed at {name}: {trouble}")
    bad = [r for r in results if r.verdict in (REFUSED, WRONG, DIED)]
    if options.report:
        with open(options.report, "w") as file:
            for r in sorted(results, key=lambda r: r.key()):
                if r.verdict != OK:
                    kind = classes.get(r.operator, "other")
                    text = " ".join(r.text.split())
                    file.write(f"{kind}\t{r.verdict}\t{r.key()}\t{text}\n")
    surprises = [r for r in bad if is_surprise(r, classes, expected)]
    for r in surprises[:200]:
        print(f"{r.verdict}: {r.key()}: {r.text[:300]}")
    stale = [] if options.aten else stale_lines(results, expected)
    for line in stale:
        print(f"passes unexpectedly: {line}; remove it from expected_failures.txt")
    print("slowest:", ", ".join(f"{n} {s:.1f} s" for s, n in sorted(slow)[-5:]))
    summary(results, classes)
    if options.aten:
        left = collections.Counter(r.verdict for r in results if r.refused)
        print(f"{sum(left.values())} cases have no kernel here; left to PyTorch's operators, "
              f"{left[OK]} are equal, {left[REFUSED]} refused, {left[WRONG]} wrong, "
              f"{left[DIED]} died")
    if options.peers:
        import peers

        judged = peers.measure(results, classes, options.peers, options.samples, options.jobs)
        if options.report:
            with open(options.report + ".peers", "w") as file:
                for r, verdict, text in judged:
                    file.write(f"{verdict}\t{r.key()}\t{' '.join(text.split())}\n")
    nothing = not any(r.verdict == OK for r in results)
    if nothing:
        print("failed: no case was compared, or none was equal")
    failed = len(surprises) + len(stale) + broken
    print(f"{len(results)} cases in {time.time() - start:.0f} s; "
          f"{failed} unexpected, {len(bad) - len(surprises)} known failures")
    return 1 if failed or nothing else 0


if __name__ == "__main__":
    sys.exit(main())
