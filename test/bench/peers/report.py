"""Writes the report: all measurements, including those where Taper is slower, and all failures."""

import math

import peers

TAPER = "taper"
HEAD = """# Benchmarks

Written by `make bench-peers`; `test/bench/peers/README.md` describes the method. All peers run
alternately on the same inputs; the figures are medians over rounds. Ratios are the peer's figure
over Taper's: above 1 Taper is ahead, below 1 it is behind. The models have full size, seeded random
weights and batch 1. OpenVINO is restricted to f32, since its default is bfloat16 if the processor
supports it. In int8, Taper and ExecuTorch run ExecuTorch's file; ONNX Runtime and OpenVINO run the
file of ONNX Runtime's quantiser."""


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


def machine(results):
    """What the rows were measured with, each once, and the versions."""
    measured = dict.fromkeys(row["measured"] for row in results.values() if "measured" in row)
    seen = {name for row in results.values() for name in row}
    versions = [f"{peer.label} {version_of(peer, results)}"
                for peer in peers.PEERS.values() if peer.name in seen]  # fmt: skip
    return [*(f"- {line}" for line in measured), f"- Versions: {'; '.join(versions)}."]


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
        if d == dtype and int(t) == threads and TAPER in row:
            yield model, row


def figure(row, name, field):
    return row.get(name, {}).get(field)


def others(results):
    names = {n for row in results.values() for n in row if n in peers.PEERS and n != TAPER}
    return [n for n in peers.PEERS if n in names]


def compared(results, kind, field, scale, ours=None):
    """A table of one figure, with the ratio of the peer's to Taper's in brackets. `ours` names
    Taper's figure with packed weights, if there is one; both are then listed."""
    names = others(results)
    rows, ratios = [], {n: [] for n in names}
    for model, row in of_kind(results, kind):
        mine = figure(row, TAPER, ours or field)
        cells = [model, number(mine * scale) if mine else "-"]
        if ours:
            plain = figure(row, TAPER, field)
            cells.append(number(plain * scale) if plain else "-")
        for name in names:
            theirs = figure(row, name, field)
            if theirs and mine:
                ratios[name].append(theirs / mine)
                cells.append(f"{number(theirs * scale)} ({theirs / mine:.2f})")
            else:
                cells.append(number(theirs * scale) if theirs else "-")
        rows.append(cells)
    if not rows:
        return
    labels = ["Taper, packed", "Taper"] if ours else ["Taper"]
    means = [f"{mean(ratios[n]):.2f}" if ratios[n] else "-" for n in names]
    means = [f"**{m}**" if m != "-" else m for m in means]
    rows.append(["**geometric mean**", *("" for _ in labels), *means])
    yield from table(["model", *labels, *(peers.PEERS[n].label for n in names)], rows)


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


def cold(results):
    kind = ("f32", 1)
    if not any(of_kind(results, kind)):
        return
    yield "## Cold start, f32, 1 thread: milliseconds"
    yield ""
    yield "From loading the model to the first result, with files in the page cache. The ratios are"
    yield "to Taper with packed weights beside the model (`--cache`)."
    yield ""
    yield from compared(results, kind, "first_s", 1e3, ours="cached_first_s")
    yield "### From process start to the first result, including Python imports"
    yield ""
    yield from compared(results, kind, "process_s", 1e3, ours="cached_s")


def memory(results):
    kind = ("f32", 1)
    if not any(of_kind(results, kind)):
        return
    yield "## Peak resident memory above the idle runtime, f32, 1 thread: MB"
    yield ""
    yield "Pages of packed weights are included, although processes share them."
    yield ""
    yield from compared(results, kind, "rss_kb", 1e-3, ours="cached_rss_kb")
    yield "## File size, f32: MB"
    yield ""
    yield from compared(results, kind, "file_bytes", 1e-6)


def missing(results):
    seen = {}
    for key, row in results.items():
        for name, figures in row.items():
            if isinstance(figures, dict) and "error" in figures:
                text = figures["error"].replace("|", "/")
                seen.setdefault((peers.PEERS[name].label, text), []).append(key)
    if not seen:
        return
    yield "## What could not be measured"
    yield ""
    rows = [[label, ", ".join(keys), text] for (label, text), keys in seen.items()]
    yield from table(["peer", "model/dtype/threads", "reason"], rows)


def write(results):
    """Returns the whole report as text."""
    lines = [*HEAD.splitlines(), "", *machine(results), ""]
    for part in (latency, speedup, cold, memory, missing):
        lines.extend(part(results))
    return "\n".join(lines).rstrip() + "\n"
