"""Writes the report: all measurements, including those where Taper is slower, and all failures."""

import math

import models
import peers

TAPER = "taper"
OUTLIER = "lstm"  # Others run it as many small operators, which would carry the mean.
SHORT = 1e-4  # Seconds: below, what a call costs by itself is a good part of the figure.
WRONG = 0.1  # Difference from PyTorch's outputs: above, a figure is not one of the same model.
HEAD = """# Benchmarks

Written by `make bench-peers`; `test/bench/peers/README.md` describes the method. The models have
full size, seeded random weights and batch 1. All peers take turns on the same inputs; figures are
medians over rounds. Ratios are the peer's figure over Taper's: above 1 Taper is ahead, below 1 it is
behind.

A run is: hand the inputs over, run, have outputs that can be read. Taper is measured by `taper
bench`, in C++; the others through their Python packages, whose wheels bring no headers for their C
and C++ interfaces. What such a call costs by itself is a table of its own.

OpenVINO is restricted to f32, since its default is bfloat16 if the processor supports it. In int8,
Taper and ExecuTorch each compile the program that PT2E quantised, ONNX Runtime and OpenVINO run the
file of ONNX Runtime's quantiser, LiteRT that of its own. Whole numbers are given in 32 bits to peers
that take no others.

Where outputs differ from PyTorch's by more than {wrong:g} of the largest value, a figure is marked
with \\# and counts in no mean, least or most; where that is Taper's, nothing of the row counts."""


def version_of(peer, results):
    """The version that was measured, or the installed one if none is recorded."""
    noted = [row[peer.name]["version"] for row in results.values()
             if "version" in row.get(peer.name, {})]  # fmt: skip
    if noted:
        return noted[-1]
    try:
        return peer.version()
    except Exception:
        return "(unknown version)"


def rounds_of(row):
    if "rounds" not in row:
        return "rounds were not recorded: neither which counts, nor whether all models had as many"
    return f"rounds: {row['rounds']}, of which the {row['statistic']} counts"


def measured_with(results, threads):
    """Lines that say what the rows of so many threads were measured with. The models are named unless
    they are the most, so that none is measured otherwise unseen."""
    groups = {}
    for key, row in results.items():
        model, _, of_row = key.split("/")
        if int(of_row) == threads:
            kind = row.get("measured", "no commit."), rounds_of(row)
            groups.setdefault(kind, {}).setdefault(model, row["load"])
    most = max(groups.values(), key=len)
    for (measured, rounds), loads in groups.items():
        who = f"{len(loads)} models" if loads is most else ", ".join(loads)
        yield (f"- {threads} thread{'s' if threads > 1 else ''}, {who}: {measured[:-1]}; {rounds}; "
               f"system load {min(loads.values()):.1f} to {max(loads.values()):.1f}.")  # fmt: skip


def machine(results):
    """What the rows were measured with, and the versions."""
    numbers = sorted({int(key.split("/")[2]) for key in results})
    seen = {name for row in results.values() for name in row}
    versions = [f"{peer.label} {version_of(peer, results)}"
                for peer in peers.PEERS.values() if peer.name in seen]  # fmt: skip
    return [*(line for threads in numbers for line in measured_with(results, threads)),
            f"- Versions: {'; '.join(versions)}."]  # fmt: skip


def table(header, rows):
    yield "| " + " | ".join(header) + " |"
    yield "|---" * len(header) + "|"
    for row in rows:
        yield "| " + " | ".join(row) + " |"
    yield ""


def number(value):
    return f"{value:.3g}" if value < 100 else f"{value:.0f}"


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else None


def of_kind(results, kind):
    """(model, row) for one dtype and number of threads, in the order of the models."""
    dtype, threads = kind
    for key, row in results.items():
        model, d, t = key.split("/")
        if d == dtype and int(t) == threads and TAPER in row and model != models.CALL:
            yield model, row


def figure(row, name, field):
    return row.get(name, {}).get(field)


def is_wrong(row, name):
    """Whether it computed something else. NaN is no difference below the limit."""
    found = figure(row, name, "difference")
    return found is not None and not found <= WRONG


def others(results):
    names = {n for row in results.values() for n in row if n in peers.PEERS and n != TAPER}
    return [n for n in peers.PEERS if n in names]


def compared(results, kind, field, scale, where=None):
    """A table of one figure, with the ratio of the peer's to Taper's in brackets. `where` names the
    part of a peer's results that has the figure."""
    def value(row, name):
        found = row.get(name, {})
        return (found.get(where, {}) if where else found).get(field)

    names = [n for n in others(results)
             if any(value(row, n) for _, row in of_kind(results, kind))]  # fmt: skip
    rows, ratios = [], {n: {} for n in names}
    for model, row in of_kind(results, kind):
        mine = value(row, TAPER)
        is_short = field.endswith("_s") and mine and mine < SHORT
        cells = [model + (" \\*" if is_short else "")]
        cells.append(cell(mine, None, scale, is_wrong(row, TAPER)))
        for name in names:
            theirs = value(row, name)
            cells.append(cell(theirs, mine, scale, is_wrong(row, name)))
            if theirs and mine and not is_wrong(row, TAPER) and not is_wrong(row, name):
                ratios[name][model] = theirs / mine
        rows.append(cells)
    if rows:
        rows.extend(summary([ratios[n] for n in names]))
        yield from table(["model", "Taper", *(peers.PEERS[n].label for n in names)], rows)


def cell(figure, ours, scale, is_marked):
    """A figure with its ratio to ours, and the mark of wrong outputs."""
    if not figure:
        return "-"
    ratio = f" ({figure / ours:.2f})" if ours else ""
    return number(figure * scale) + ratio + (" \\#" if is_marked else "")


def summary(columns):
    """The last rows of a table: its columns' ratios, by model, in short."""
    def row(title, show):
        return [title, "", *(show(list(ratios)) if ratios else "-" for ratios in shown)]

    shown = [ratios.values() for ratios in columns]
    yield row("**geometric mean**", lambda ratios: f"**{mean(ratios):.2f}**")
    yield row("least and most", lambda ratios: f"{min(ratios):.2f} to {max(ratios):.2f}")
    if any(OUTLIER in ratios for ratios in columns):
        shown = [[r for m, r in ratios.items() if m != OUTLIER] for ratios in columns]
        yield row(f"mean without {OUTLIER}", lambda ratios: f"{mean(ratios):.2f}")


def latency(results):
    for kind in (("f32", 1), ("f32", 2), ("int8", 1), ("int8", 2)):
        if not any(of_kind(results, kind)):
            continue
        dtype, threads = kind
        loads = [row.get("load", 0) for _, row in of_kind(results, kind)]
        title = f"{dtype}, {threads} thread" + ("s" if threads > 1 else "")
        yield f"## Latency, {title}: milliseconds (ratio to Taper's)"
        yield ""
        yield f"Wall time. System load while measuring: {min(loads):.1f} to {max(loads):.1f}."
        yield ""
        yield from compared(results, kind, "wall_s", 1e3)
        yield f"### CPU time, {title}"
        yield ""
        yield from compared(results, kind, "cpu_s", 1e3)


def speedup(results):
    """The speedup from a second thread."""
    names = [TAPER, *others(results)]
    two = dict(of_kind(results, ("f32", 2)))
    rows = []
    for model, one in of_kind(results, ("f32", 1)):
        pairs = [(figure(one, n, "wall_s"), figure(two.get(model, {}), n, "wall_s")) for n in names]
        rows.append([model, *(f"{a / b:.2f}" if a and b else "-" for a, b in pairs)])
    if rows:
        yield "## Speedup of two threads over one, f32"
        yield ""
        yield from table(["model", *(peers.PEERS[n].label for n in names)], rows)


def call(results):
    """What a call costs by itself."""
    row = results.get(f"{models.CALL}/f32/1")
    if not row:
        return
    names = [n for n in (TAPER, *others(results)) if figure(row, n, "wall_s")]
    yield "## The cost of a call: microseconds"
    yield ""
    yield "A model that adds 1 to one number, one thread. Rows of other tables with \\* are below"
    yield "0.1 ms, where this weighs."
    yield ""
    cells = [number(figure(row, n, "wall_s") * 1e6) for n in names]
    yield from table([peers.PEERS[n].label for n in names], [cells])


def differences(results):
    """How far the outputs are from PyTorch's."""
    yield "## Differences from PyTorch"
    yield ""
    yield "The largest difference of the first output from that of PyTorch's float32 model, relative to"
    yield "its largest value, in the same runs. With random weights int8 shows little but that it runs."
    yield ""
    names = [TAPER, *others(results)]
    rows = []
    for kind in (("f32", 1), ("int8", 1)):
        for model, row in of_kind(results, kind):
            found = [figure(row, name, "difference") for name in names]
            shown = ["-" if value is None else f"{value:.0e}" for value in found]
            shown = [text + " \\#" * is_wrong(row, name) for name, text in zip(names, shown)]
            rows.append([f"{model}, {kind[0]}", *shown])
    yield from table(["model", *(peers.PEERS[n].label for n in names)], rows)


def cold(results):
    kind = ("f32", 1)
    if not any(of_kind(results, kind)):
        return
    yield "## Cold start, f32, 1 thread: milliseconds"
    yield ""
    yield "From loading the model to the first result, in a process of its own each time, in turns, as"
    yield "many for each; medians; files are in the page cache."
    yield ""
    yield from compared(results, kind, "first_s", 1e3, "cold")
    yield "### From process start to the first result"
    yield ""
    yield "The others' Python imports count. Taper's is the whole of `taper run`, to the end of its"
    yield "process."
    yield ""
    yield from compared(results, kind, "process_s", 1e3, "cold")
    yield "## Cold start with a cache, f32, 1 thread: milliseconds"
    yield ""
    yield "The same where each may use what it kept from a run before: Taper packed weights (`--cache`;"
    yield "it trusts a model's file once that is some seconds old), ONNX Runtime the optimised model,"
    yield "OpenVINO its `CACHE_DIR`, LiteRT XNNPACK's packed weights (in the newer of its interfaces,"
    yield "which takes longer to load by itself). The other packages offer nothing."
    yield ""
    yield from compared(results, kind, "first_s", 1e3, "cached")


def memory(results):
    kind = ("f32", 1)
    if not any(of_kind(results, kind)):
        return
    yield "## Peak resident memory above the idle runtime, f32, 1 thread: MB"
    yield ""
    yield "In the processes of the cold starts. Pages of files are included, although processes share"
    yield "them."
    yield ""
    yield from compared(results, kind, "rss_kb", 1e-3, "cold")
    yield "### The same with a cache"
    yield ""
    yield from compared(results, kind, "rss_kb", 1e-3, "cached")
    yield "## File size, f32: MB"
    yield ""
    yield from compared(results, kind, "file_bytes", 1e-6)


def missing(results):
    seen = {}
    for key, row in results.items():
        for name, figures in row.items():
            parts = [figures, figures.get("cached", {})] if isinstance(figures, dict) else []
            for part in (part for part in parts if "error" in part):
                text = part["error"].replace("|", "/")
                seen.setdefault((peers.PEERS[name].label, text), []).append(key)
    if not seen:
        return
    yield "## What could not be measured"
    yield ""
    rows = [[label, ", ".join(keys), text] for (label, text), keys in seen.items()]
    yield from table(["peer", "model/dtype/threads", "reason"], rows)


def write(results):
    """Returns the whole report as text."""
    lines = [*HEAD.format(wrong=WRONG).splitlines(), "", *machine(results), ""]
    for part in (latency, speedup, call, differences, cold, memory, missing):
        lines.extend(part(results))
    return "\n".join(lines).rstrip() + "\n"
