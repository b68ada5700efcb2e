"""Says what a figure was measured with: the commit, the day, and the processor's features."""

import os
import platform
import re
import subprocess
import time

ROOT = os.path.dirname(os.path.abspath(__file__ + "/../../.."))
# What kernels are chosen by; processors of one name differ in it.
FEATURES = ("sse4_2", "avx2", "fma", "avx512f", "avx512vl", "avx512_vnni", "avx_vnni", "amx_tile",
            "asimd", "asimddp", "i8mm", "sve")  # fmt: skip
STATED = re.compile(r"[Cc]ommit ([0-9a-f]{7,40})(?: with changes)?, (\d{4}-\d\d-\d\d)")


def git(*arguments):
    """What git prints, or None if it fails, for example in a copy without history."""
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def features():
    """The processor's features that figures depend on, for example "x86_64 with avx2, fma"."""
    with open("/proc/cpuinfo") as file:
        lines = [line for line in file if line.startswith(("flags", "Features"))]
    flags = lines[0].split(":")[1].split() if lines else []
    has = ", ".join(f for f in FEATURES if f in flags)
    return f"{platform.machine()} with {has or 'no known features'}"


def commit():
    """The commit of the tree, for example "1a2b3c4, 2026-11-26". Documents do not count as changes,
    since tables are written into them while others are measured. A copy without history is told by
    TAPER_COMMIT."""
    changed = git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!*.md")
    name = git("rev-parse", "--short=7", "HEAD") or os.environ.get("TAPER_COMMIT", "0000000")
    return f"{name}{' with changes' if changed else ''}, {time.strftime('%Y-%m-%d', time.gmtime())}"


def line(jobs=1):
    """One line for below a table: `STATED` finds the commit in it again. jobs: how many models are
    measured at a time, each on cores of its own."""
    cores = len(os.sched_getaffinity(0))
    share = f", of which {cores // jobs} for each of {jobs} models at a time" if jobs > 1 else ""
    return f"Commit {commit()}; {features()}; {cores} cores{share}."
