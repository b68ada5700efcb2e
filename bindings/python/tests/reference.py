"""The committed models, and what PyTorch computed for them: read without NumPy."""

import ast
import importlib.util
import os
import unittest

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", ".."))
DATA = os.path.join(ROOT, "test", "models", "data")
_FORMATS = {"f4": "f", "f8": "d", "f2": "e", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u1": "B",
            "b1": "?"}


def needs(package):
    """Leaves a test class out where a package is missing; TAPER_TESTS_NEED makes that an error."""
    found = importlib.util.find_spec(package) is not None
    if not found and package in os.environ.get("TAPER_TESTS_NEED", ""):
        raise ImportError(f"{package} is missing")
    return unittest.skipUnless(found, f"{package} is missing")


def path(name):
    return os.path.join(DATA, name)


def read_npy(name):
    """A .npy as a memoryview of its shape."""
    with open(path(name), "rb") as file:
        data = file.read()
    size = 2 if data[6] == 1 else 4
    start = 8 + size + int.from_bytes(data[8:8 + size], "little")
    header = ast.literal_eval(data[8 + size:start].decode())
    view = memoryview(bytearray(data[start:]))
    letter = _FORMATS[header["descr"][1:]]
    return view.cast(letter, header["shape"]) if header["shape"] else view.cast(letter)


def flat(tensor):
    """The elements of anything with buffers, in order."""
    view = memoryview(tensor)
    if view.ndim == 0:
        return [view[()]]
    return list(view.cast("B").cast(view.format)) if view.nbytes else []


def largest_difference(a, b):
    a, b = flat(a), flat(b)
    assert len(a) == len(b), (len(a), len(b))
    return max((abs(x - y) for x, y in zip(a, b)), default=0)
