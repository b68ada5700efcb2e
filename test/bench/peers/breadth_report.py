"""Writes docs/benchmarks_breadth.md: every architecture of breadth.py, the worst first."""

import peers
from report import TAPER, WRONG, figure, is_wrong, machine, mean, missing, number, of_kind, table

PEERS = ("onnxruntime", "openvino")
HEAD = """# Benchmarks of more architectures

Written by `make bench-breadth`; `test/bench/peers/README.md` describes the method. Milliseconds of
a run, f32, batch 1, from the medians of rounds in which all take turns. The ratio is that of the
faster peer to Taper: above 1 Taper is ahead of both. The differences are the largest ones of the
first output from PyTorch's, relative to its largest value; a row with one above {wrong:g} counts
nowhere and has no ratio."""


def ratio(row):
    """The faster peer's time over Taper's; None if one is missing, or computed something else."""
    ours = figure(row, TAPER, "wall_s")
    theirs = [t for t in (figure(row, name, "wall_s") for name in PEERS) if t]
    is_counted = ours and theirs and not any(is_wrong(row, name) for name in (TAPER, *PEERS))
    return min(theirs) / ours if is_counted else None


def milliseconds(row, name):
    seconds = figure(row, name, "wall_s")
    return number(seconds * 1e3) if seconds else "-"


def difference(row, name):
    found = figure(row, name, "difference")
    return f"{found:.0e}" if found is not None else "-"


def compared(results, threads):
    rows = [(ratio(row), model, row) for model, row in of_kind(results, ("f32", threads))]
    known = sorted((entry for entry in rows if entry[0]), key=lambda entry: entry[0])
    if not known:
        return
    ahead = sum(r > 1 for r, _, _ in known)
    yield f"## {threads} thread{'s' if threads > 1 else ''}"
    yield ""
    yield (f"Ahead on {ahead} of {len(known)}; geometric mean of the ratios "
           f"{mean([r for r, _, _ in known]):.2f}, least {known[0][0]:.2f}, "
           f"most {known[-1][0]:.2f}.")  # fmt: skip
    yield ""
    shown = [name for name in (TAPER, "kernels", *PEERS)
             if any(figure(row, name, "wall_s") for _, _, row in rows)]  # fmt: skip
    yield from table(
        ["model", *(peers.PEERS[name].label for name in shown), "ratio", "difference of Taper",
         "of the peers"],
        [[model, *(milliseconds(row, name) for name in shown), f"{r:.2f}" if r else "-",
          difference(row, TAPER), ", ".join(difference(row, name) for name in PEERS)]
         for r, model, row in [*known, *(entry for entry in rows if not entry[0])]])  # fmt: skip


def write(results):
    """Returns the whole report as text."""
    lines = [*HEAD.format(wrong=WRONG).splitlines(), "", *machine(results), ""]
    for threads in sorted({int(key.split("/")[2]) for key in results}):
        lines.extend(compared(results, threads))
    lines.extend(missing(results))
    return "\n".join(lines).rstrip() + "\n"
