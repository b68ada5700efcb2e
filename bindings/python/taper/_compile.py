"""The compiler: exported programs in, programs for devices out."""

import io
import os

from taper import _taper
from taper._files import write
from taper._reports import Quantized


class CompileError(_taper.Error):
    """A model that cannot be compiled.

    problems: one dict for each, with id, message, source (the line of your code), remedy, ...
    """

    def __init__(self, text, problems=()):
        super().__init__(text)
        self.problems = list(problems)


class Program:
    """A compiled program.

    report: what `taper export --report` prints: every node, where it runs and why.
    memory: by method, how many bytes are planned, and the lower bound.
    methods: by method, instructions, memory and nodes.
    warnings: texts.
    """

    def __init__(self, program, weights, report):
        self._program, self._weights = program, weights
        self.warnings = report["warnings"]
        self.methods = {method["name"]: method for method in report["methods"]}

    @property
    def report(self):
        return "\n".join(method["text"] for method in self.methods.values())

    @property
    def memory(self):
        return {name: method["memory"] for name, method in self.methods.items()}

    @property
    def weights(self):
        """The bytes of the .ptd, if they were asked for apart; else empty."""
        return self._weights

    def to_bytes(self):
        """The .pte."""
        return self._program

    def save(self, path, weights_path=None):
        """Writes the .pte, completely or not at all; and the .ptd, if weights are apart."""
        if self._weights and weights_path is None:
            raise ValueError("the weights are apart from the program: give weights_path")
        for data, to in ((self._weights, weights_path), (self._program, path)):
            if to is not None:
                write(os.fspath(to), data)

    def load(self, **options):
        """The program, ready to run; see taper.load()."""
        from taper._model import load
        return load(self._program, **options)

    def __repr__(self):
        parts = [f"{name}: {method['instructions']} instructions, "
                 f"{method['memory']['planned_bytes']} bytes planned"
                 for name, method in self.methods.items()]
        return f"Program({len(self._program)} bytes; {'; '.join(parts)})"

    def _repr_html_(self):
        from html import escape
        return f"<b>{escape(repr(self))}</b><pre>{escape(self.report)}</pre>"


def sources_of(model):
    """The programs in memory and those on disk: [(method, bytes)], ["method=path"]."""
    named = model if isinstance(model, dict) else {"forward": model}
    in_memory, words = [], []
    for method, each in named.items():
        if isinstance(each, (str, os.PathLike)):
            words.append(f"{method}={os.path.abspath(os.fspath(each))}")
        elif isinstance(each, (bytes, bytearray, memoryview)):
            in_memory.append((method, each))
        elif isinstance(each, Quantized):
            in_memory.append((method, each.to_bytes()))
        else:
            in_memory.append((method, _saved(each)))
    return in_memory, words


def _saved(program):
    """What torch.export.save() writes of an ExportedProgram, in memory."""
    import sys
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(program, torch.export.ExportedProgram):
        raise TypeError("expected a torch.export.ExportedProgram, the path or the bytes of a .pt2, "
                        f"what taper.quantize() gave, or a dict of them; given {type(program).__name__}")
    buffer = io.BytesIO()
    try:
        torch.export.save(program, buffer)
    except Exception as error:  # PyTorch has one for every reason, such as a dtype without words.
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = ": ".join(dict.fromkeys(lines[:1] + lines[-1:])) or type(error).__name__
        raise CompileError(f"torch.export.save() does not take the program: {reason}") from error
    return buffer.getbuffer()


def word_of(name, value):
    """Words for an option: memory_budget="64K" becomes --memory-budget=64K."""
    option = "--" + name.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return []
    if value is True:
        return [option]
    if isinstance(value, dict):
        value = ",".join(f"{key}={each}" for key, each in value.items())
    elif isinstance(value, (list, tuple)):
        value = ",".join(str(each) for each in value)
    return [f"{option}={value}"]


def export(model, /, *, backend=None, bounds=None, external_weights=False, **options):
    """Compiles a model for devices.

    model: a torch.export.ExportedProgram, the path or the bytes of a .pt2, what taper.quantize()
        gave, or a dict from names of methods to these, which become the methods of one program.
    backend: backends that run the operators, by preference: "xnnpack", ["vulkan", "xnnpack"].
    bounds: upper bounds of symbolic sizes: {"s77": 128}.
    external_weights: keep the weights apart, in Program.weights.
    options: every other option of `taper export`, with underscores: io="application",
        precision="f16", compat="executorch", memory_budget="256K", require_full_delegation=True;
        model="encoder" or "all", of an archive that holds several.

    Raises CompileError, whose `problems` name every obstacle with the line of your code.
    """
    in_memory, words = sources_of(model)
    for name, value in {"backend": backend, "bound": bounds, "external_weights": external_weights,
                        **options}.items():
        words += word_of(name, value)
    program, weights, report, problem = _taper.compile(words, in_memory)
    import json
    report = json.loads(report)
    if problem:
        raise CompileError(report.get("error") or problem, report.get("problems", ()))
    return Program(program, weights, report)
