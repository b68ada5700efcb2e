"""Compiles and runs one stored entry with Taper, and compares with PyTorch's outputs."""

import glob
import json
import os
import re
import resource
import shutil
import subprocess

import numpy as np

LIMIT = 1e-4  # x max(1, largest expected)
# Allows this multiple of PyTorch's own float32 error if it is larger, as sums may be reordered.
ROUNDINGS = 3


def call(command, seconds):
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    if done.returncode != 0:
        lines = [l for l in done.stderr.splitlines() if "warning:" not in l] or ["no message"]
        detail = "; ".join(l.strip() for l in lines[1:7])
        raise RuntimeError(f"{command[1]} ({done.returncode}): {lines[0]} {detail}"[:1500])
    return done.stdout


def timed_call(command, seconds):
    """Returns the output of the command, and its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = call(command, seconds)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return text, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def difference(got, expected):
    """The largest difference relative to the tolerance's scale; infinity for unexpected NaN."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        text = f"{got.dtype}{got.shape} for {expected.dtype}{expected.shape}"
        raise RuntimeError("differs: " + text)
    if not np.issubdtype(got.dtype, np.floating):
        wrong = int((got != expected).sum())
        if wrong:
            raise RuntimeError(f"differs: {wrong} of {got.size} values")
        return 0.0
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    if same.all():
        return 0.0
    finite = np.abs(expected[np.isfinite(expected)])
    largest = max(1.0, float(finite.max())) if finite.size else 1.0
    gaps = np.abs(got[~same].astype(np.float64) - expected[~same]) / largest
    return float("inf") if np.isnan(gaps).any() else float(gaps.max())


def load_all(folder, prefix):
    count = len(glob.glob(os.path.join(folder, prefix + "[0-9]*.npy")))
    return [np.load(os.path.join(folder, f"{prefix}{k}.npy")) for k in range(count)]


def compare(folder, got, expected):
    if len(got) != len(expected):
        raise RuntimeError(f"differs: {len(got)} outputs for {len(expected)}")
    worst = max((difference(g, e) for g, e in zip(got, expected)), default=0.0)
    with open(os.path.join(folder, "made.json")) as file:
        rounding = json.load(file).get("rounding") or 0.0
    if not worst <= max(LIMIT, ROUNDINGS * rounding):
        raise RuntimeError(f"differs: by {worst:.2e}")
    return worst


def inputs_of(folder):
    count = len(glob.glob(os.path.join(folder, "in[0-9]*.npy")))
    return [os.path.join(folder, f"in{k}.npy") for k in range(count)]


def plan_of(text):
    """The gap in percent from the output of `taper export`."""
    gap = re.search(r"gap ([\d.]+) %", text)
    return float(gap.group(1)) if gap else None


def taper(program, backend, folder, seconds):
    pt2, pte = os.path.join(folder, "model.pt2"), os.path.join(folder, "model.pte")
    out = os.path.join(folder, "got")
    shutil.rmtree(out, ignore_errors=True)
    command = [program, "export", pt2, "--backend", backend, "-o", pte]
    text, export_s = timed_call(command, seconds)
    for _ in range(2):
        export_s = min(export_s, timed_call(command, seconds)[1])
    inspected = json.loads(call([program, "inspect", "--json", pte], seconds))
    method = inspected["methods"][0]
    files = inputs_of(folder)
    arguments = ["--inputs", ",".join(files)] if files else []
    call([program, "run", pte, "--outputs", out, *arguments], seconds)
    got = [np.load(os.path.join(out, f"out{k}.npy")) for k in range(len(os.listdir(out)))]
    result = {"export_s": export_s, "gap": plan_of(text), "operators": method["operators"]}
    result["worst"] = compare(folder, got, load_all(folder, "expected"))
    bench = call([program, "bench", pte, "-n", "3", "--warmup", "0", "--json", *arguments], seconds)
    result["run_s"] = json.loads(bench)["min_s"]
    result["planned"] = json.loads(bench)["planned_bytes"]
    result["pte"] = os.path.getsize(pte)
    os.remove(pte)
    return result
