"""taper.check, quantize, profile and compare: the commands of these names, on objects in memory;
taper.command runs any other.

Each runs its command in a process of its own, which Ctrl-C ends, whose memory is given back, and
in which nothing disturbs what is measured. Every option of the command is a keyword.
"""

import os
import sys
from collections.abc import Iterable

from taper import _taper
from taper._compile import Program, sources_of, word_of
from taper._model import load
from taper._npy import is_tensor, npy_of, npz_of
from taper._reports import Check, Comparison, Output, Profile, Quantized

# Loads the compiled half alone, so that nothing of the caller's environment matters.
_MAIN = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("_taper", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
sys.exit(module.run_taper(["taper"] + sys.argv[2:]))
"""
_NOT_HERE = ("json", "csv", "quiet", "output", "help")


class _Call:
    """A command that runs once, with a folder for what it reads and writes."""

    def __init__(self):
        import tempfile
        self._folder = tempfile.TemporaryDirectory(prefix="taper-")

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self._folder.cleanup()

    def path(self, name):
        return os.path.join(self._folder.name, name)

    def file(self, name, data):
        """The path of a new file."""
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)
        return path

    def model(self, model, name):
        """The path of a .pt2 or a .pte: as it is, or written from memory."""
        if isinstance(model, (str, os.PathLike)):
            return os.fspath(model)
        if isinstance(model, Program):
            return self.file(name + ".pte", model.to_bytes())
        (_, data), = sources_of(model)[0]
        return self.file(name + (".pt2" if bytes(data[:2]) == b"PK" else ".pte"), data)

    def word(self, value, name):
        """A word or the value of an option: of an object, the path of a file that holds it."""
        if isinstance(value, (list, tuple)):
            return [self.word(each, f"{name}/{i}") for i, each in enumerate(value)]
        if value is None or isinstance(value, (str, bool, int, float, dict)):
            return value
        if isinstance(value, os.PathLike):
            return os.fspath(value)
        if not isinstance(value, (bytes, bytearray)) and is_tensor(value):
            return self.file(name + ".npy", npy_of(value, name))
        return self.model(value, name)

    def inputs(self, path, method, args, kwargs, data_path):
        """Words that name files with the tensors that a call of the method would pass."""
        if not args and not kwargs:
            return []
        with load(path, threads=1, data_path=data_path) as model:
            chosen = model._main if method is None else model[method]
            leaves = args
            if kwargs or not chosen._is_flat:
                leaves = chosen._flatten(args, kwargs or {})
            elif len(args) != len(chosen.inputs):
                raise chosen._wrong_count(len(args))
            wanted = [(info.name, leaf) for info, leaf in zip(chosen.inputs, leaves)
                      if info.dtype is not None]
        return ["--inputs", ",".join(self.file(f"inputs/{i}.npy", npy_of(leaf, f"input {name!r}"))
                                     for i, (name, leaf) in enumerate(wanted))]

    def run(self, command, words, options, may_fail=False):
        """What the command wrote as JSON, its text, and its notes."""
        import json
        for name in options:
            if name.rstrip("_") in _NOT_HERE:
                raise TypeError(f"taper.{command}() has no option {name!r}")
        report = self.path("report.json")
        code, text, said = self.start([command, *words, "--json=" + report], options)
        if code != 0 and not (may_fail and os.path.exists(report)):
            raise _taper.Error(_message(said))
        with open(report, encoding="utf-8") as file:
            data = json.loads(self._plain(file.read()))
        return data, text, _notes(said)

    def start(self, words, options):
        """The command's exit code, and what it wrote to its output and its error output."""
        import signal
        import subprocess
        if not sys.executable:
            raise _taper.Error(f"taper.{words[0]}() needs a Python interpreter to run in")
        for name, value in options.items():
            words = words + word_of(name, value)
        done = subprocess.run([sys.executable, "-I", "-S", "-c", _MAIN, _taper.__file__, *words],
                              stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
                              errors="replace")
        if done.returncode < 0:
            raise _taper.Error(f"taper {words[0]} was ended by "
                               + signal.Signals(-done.returncode).name)
        return done.returncode, self._plain(done.stdout).rstrip("\n"), self._plain(done.stderr)

    def _plain(self, text):
        """Without the folder, in which files in memory seem to lie."""
        return text.replace(self._folder.name + os.sep, "")


def _message(said):
    return said.strip().removeprefix("taper: error: ")


def _notes(said):
    return [line.partition(": ")[2].partition(": ")[2] for line in said.splitlines()
            if line.startswith(("taper: note: ", "taper: warning: "))]


def command(name, *words, **options):
    """Runs any command of the command line: taper.command("trace", program, output="run.pftrace").

    name: "inspect", "view", "trace", "pack", "sign", "bundle", "verify" and so on.
    words: what stands behind it: models and programs, as objects, bytes or paths, and other words.
    options: its options, with underscores. A tensor becomes a .npy file, a program or a model a
        file, and a list of these their names: inputs=[x, y], against=program, for_="this-cpu".

    The result prints what the command prints. With json=True, its `data` is that JSON.
    """
    import json
    with _Call() as call:
        given = [call.word(word, f"word{i}") for i, word in enumerate(words)]
        named = {key: call.word(value, key) for key, value in options.items()}
        code, text, said = call.start([name, *given], named)
        if code != 0:
            raise _taper.Error("\n".join(filter(None, (text, _message(said)))))
        data = json.loads(text) if options.get("json") is True else None
        return Output(data, text, _notes(said))


def check(model, /, **options):
    """Lists everything that prevents compiling a model.

    model: as for taper.export().
    options: those of `taper check`, with underscores: backend="xnnpack", bound={"s77": 128}.

    The result is true if nothing prevents it; its `problems` are those of a CompileError.
    """
    with _Call() as call:
        in_memory, words = sources_of(model)
        words += [f"{method}={call.file(method + '.pt2', data)}" for method, data in in_memory]
        return Check(*call.run("check", words, options, may_fail=True))


def quantize(model, /, samples=None, *, labels=None, **options):
    """Quantises a model; with integers in activations and weights by default.

    model: a torch.export.ExportedProgram, or the path or the bytes of a .pt2.
    samples: a few dozen inputs. A tensor whose first dimension counts them; a dict of such, one for
        each input; a list with an item for each sample, a tensor or a tuple of tensors; or the
        path of a .npz, a .npy or a folder.
    labels: the right class of each row, for accuracy: a tensor of integers, or a path.
    options: those of `taper quantize`, with underscores: target="xnnpack", dynamic=True,
        weights="int4:32", float16=True, keep=["head"], max_drop="0.5%", sensitivity=True,
        model="encoder", of an archive that holds several.

    taper.export() takes the result; it prints as the command does.
    """
    with _Call() as call:
        words = [call.model(model, "model"), "-o", call.path("quantised.pt2")]
        if samples is not None:
            words += ["--calibrate", _samples(call, samples)]
        if labels is not None:
            words += ["--labels", labels if isinstance(labels, (str, os.PathLike))
                      else call.file("labels.npy", npy_of(labels, "labels"))]
        data, text, notes = call.run("quantize", words, options)
        with open(call.path("quantised.pt2"), "rb") as file:
            return Quantized(data, text, notes, file.read())


def _samples(call, samples):
    """The path of samples."""
    if isinstance(samples, (str, os.PathLike)):
        return os.fspath(samples)
    if isinstance(samples, dict):
        return call.file("samples.npz", npz_of(samples, "samples"))
    if is_tensor(samples):
        return call.file("samples.npy", npy_of(samples, "samples"))
    if not isinstance(samples, Iterable):
        raise TypeError("samples: expected a tensor, a dict or a list of tensors, or a path, given "
                        + type(samples).__name__)
    os.makedirs(call.path("samples"))
    for i, sample in enumerate(samples):
        for j, tensor in enumerate(sample if isinstance(sample, (tuple, list)) else (sample,)):
            call.file(f"samples/{i}/{j}.npy", npy_of(tensor, f"sample {i}, input {j}"))
    return call.path("samples")


def profile(program, *args, kwargs=None, method=None, **options):
    """Shows where the time of a program goes: by node, operator, module and source line.

    program: a taper.Program, the path or the bytes of a .pte, or the path of an ETDump.
    args, kwargs: what the method takes; without any, tensors full of ones.
    options: those of `taper profile`, with underscores: runs=50, threads=2, counters=True,
        against="other.pte", etdump="runs.etdp", top=0, by="module,line".
    """
    with _Call() as call:
        path, options = _program(call, program, "program", method, options)
        if options.get("against") is not None:
            options["against"] = call.model(options["against"], "other")
        words = [path] + call.inputs(path, method, args, kwargs, options.get("external_weights"))
        return Profile(*call.run("profile", words, options))


def compare(reference, program, *args, kwargs=None, method=None, expected=None, **options):
    """Finds the node at which a program begins to differ from the exported one.

    reference: the torch.export.ExportedProgram, the path or the bytes of a .pt2 or of another .pte,
        or None with `expected`.
    program: a taper.Program, or the path or the bytes of a .pte.
    args, kwargs: what the method takes; without any, tensors full of ones.
    expected: the right tensors by the names of nodes: a dict, or the path of a .npz.
    options: those of `taper compare`, with underscores: bound=1e-3, exact=True, bisect=True,
        threads=2, top=0, html="page.html".

    The result is true if all tensors agree.
    """
    with _Call() as call:
        path, options = _program(call, program, "program", method, options)
        words = [] if reference is None else [call.model(reference, "reference")]
        words += [path] + call.inputs(path, method, args, kwargs, options.get("external_weights"))
        if expected is not None:
            words += ["--expected", call.file("expected.npz", npz_of(expected, "expected"))
                      if isinstance(expected, dict) else os.fspath(expected)]
        return Comparison(*call.run("compare", words, options, may_fail=True))


def _program(call, program, name, method, options):
    """The path of a program, and the options with what belongs to it."""
    options = {**options, "method": method}
    if isinstance(program, Program) and program.weights:
        options["external_weights"] = call.file(name + ".ptd", program.weights)
    return call.model(program, name), options
