"""Writes tensors as NumPy's .npy and .npz files, without NumPy."""

from taper import _kinds

_DESCRIPTIONS = {"uint8": "|u1", "int8": "|i1", "bool": "|b1", "int16": "<i2", "uint16": "<u2",
                 "float16": "<f2", "bfloat16": "<V2", "int32": "<i4", "uint32": "<u4",
                 "float32": "<f4", "int64": "<i8", "uint64": "<u8", "float64": "<f8",
                 "complex64": "<c8", "complex128": "<c16"}
# The kinds of .npy files for the letters of Python's buffers.
_KINDS = {**dict.fromkeys("bhilq", "i"), **dict.fromkeys("BHILQ", "u"),
          **dict.fromkeys("efd", "f"), "?": "b", "Zf": "c", "Zd": "c"}


def npy_of(value, place):
    """The bytes of a .npy. Raises TypeError, which begins with `place`, for what is no tensor."""
    if _kinds.is_torch(value):
        import ctypes
        tensor = value.detach().cpu().resolve_conj().resolve_neg().contiguous()
        description = _DESCRIPTIONS.get(str(tensor.dtype).rpartition(".")[2])
        shape = tuple(tensor.shape)
        data = ctypes.string_at(tensor.data_ptr(), tensor.nbytes) if tensor.numel() else b""
    else:
        view = _view_of(value, place)
        kind = _KINDS.get(view.format.lstrip("=<@"))
        description = kind and f"{'<' if view.itemsize > 1 else '|'}{kind}{view.itemsize}"
        shape, data = view.shape, view.tobytes()
    if description is None:
        raise TypeError(f"{place}: .npy files have no {getattr(value, 'dtype', 'such dtype')}")
    header = repr({"descr": description, "fortran_order": False, "shape": shape})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return (b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data)


def is_tensor(value):
    """Whether it has buffers or DLPack."""
    try:
        memoryview(value)
    except (BufferError, TypeError):
        return hasattr(value, "__dlpack__")
    return True


def _view_of(value, place):
    try:
        return memoryview(value)
    except (BufferError, TypeError):
        pass
    if not hasattr(value, "__dlpack__"):
        raise TypeError(f"{place}: expected a tensor (of NumPy, PyTorch, or anything with buffers "
                        f"or DLPack), given {type(value).__name__}")
    import numpy
    return memoryview(numpy.from_dlpack(value))


def npz_of(tensors, place):
    """The bytes of a .npz: a dict from names to tensors."""
    import io
    import zipfile
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, value in tensors.items():
            archive.writestr(f"{name}.npy", npy_of(value, f"{place}[{name!r}]"))
    return buffer.getvalue()
