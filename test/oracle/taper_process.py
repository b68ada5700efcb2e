"""A running `taper batch -` process, which returns the exit code and output of each command."""

import os
import select
import subprocess
import time

import numpy
import torch

LIMIT_SECONDS = 60


class Died(Exception):
    """The process died or hung, which is a defect for any input."""


class Taper:
    def __init__(self, program):
        self.program = program
        self.process = None

    def start(self):
        self.process = subprocess.Popen([self.program, "batch", "-"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.text = b""

    def run(self, *words):
        """Returns (exit code, text)."""
        if self.process is None:
            self.start()
        line = " ".join(f'"{word}"' if " " in word else word for word in words)
        try:
            self.process.stdin.write(line.encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            self.stop("it had died")
        return self.answer()

    def answer(self):
        end = time.time() + LIMIT_SECONDS
        while True:
            at = self.text.rfind(b"\nline ") if not self.text.startswith(b"line ") else 0
            if at >= 0 and b": exit " in self.text[at:] and self.text.endswith(b"\n"):
                text, code = self.text[:at], int(self.text[at:].split()[-1])
                self.text = b""
                return code, text.decode(errors="replace")
            if not select.select([self.process.stdout], [], [], max(0, end - time.time()))[0]:
                self.stop(f"no answer in {LIMIT_SECONDS} s")
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                self.stop(f"it died: {self.text.decode(errors='replace')[-300:]}")
            self.text += data

    def stop(self, reason):
        self.process.kill()
        code = self.process.wait()
        self.process = None
        raise Died(f"{reason} (exit {code})")

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process = None


def save(path, tensor):
    if tensor.dtype == torch.bfloat16:
        array = tensor.contiguous().view(torch.int16).numpy().view("V2")
    else:
        array = tensor.contiguous().numpy()
    numpy.save(path, array)


def load(path):
    array = numpy.load(path)
    if array.dtype.kind == "V":
        return torch.from_numpy(array.view("int16").copy()).view(torch.bfloat16)
    return torch.from_numpy(array)
