"""Which library the caller's tensors belong to, and how an output becomes one of its tensors.

No library is imported here: one whose tensors come in is imported already.
"""

import functools
import sys

from taper import _taper

# PyTorch's numbers, which are those of the file format.
DTYPE_NUMBERS = {"uint8": 0, "int8": 1, "int16": 2, "int32": 3, "int64": 4, "float16": 5,
                 "float32": 6, "float64": 7, "complex32": 8, "complex64": 9, "complex128": 10,
                 "bool": 11, "bfloat16": 15, "uint16": 27, "uint32": 28, "uint64": 29}
_maker_of_type = {}


def maker_of(values):
    """What makes outputs of the kind of the first tensor among the inputs: a function of a
    taper.Tensor, or None if that is to be returned."""
    for value in values:
        kind = type(value)
        try:
            make = _maker_of_type[kind]
        except KeyError:
            make = _maker_of_type[kind] = _find(kind)
        if make is _maker_by_dlpack:
            return make(value)
        if make is not _no_tensor:
            return make
    return default_maker()


def is_torch(value):
    """Whether it is a tensor of PyTorch's."""
    return any(base.__module__.partition(".")[0] == "torch" and base.__name__ == "Tensor"
               for base in type(value).__mro__)


def _find(kind):
    for base in kind.__mro__:
        root = base.__module__.partition(".")[0]
        if root == "numpy" and base.__name__ in ("ndarray", "generic"):
            return _to_numpy
        if root == "torch" and base.__name__ == "Tensor":
            return know_torch()
    if issubclass(kind, _taper.Tensor):
        return None
    if hasattr(kind, "__dlpack__"):
        return _maker_by_dlpack
    return _no_tensor if issubclass(kind, (str, int, float, type(None))) else None


@functools.cache
def know_torch():
    """Tells the compiled half of PyTorch; returns what makes its tensors of taper.Tensor."""
    torch = sys.modules["torch"]
    dtypes = {getattr(torch, name): number for name, number in DTYPE_NUMBERS.items()
              if hasattr(torch, name)}
    is_fast = _taper.know_torch(torch.Tensor, torch.nn.Parameter, dtypes)
    return _taper.to_torch if is_fast else torch.utils.dlpack.from_dlpack


def _maker_by_dlpack(like):
    """What makes tensors of the library of `like`: by the array API, or its module's function."""
    if hasattr(like, "__array_namespace__"):
        return like.__array_namespace__().from_dlpack
    return getattr(sys.modules[type(like).__module__.partition(".")[0]], "from_dlpack", None)


def _to_numpy(tensor):
    try:
        return sys.modules["numpy"].asarray(tensor)
    except (BufferError, TypeError, ValueError):
        return tensor  # NumPy has no bfloat16.


def _no_tensor(value):
    """Stands for values that are no tensors: the next input decides."""


def default_maker():
    """Without tensors among the inputs: NumPy's, where it can be imported."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        return None
    return _to_numpy
