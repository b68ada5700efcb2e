"""Compiles PyTorch models ahead of time, and runs them without PyTorch.

Run a program (a .pte, of Taper or ExecuTorch)::

    import taper
    model = taper.load("model.pte")
    y = model.forward(x)            # x: NumPy, PyTorch, or anything with DLPack or buffers
    model.inputs                    # names, dtypes, shapes
    model["encode"](ids, mask)      # any other method

Compile what ``torch.export`` gives::

    program = taper.export(torch.export.export(net, (x,)), backend="xnnpack")
    print(program.report)
    program.save("model.pte")

Make it small, and see what became of it::

    small = taper.quantize(exported, samples)
    taper.compare(exported, taper.export(small), x)
    taper.profile(program, x)

Let PyTorch use it::

    fast = torch.compile(net, backend="taper")

Nothing else is needed; NumPy and PyTorch are used if they are there. ``taper --help`` is the
command line. Errors are ``taper.Error``, with Taper's own text.
"""

from taper._compile import CompileError, Program, export
from taper._model import Method, Model, TensorInfo, load
from taper._reports import Check, Comparison, Output, Profile, Quantized
from taper._taper import ClosedError, Error, Tensor, backends
from taper._taper import version as __version__
from taper._tools import check, command, compare, profile, quantize

__all__ = ["Check", "ClosedError", "Comparison", "CompileError", "Error", "Method", "Model",
           "Output", "Profile", "Program", "Quantized", "Tensor", "TensorInfo", "__version__",
           "backends", "check", "command", "compare", "export", "load", "profile", "quantize"]
