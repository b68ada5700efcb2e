"""Prints the table of docs/quantisation.md: PyTorch runs what taper quantize writes.

    python test/quantize/figures.py build/release/bin/taper

Test samples were not used for calibration. PT2E's row comes from data/peers.txt (train.py).
"""

import os
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  declares quantized_decomposed

FOLDER = os.path.dirname(os.path.abspath(__file__))
DEMO = FOLDER + "/../../demo/digits"
SCHEMES = [
    ("static int8", ["-c"]),
    ("static int8, at most 0 % drop", ["--max-drop", "0", "-c"]),
    ("dynamic int8", ["--dynamic", "-c"]),
    ("int8 weights", ["--weights", "int8", "-c"]),
    ("int4:32 weights", ["--weights", "int4:32", "-c"]),
    ("int4:32 weights, plain rounding", ["--weights", "int4:32"]),
]


def samples_of(name, folder):
    """The program's path, and those of samples for calibration; samples and labels to test."""
    if name != "digits":
        stem = f"{FOLDER}/data/{name}"
        test, labels = np.load(stem + "_test.npy"), np.load(stem + "_labels.npy")
        return stem + ".pt2", stem + "_calibrate.npy", test, labels
    images = np.load(DEMO + "_images.npy")
    np.save(folder + "/digits.npy", images[:64])
    return DEMO + ".pt2", folder + "/digits.npy", images[64:], np.load(DEMO + "_labels.npy")[64:]


def run(path, inputs):
    model = torch.export.load(path).module()
    with torch.no_grad():
        return torch.cat([model(torch.tensor(x[None])) for x in inputs])


def row(cells):
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def main():
    torch.set_num_threads(1)
    row(["net", "scheme", "accuracy", "agreement", "SNR", ".pt2"])
    row(["---"] * 6)
    with open(FOLDER + "/data/peers.txt") as lines, tempfile.TemporaryDirectory() as folder:
        for line in lines:
            if line.startswith("#"):
                continue
            name, *peer = line.split()
            right, peer_right, same, decibels = (float(word) for word in peer)
            path, calibrate, test, labels = samples_of(name, folder)
            exact = run(path, test)
            size = os.path.getsize(path) / 1e3
            row([name, "float", f"{right:.2f} %", "", "", f"{size:.0f} KB"])
            pt2e = [f"{peer_right:.2f} %", f"{same:.2f} %", f"{decibels:.1f} dB", ""]
            row([name, "PT2E static int8"] + pt2e)
            for scheme, options in SCHEMES:
                out = folder + "/q.pt2"
                command = [sys.argv[1], "quantize", path, "-o", out, *options]
                command += [calibrate] if options[-1] == "-c" else []
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
                now = run(out, test)
                noise = ((exact - now).double() ** 2).sum()
                snr = 10 * torch.log10((exact.double() ** 2).sum() / noise).item()
                right = 100 * (now.argmax(1).numpy() == labels).mean()
                same = 100 * (now.argmax(1) == exact.argmax(1)).double().mean().item()
                size = os.path.getsize(out) / 1e3
                cells = [f"{right:.2f} %", f"{same:.2f} %", f"{snr:.1f} dB", f"{size:.0f} KB"]
                row([name, scheme] + cells)


if __name__ == "__main__":
    sys.exit(main())
