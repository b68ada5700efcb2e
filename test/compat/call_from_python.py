"""Calls libtaper.so through ctypes: the demo's digit model on its images, compared with PyTorch.

    call_from_python.py TAPER LIBTAPER.so
"""

import ctypes
import pathlib
import subprocess
import sys
import tempfile

import numpy

DEMO = pathlib.Path(__file__).resolve().parents[2] / "demo"
FLOAT32, TENSOR = 6, 1


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("message", ctypes.c_char * 508),
                ("site", ctypes.c_char * 128)]


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("kernels", ctypes.c_void_p),
                ("backends", ctypes.c_void_p), ("backend_count", ctypes.c_size_t),
                ("data_path", ctypes.c_char_p),
                ("max_memory_bytes", ctypes.c_uint64), ("max_instructions", ctypes.c_uint64)]


class Value(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("sizes", ctypes.c_int32 * 16), ("data", ctypes.c_void_p),
                ("bytes", ctypes.c_size_t), ("integer", ctypes.c_int64),
                ("number", ctypes.c_double)]


class Model:
    def __init__(self, library, path):
        self.library, self.error = ctypes.CDLL(library), Error()
        self.library.taper_portable_kernels.restype = ctypes.c_void_p
        options = Options(ctypes.sizeof(Options), self.library.taper_portable_kernels())
        self.handle = ctypes.c_uint64()
        self.call("taper_open_path", path.encode(), ctypes.byref(options),
                  ctypes.byref(self.handle))

    def call(self, name, *arguments):
        if getattr(self.library, name)(*arguments, ctypes.byref(self.error)) != 0:
            raise RuntimeError(f"{self.error.site.decode()}: {self.error.message.decode()}")

    def forward(self, array):
        array = numpy.ascontiguousarray(array, numpy.float32)
        given = Value(TENSOR, FLOAT32, array.ndim, data=array.ctypes.data, bytes=array.nbytes)
        given.sizes[:array.ndim] = array.shape
        self.call("taper_set_input", self.handle, b"forward", ctypes.c_size_t(0),
                  ctypes.byref(given))
        self.call("taper_run", self.handle, b"forward")
        got = Value()
        self.call("taper_get_output", self.handle, b"forward", ctypes.c_size_t(0),
                  ctypes.byref(got))
        raw = ctypes.string_at(got.data, got.bytes)
        return numpy.frombuffer(raw, numpy.float32).reshape(got.sizes[:got.rank])


def main():
    taper, library = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/digits.pte"
        subprocess.run([taper, "export", DEMO / "digits.pt2", "-o", path], check=True,
                       stdout=subprocess.DEVNULL)
        model = Model(library, path)
        images, logits = numpy.load(DEMO / "digits_images.npy"), numpy.load(DEMO / "digits_logits.npy")
        images = images.reshape(-1, 1, 1, 8, 8)
        for image, wanted in zip(images, logits):
            numpy.testing.assert_allclose(model.forward(image)[0], wanted, rtol=1e-4, atol=1e-4)
        try:
            model.forward(numpy.zeros((1, 1, 9, 9)))
        except RuntimeError as error:
            assert "expected float32 (1, 1, 8, 8), given float32 (1, 1, 9, 9)" in str(error), error
        else:
            raise AssertionError("a wrong shape was accepted")
        print(f"called from Python: {len(images)} images match")


main()
