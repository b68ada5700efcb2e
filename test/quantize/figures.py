"""Writes the table of docs/quantisation.md: what each scheme does to each trained net.

    python test/quantize/figures.py build/release/bin/taper

PyTorch runs the float program, PT2E's and taper's, on samples that calibration did not see. The
.pte is what `taper export` makes of each for the first backend, and its time that of `taper bench`
on one thread: the least of three medians. A row of a peer says who quantised the program.
"""

import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  declares quantized_decomposed
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench/figures"))
import provenance  # noqa: E402
from train import NETS, compare, pt2e, run, samples_of

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/quantisation.md")
TITLES = ["net", "scheme", "accuracy", "agreement", "SNR", ".pt2", ".pte", "run"]
CALIBRATE = "-c"  # Followed by the samples.
SCHEMES = [
    ("static int8", [CALIBRATE]),
    ("static int8, at most 0.5 % drop", ["--max-drop", "0.5%", CALIBRATE]),
    ("dynamic int8", ["--dynamic", CALIBRATE]),
    ("int8 weights", ["--weights", "int8", CALIBRATE]),
    ("int4:32 weights", ["--weights", "int4:32", CALIBRATE]),
    ("int4:32 weights, plain rounding", ["--weights", "int4:32"]),
    ("float16 weights", ["--float16"]),
]


class Net:
    def __init__(self, name, taper, folder):
        self.name, self.taper, self.folder = name, taper, folder
        self.path, self.calibrate, self.test, self.labels = samples_of(name)
        self.program = torch.export.load(self.path)
        self.exact = run(self.program.module(), self.test)

    def row(self, scheme, path):
        """What the program in a .pt2 does."""
        found = run(torch.export.load(path).module(), self.test)
        _, right, same, decibels = compare(self.exact, found, self.labels)
        signal = f"{decibels:.1f} dB" if scheme != "float" else ""
        agreement = f"{same:.2f} %" if scheme != "float" else ""
        size, seconds = self.exported(path)
        return [self.name, scheme, f"{right:.2f} %", agreement, signal, kilobytes(path), size, seconds]

    def exported(self, path):
        out = self.folder + "/q.pte"
        backend = ["--backend", "xnnpack"]
        subprocess.run(
            [self.taper, "export", path, "-o", out, *backend], check=True, stdout=subprocess.DEVNULL
        )
        medians = []
        for _ in range(3):
            said = subprocess.run(
                [self.taper, "bench", out, "--threads", "1"], check=True, capture_output=True
            ).stdout.decode()
            number, unit = re.search(r"median ([0-9.]+) (\w+)", said).groups()
            medians.append(float(number) * {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}[unit])
        return kilobytes(out), f"{min(medians):.1f} us"

    def quantised(self, options):
        out = self.folder + "/q.pt2"
        command = [self.taper, "quantize", self.path, "-o", out, *options]
        if options[-1] == CALIBRATE:
            command.append(self.folder + "/samples.npy")
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return out

    def rows(self):
        yield self.row("float", self.path)
        for scheme, dynamic in [("PT2E static int8", False), ("PT2E dynamic int8", True)]:
            out = self.folder + "/pt2e.pt2"
            peer = pt2e(self.program, self.calibrate, dynamic)
            torch.export.save(torch.export.export(peer, (self.calibrate[:1],)), out)
            yield self.row(scheme, out)
        np.save(self.folder + "/samples.npy", self.calibrate.numpy())
        for scheme, options in SCHEMES:
            yield self.row(scheme, self.quantised(options))


def kilobytes(path):
    return f"{os.path.getsize(path) / 1e3:.0f} KB"


def line(cells):
    return "| " + " | ".join(cells) + " |\n"


def main():
    torch.set_num_threads(1)
    table = line(TITLES) + line(["---"] * len(TITLES))
    with tempfile.TemporaryDirectory() as folder:
        for name in ["digits", *(net[0] for net in NETS)]:
            for cells in Net(name, sys.argv[1], folder).rows():
                table += line(cells)
                print(line(cells), end="", flush=True)
    with open(DOCS) as file:
        text = file.read()
    # The lines that begin with the title and follow it without a gap, and what is said below them.
    start = text.index("| net |")
    end = start + re.match(r"(\|[^\n]*\n)+(\nCommit [^\n]*\n)?", text[start:]).end()
    table += f"\n{provenance.line()}\n"
    with open(DOCS, "w") as file:
        file.write(text[:start] + table + text[end:])


if __name__ == "__main__":
    sys.exit(main())
