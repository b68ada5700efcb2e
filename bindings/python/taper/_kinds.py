"""Which library the caller's tensors belong to, and how an output becomes one of its tensors.

No library is imported here: one whose tensors come in is imported already.
"""

import sys

from taper import _taper

# PyTorch's numbers, which are those of the file format.
DTYPE_NUMBERS = {"uint8": 0, "int8": 1, "int16": 2, "int32": 3, "int64": 4, "float16": 5,
                 "float32": 6, "float64": 7, "complex32": 8, "complex64": 9, "complex128": 10,
                 "bool": 11, "bfloat16": 15, "uint16": 27, "uint32": 28, "uint64": 29}
_kind_of_type = {}


def kind_of(value):
    """The kind of a value: a maker of outputs, or None if it is no tensor."""
    kind = type(value)
    try:
        return _kind_of_type[kind]
    except KeyError:
        found = _kind_of_type[kind] = _find(kind)
        return found


def _find(kind):
    for base in kind.__mro__:
        root = base.__module__.partition(".")[0]
        if root == "numpy" and base.__name__ in ("ndarray", "generic"):
            return to_numpy
        if root == "torch" and base.__name__ == "Tensor":
            _know_torch()
            return to_torch
    if issubclass(kind, _taper.Tensor):
        return to_itself
    if hasattr(kind, "__dlpack__"):
        return _maker_by_dlpack
    if issubclass(kind, (str, int, float, type(None))):
        return None
    return to_itself


def _know_torch():
    torch = sys.modules["torch"]
    dtypes = {getattr(torch, name): number for name, number in DTYPE_NUMBERS.items()
              if hasattr(torch, name)}
    _taper.know_torch(torch.Tensor, dtypes)


def _maker_by_dlpack(tensor, like):
    """Makes a tensor of the library of `like`, by the array API or its module's from_dlpack."""
    if hasattr(like, "__array_namespace__"):
        return like.__array_namespace__().from_dlpack(tensor)
    module = sys.modules[type(like).__module__.partition(".")[0]]
    return module.from_dlpack(tensor) if hasattr(module, "from_dlpack") else tensor


def to_itself(tensor, like):
    return tensor


def to_numpy(tensor, like):
    try:
        return sys.modules["numpy"].asarray(tensor)
    except (BufferError, TypeError, ValueError):
        return tensor  # NumPy has no bfloat16.


def to_torch(tensor, like):
    return sys.modules["torch"].utils.dlpack.from_dlpack(tensor)


def maker_of(values):
    """How to make outputs, and a tensor of the kind, from the first tensor among the inputs."""
    for value in values:
        maker = kind_of(value)
        if maker is not None:
            return maker, value
    return _default(), None


def _default():
    """Without tensors among the inputs: NumPy's, where it can be imported."""
    try:
        import numpy  # noqa: F401
    except ImportError:
        return to_itself
    return to_numpy
