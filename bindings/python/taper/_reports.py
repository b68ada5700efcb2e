"""What taper.check, quantize, profile and compare give: numbers as attributes, the command's text
when printed, a table in a notebook."""

import io
import os
from types import SimpleNamespace

from taper._files import write


def escape(text):
    import html  # Only notebooks need it.
    return html.escape(str(text))


def _rows(items):
    return [SimpleNamespace(**item) for item in items]


def _table(titles, rows):
    """Rows of texts and numbers as HTML; of a pair (text, share) the cell is filled to that part."""
    html = ["<table><tr>", *(f"<th>{escape(title)}</th>" for title in titles), "</tr>"]
    for row in rows:
        html.append("<tr>")
        for cell in row:
            style = ""
            if isinstance(cell, tuple):
                cell, share = cell
                part = f"{100 * min(max(share, 0), 1):.1f}%"
                style = f" style='background:linear-gradient(90deg,#8884 {part},transparent {part})'"
            html.append(f"<td{style}>{escape(cell)}</td>")
        html.append("</tr>")
    return "".join(html) + "</table>"


def _time(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def _decibels(value):
    return "exact" if value is None or value == float("inf") else f"{value:.1f} dB"


class Report:
    """The result of a command.

    data: the JSON that the command writes, as dicts and lists.
    notes: what else it said.
    """

    def __init__(self, data, text, notes):
        self.data, self.notes, self._text = data, notes, text

    def __repr__(self):
        return self._text

    def _repr_html_(self):
        first, _, _ = self._text.partition("\n\n")
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes)
        return f"<pre>{escape(first)}</pre>{notes}{self._tables()}"

    def _tables(self):
        return ""


class Output(Report):
    """What a command printed. With json=True, `data` is that JSON; else it is None."""

    def _repr_html_(self):
        return f"<pre>{escape(self._text)}</pre>"


class Check(Report):
    """What prevents compiling a model. True if nothing does.

    problems: one dict for each, as in CompileError.
    warnings: texts.
    """

    def __init__(self, data, text, notes):
        super().__init__(data, text, notes)
        self.problems, self.warnings = data["problems"], data["warnings"]

    def __bool__(self):
        return not self.problems

    def _repr_html_(self):
        if not self.problems:
            return super()._repr_html_()
        return _table(("node", "problem", "source line", "remedy"), (
            (each["node"], each["message"], each["source"], each["remedy"])
            for each in self.problems))


class Comparison(Report):
    """How far a program's tensors are from the right ones. True if all agree.

    tensors: one for each, in order: node, op, module, line, runs_on, dtype, shape, snr_db, max_abs,
        max_rel, bound, agrees, from_inputs, ...
    inside: the same for what `bisect` looked at within delegates.
    first: the first that differs, or None; worst: the one with the least SNR.
    """

    def __init__(self, data, text, notes):
        super().__init__(data, text, notes)
        self.agrees, self.method = data["agrees"], data["method"]
        self.tensors, self.inside = _rows(data["nodes"]), _rows(data["inside"])
        by_name = {each.node: each for each in self.tensors}
        self.first, self.worst = by_name.get(data["first"]), by_name.get(data["worst"])

    def __bool__(self):
        return self.agrees

    def _tables(self):
        shown = [each for each in self.tensors + self.inside if not each.agrees] or self.tensors
        return _table(("node", "operator", "runs on", "SNR", "error", "allowed", ""), (
            (each.node, each.op, each.runs_on, _decibels(each.snr_db), f"{each.max_rel:.2g}",
             f"{each.bound:.2g}", each.problem or self._cause(each)) for each in shown))

    @staticmethod
    def _cause(tensor):
        if tensor.agrees:
            return ""
        return "from its inputs" if tensor.from_inputs else "made here"


class Profile(Report):
    """Where the time of a program goes.

    median_s: seconds of a run, the median of `runs`.
    rows: one for each instruction, and after one that has_steps, for each of these (is_step):
        place, node, op, runs_on, module, line, result, calls, median_s, p90_s, operations, bytes,
        and counters if they were asked for.
    """

    def __init__(self, data, text, notes):
        super().__init__(data, text, notes)
        self.median_s, self.runs, self.rows = data["median_s"], data["runs"], _rows(data["rows"])

    def by(self, what):
        """Seconds of a run by "op", "module", "line", "node" or "runs_on": a dict, most first.

        Steps count in place of the instruction that they are part of.
        """
        sums, around = {}, ""
        for row in self.rows:
            key = getattr(row, what) or "(not known)"
            if row.has_steps:
                key = around = f"(around the steps of {row.runs_on})"
            sums[key] = sums.get(key, 0) + row.median_s
            if row.is_step:
                sums[around] -= row.median_s
        return dict(sorted(((key, max(seconds, 0)) for key, seconds in sums.items()),
                           key=lambda item: -item[1]))

    def _share(self, seconds):
        part = seconds / self.median_s if self.median_s else 0
        return f"{100 * part:.1f} %", part

    def _tables(self):
        rows = sorted((row for row in self.rows if not row.has_steps),
                      key=lambda row: -row.median_s)[:20]
        return _table(("time", "share", "node", "operator", "runs on", "result", "source line"), (
            (_time(row.median_s), self._share(row.median_s), row.node, row.op, row.runs_on,
             row.result, row.line) for row in rows)) + _table(("time", "share", "operator"), (
                (_time(seconds), self._share(seconds), op)
                for op, seconds in list(self.by("op").items())[:20]))


class Quantized(Report):
    """A quantised model, which taper.export() takes, and what quantising did.

    layers: one for each: name, op, module, quantised, format, why_not, float_bytes, bytes, ...
    outputs: one for each: snr_db, largest_error, largest_value.
    tensors: scales of activations.
    agreement: the part of the rows with the same first choice as before; None without samples.
    accuracy, accuracy_before: with labels; else None.
    bytes, bytes_before: of the .pt2.
    """

    def __init__(self, data, text, notes, file):
        super().__init__(data, text, notes)
        self._file = file
        self.layers, self.outputs = _rows(data["layers"]), _rows(data["outputs"])
        self.tensors = _rows(data["tensors"])
        self.agreement = data.get("agreement")
        self.accuracy, self.accuracy_before = data.get("accuracy"), data.get("accuracy_before")
        self.bytes, self.bytes_before = data["bytes_after"], data["bytes_before"]

    def to_bytes(self):
        """The .pt2."""
        return self._file

    def save(self, path):
        """Writes the .pt2, completely or not at all."""
        write(os.fspath(path), self._file)

    def exported_program(self):
        """The model as a torch.export.ExportedProgram, which needs PyTorch."""
        import torch
        import torch.ao.quantization.fx._decomposed  # noqa: F401 - declares what the nodes call.
        return torch.export.load(io.BytesIO(self._file))

    def _tables(self):
        return _table(("layer", "operator", "stored as", "weight SNR", "outputs", "bytes"), (
            (each.name, each.op, each.format if each.quantised else f"float: {each.why_not}",
             _decibels(each.weight_snr_db) if each.format else "",
             _decibels(each.sensitivity_db) if hasattr(each, "sensitivity_db") else "",
             f"{each.float_bytes} -> {each.bytes}" if each.float_bytes else "")
            for each in self.layers))
