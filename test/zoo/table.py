"""Writes the table of results, docs/models.md."""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench/figures"))
import provenance  # noqa: E402

HEAD = """# Models

Architectures of public libraries with random weights, from `torch.export` (non-strict) to outputs.
A model matches if every output differs from PyTorch's by at most 1e-4 x max(1, largest expected),
or by at most three times the difference between PyTorch's own float32 and float64 outputs.

{summary}

Written by `scripts/zoo.sh` with torch {torch}; float32, one thread, with an average of {load:.0f}
other processes running. {provenance}

- *nodes*: operator calls in the compiled program; *kinds*: distinct operators among them.
- *export*: processor time of the whole `taper export` process. *run*: without a backend, on the
  kernels in `kernels_optimized` where they exist, else on the portable ones. Both are the minimum
  of three.
- *memory*: the planned arena; *gap*: how far it is above the lower bound for any plan.
- *ExecuTorch*: the same with ExecuTorch {executorch}'s portable lowering and runtime: the processor
  time of lowering if the outputs match; empty if it was not measured.{kept}

Inputs and layer counts are smaller than in the published models where the architecture allows it;
weights are scaled so that every layer affects the outputs. Only models that `torch.export` can
export are counted.
"""


def failures(rows):
    return [r for r in rows if "error" in r.get("taper", {})]


def exported(rows):
    return [r for r in rows if "error" not in r["made"]]


def median(values):
    values = sorted(values)
    return values[len(values) // 2] if values else 0


def summary(rows):
    whole, bad = exported(rows), failures(rows)
    good = [r["taper"] for r in whole if "error" not in r["taper"]]
    text = f"{len(whole)} models, {len(whole) - len(bad)} match"
    text += f", {len(bad)} do not" if bad else ""
    vague = sum(not r["made"].get("finite", True) for r in whole)
    text += f"; {vague} have outputs of NaN or infinity" if vague else ""
    if good:
        exports = [t["export_s"] for t in good]
        gaps = [t["gap"] for t in good]
        text += f"; export {median(exports):.2f} s in the median, {max(exports):.2f} s at most"
        text += f"; memory {median(gaps):.1f} % above the lower bound in the median, "
        text += f"{max(gaps):.1f} % at most"
    peers = [r["peer"] for r in whole if "peer" in r]
    if peers:
        fine = sum("error" not in p for p in peers)
        text += f"; of {len(peers)} models also run in ExecuTorch, {fine} match"
    return text + "."


def size(count):
    return f"{count / 1e6:.2f} MB" if count >= 1e5 else f"{count / 1e3:.1f} KB"


def duration(seconds):
    return f"{seconds:.1f} s" if seconds >= 10 else f"{seconds * 1e3:.3g} ms"


def peer_cell(row):
    peer = row.get("peer")
    if peer is None:
        return ""
    if "error" not in peer:
        return f"{peer['export_s']:.1f} s"
    what = {"lower": "does not lower", "run": "does not run", "match": "differs"}
    return what.get(peer.get("stage"), "fails")


def line(row):
    taper = row["taper"]
    name = row["name"].split("/", 1)[1]
    if "error" in taper:
        cells = [name, row["family"], "", "", "no", "", "", "", "", peer_cell(row)]
    else:
        operators = taper["operators"]
        cells = [
            name, row["family"], sum(operators.values()), len(operators), f"{taper['worst']:.0e}",
            f"{taper['export_s'] * 1e3:.0f} ms", size(taper["planned"]), f"{taper['gap']} %",
            duration(taper["run_s"]), peer_cell(row),
        ]  # fmt: skip
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


COLUMNS = "model, kind, nodes, kinds, difference, export, memory, gap, run, ExecuTorch".split(", ")


def section(library, rows):
    out = [f"\n## {library}\n", "| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    return out + [line(row) for row in rows]


CELLS = {"does not lower": "lower", "does not run": "run", "differs": "match", "fails": ""}


def keep_peers(path, rows):
    """Adds ExecuTorch's results from the table at `path` to the rows; returns a note about them."""
    with open(path) as file:
        text = file.read()
    library, cells = "", {}
    for row in text.splitlines():
        if row.startswith("## "):
            library = row[3:]
        elif row.startswith("| ") and row.count("|") == len(COLUMNS) + 1:
            parts = [part.strip() for part in row.strip("|").split("|")]
            cells[f"{library}/{parts[0]}"] = parts[-1]
    for row in rows:
        cell = cells.get(row["name"], "")
        if cell in CELLS:
            row["peer"] = {"error": cell, "stage": CELLS[cell]}
        elif cell:
            row["peer"] = {"export_s": float(cell.split()[0])}
    where = re.search(r"Kept from an earlier run on (.*?)\.\n", text, re.S)
    where = where.group(1) if where else provenance.STATED.search(text).group()
    return f"\n  Kept from an earlier run on {where}."


def write(path, rows, versions, kept=""):
    rows = exported(rows)
    text = HEAD.format(
        summary="- " + summary(rows).replace("; ", "\n- "),
        provenance=provenance.line(),
        load=max(0, os.getloadavg()[1] - 1),
        kept=kept,
        **versions,
    )
    changed = [r["name"] for r in rows if (r["made"].get("changed_by_export") or 0) > 1e-5]
    if changed:
        text += "\nThese compute different results when they are traced, and are compared with "
        text += "PyTorch's outputs of the\nexported program: " + ", ".join(changed) + ".\n"
    failed = failures(rows)
    if failed:
        text += "\nFailures:\n\n"
        text += "\n".join(f"- {r['name']}: {reason(r)}" for r in failed) + "\n"
    lines = []
    for library in dict.fromkeys(r["name"].split("/")[0] for r in rows):
        lines += section(library, [r for r in rows if r["name"].startswith(library + "/")])
    with open(path, "w") as file:
        file.write(text + "\n".join(lines) + "\n")


def reason(row):
    """The error without folders, and for differences PyTorch's own float32 error."""
    text = re.sub(r"\S*/", "", row["taper"]["error"])[:160]
    rounding = row["made"].get("rounding")
    if text.startswith("RuntimeError: differs") and rounding is not None:
        text += f" (PyTorch's float32 is off by {rounding:.1e} from its float64)"
    return text
