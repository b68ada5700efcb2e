"""The interface of `executorch.runtime`: one line of a program changes.

    from taper.executorch import Runtime      # from executorch.runtime import Runtime

    program = Runtime.get().load_program("model.pte")
    outputs = program.load_method("forward").execute([x])

Inputs and outputs are flat lists, outputs are PyTorch's tensors, and errors are RuntimeErrors, as
there. Backends are named by their delegate ids, as in files. What ExecuTorch's interface has beyond
this (ETDump while running) is refused with what to use instead.
"""

import enum
import functools
import io
import os

from taper import _kinds, _taper
from taper._model import load

__all__ = ["BackendRegistry", "Method", "MethodMeta", "OperatorRegistry", "Program", "Runtime",
           "TensorInfo", "Verification"]

_NUMBERS = _kinds.DTYPE_NUMBERS
_SIZES = {"uint8": 1, "int8": 1, "bool": 1, "int16": 2, "uint16": 2, "float16": 2, "bfloat16": 2,
          "int32": 4, "uint32": 4, "float32": 4, "complex32": 4, "int64": 8, "uint64": 8,
          "float64": 8, "complex64": 8, "complex128": 16}


class Verification(enum.Enum):
    """Taper verifies the whole program in either case."""

    Minimal = 0
    InternalConsistency = 1


class TensorInfo:
    """A tensor as the program declares it; sizes are upper bounds."""

    def __init__(self, info):
        self._info = info

    def sizes(self):
        return tuple(self._info.max_shape)

    def dtype(self):
        """The number of the dtype, which is PyTorch's."""
        return _NUMBERS[self._info.dtype]

    def is_memory_planned(self):
        return self._info.is_planned

    def nbytes(self):
        count = _SIZES[self._info.dtype]
        for size in self._info.max_shape:
            count *= size
        return count

    def __repr__(self):
        return (f"TensorInfo(sizes={list(self.sizes())}, dtype={self._info.dtype}, "
                f"is_memory_planned={self.is_memory_planned()}, nbytes={self.nbytes()})")


class MethodMeta:
    """What is known of a method before it runs."""

    def __init__(self, method):
        self._method = method

    def name(self):
        return self._method.name

    def num_inputs(self):
        return len(self._method.inputs)

    def num_outputs(self):
        return len(self._method.outputs)

    def input_tensor_meta(self, index):
        return self._tensor(self._method.inputs, index)

    def output_tensor_meta(self, index):
        return self._tensor(self._method.outputs, index)

    def num_attributes(self):
        return len(self._method.buffers)

    def attribute_tensor_meta(self, index):
        return self._tensor(self._method.buffers, index)

    @staticmethod
    def _tensor(infos, index):
        if not 0 <= index < len(infos):
            raise IndexError(f"there are {len(infos)}, no number {index}")
        if infos[index].dtype is None:
            raise RuntimeError(f"number {index} is not a tensor")
        return TensorInfo(infos[index])

    def __repr__(self):
        return (f"MethodMeta(name={self.name()!r}, num_inputs={self.num_inputs()}, "
                f"num_outputs={self.num_outputs()})")


class Method:
    """A method of a program; execute() runs it."""

    def __init__(self, method):
        self._method = method

    def execute(self, inputs):
        """Runs the method on a flat sequence of inputs; returns the list of its outputs."""
        import torch  # noqa: F401
        native = self._method._model._open()
        return native.run(self._method.name, tuple(inputs), _kinds.know_torch())

    @property
    def metadata(self):
        return MethodMeta(self._method)


class Program:
    """A loaded program."""

    def __init__(self, model):
        self._model = model
        self._methods = {}

    @property
    def method_names(self):
        return set(self._model.methods)

    def load_method(self, name):
        if name not in self._methods:
            self._methods[name] = Method(self._model[name])
        return self._methods[name]

    def metadata(self, method_name):
        return MethodMeta(self._model[method_name])

    def write_etdump_result_to_file(self, etdump_path, debug_buffer_path):
        raise NotImplementedError("use 'taper profile model.pte --etdump FILE'")


class BackendRegistry:
    """The backends of this package."""

    @property
    def registered_backend_names(self):
        return _taper.delegates()

    def is_available(self, backend_name):
        return backend_name in _taper.delegates()


class OperatorRegistry:
    """The kernels of this package."""

    @property
    def operator_names(self):
        return set(_taper.operators())


class Runtime:
    """Loads programs. There is one: Runtime.get()."""

    def __init__(self):
        self.backend_registry = BackendRegistry()
        self.operator_registry = OperatorRegistry()

    @staticmethod
    @functools.lru_cache(maxsize=1)
    def get():
        return Runtime()

    def load_program(self, data, *, verification=Verification.InternalConsistency,
                     enable_etdump=False, debug_buffer_size=0, data_path=None):
        """Opens a program: a path, its bytes, or a file that is open for reading."""
        if enable_etdump or debug_buffer_size:
            raise NotImplementedError("use 'taper profile model.pte --etdump FILE'")
        if isinstance(data, io.IOBase) or hasattr(data, "read"):
            data = data.read()
        if not isinstance(data, (str, os.PathLike, bytes, bytearray)):
            raise TypeError("expected bytes, a path to a .pte, or an open file, given "
                            + type(data).__name__)
        return Program(load(data, data_path=data_path, share_state=True))
