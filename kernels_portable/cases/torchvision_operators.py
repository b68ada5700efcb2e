"""Loads torchvision's operators in C++ for a PyTorch without CUDA: load() says if they are there.

The library in torchvision's wheel is linked with CUDA's libraries, which such a PyTorch lacks,
although its operators for the CPU need none of them. Libraries without a function in them, made by
the C compiler when they are first needed, take their place; a function that is called returns 0.
"""

import ctypes
import importlib.util
import os
import re
import subprocess
import tempfile

import torch

ABSENT = ("libcudart.so.13", "libc10_cuda.so", "libtorch_cuda.so")


def _undefined(library):
    """Names that `library` expects from others, each with its version or ''."""
    text = subprocess.run(["nm", "-D", "--undefined-only", library], check=True,
                          capture_output=True, text=True).stdout
    return [name.partition("@")[::2] for name in re.findall(r" U (\S+)", text)]


def _make(path, names, version):
    """Compiles a library that defines these functions, with that symbol version if it is not ''."""
    source = "".join(f'long f{i}(void) __asm__("{name}"); long f{i}(void) {{ return 0; }}\n'
                     for i, name in enumerate(names))
    with open(path + ".c", "w") as out:
        out.write(source)
    command = ["cc", "-shared", "-fPIC", "-o", path, path + ".c",
               "-Wl,-soname," + os.path.basename(path)]
    if version:
        with open(path + ".map", "w") as out:
            out.write(version + " { global: *; };\n")
        command.append("-Wl,--version-script=" + path + ".map")
    subprocess.run(command, check=True)


def _load_absent(library):
    """Loads stand-ins for the libraries of CUDA that `library` needs."""
    symbols = _undefined(library)
    cuda = [name for name, version in symbols if version == ABSENT[0]]
    # Names of c10::cuda and at::cuda, mangled.
    others = [name for name, _ in symbols if re.match(r"_ZNK?(3c10|2at)4cuda", name)]
    with tempfile.TemporaryDirectory() as folder:
        for name, defined, version in ((ABSENT[0], cuda, ABSENT[0]), (ABSENT[1], others, ""),
                                       (ABSENT[2], [], "")):
            path = os.path.join(folder, name)
            _make(path, defined, version)
            ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)


def load():
    """Loads the operators; False if torchvision is not installed or not for this PyTorch."""
    found = importlib.util.find_spec("torchvision")
    library = os.path.join(os.path.dirname(found.origin), "_C.so") if found else ""
    if not os.path.exists(library):
        return False
    try:
        if not torch.cuda.is_available():
            _load_absent(library)
        torch.ops.load_library(library)
    except (OSError, subprocess.CalledProcessError):
        return False
    return hasattr(torch.ops.torchvision, "nms")
