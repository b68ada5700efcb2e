"""Trains small nets, and asks PyTorch's PT2E what quantising them costs.

    python test/quantize/train.py          two minutes on one core; torch 2.13.0, torchao,
    python test/quantize/train.py table    executorch 1.5.1, scikit-learn

shapes: a depthwise convolutional net with ReLU that tells six noisy shapes of 16 x 16 apart.
tokens: a small transformer that tells which of four groups of tokens is the most frequent.
sounds: convolutions over 320 samples of sound and a GRU, which tell six noisy sounds apart.
table: a multilayer perceptron that diagnoses the tumours of scikit-learn's table of breast cancer
from 30 measurements, which it normalises.

Writes to data/, for each: NAME.pt2, NAME_calibrate.npy (64 samples), NAME_test.npy and
NAME_labels.npy (256 others), or only for those named. NAME_float16.npy has what the net gives for
the test if its weights of more than 1 KB are rounded to float16. peers.txt has, for these and for
the demo's digits, the accuracy of float, and of PT2E's int8, static and dynamic: accuracy,
agreement with float in percent, and signal to noise in decibels, both calibrated and tested on the
same samples as taper's.
"""

import os
import sys

import numpy as np
import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from sklearn.datasets import load_breast_cancer
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

FOLDER = os.path.dirname(os.path.abspath(__file__))
DEMO = FOLDER + "/../../demo/digits"


def shapes(count):
    """Six shapes at random places, with noise and changing contrast."""
    images = np.random.normal(0, 0.35, (count, 1, 16, 16))
    labels = np.random.randint(0, 6, count)
    y, x = np.mgrid[0:16, 0:16]
    for image, label in zip(images, labels):
        cy, cx = np.random.uniform(5, 10, 2)
        r = np.random.uniform(3, 5)
        far = np.hypot(y - cy, x - cx)
        drawn = [
            far < r,
            np.abs(far - r) < 1,
            (np.abs(y - cy) < r) & (np.abs(x - cx) < r),
            (np.abs(y - cy) < 1) | (np.abs(x - cx) < 1),
            (y + x).astype(int) % 6 < 3,
            (y - x).astype(int) % 6 < 3,
        ][label]
        image[0] += drawn * np.random.uniform(0.6, 1.6)
    return torch.tensor(images, dtype=torch.float32), torch.tensor(labels)


class Shapes(nn.Module):
    def __init__(self):
        super().__init__()
        parts = [nn.Conv2d(1, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
        for inputs, outputs in [(16, 24), (24, 32), (32, 48)]:
            parts += [nn.Conv2d(inputs, inputs, 3, 2, 1, groups=inputs, bias=False)]
            parts += [nn.BatchNorm2d(inputs), nn.ReLU()]
            parts += [nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()]
        self.parts = nn.Sequential(*parts)
        self.head = nn.Linear(48, 6)

    def forward(self, x):
        return self.head(self.parts(x).mean((2, 3)))


def tokens(count):
    """Sequences of 24 of 32 tokens, of which group k has the tokens from 8 k on."""
    groups = np.random.randint(0, 4, (count, 24))
    favoured = np.random.randint(0, 4, (count, 1))
    groups = np.where(np.random.rand(count, 24) < 0.15, favoured, groups)
    counts = np.stack([(groups == k).sum(1) for k in range(4)], 1)
    values = groups * 8 + np.random.randint(0, 8, groups.shape)
    return torch.tensor(values), torch.tensor(counts.argmax(1))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, n, w = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, n, 3, 2, w // 2).permute(2, 0, 3, 1, 4).unbind(0)
        y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, n, w)
        x = x + self.out(y)
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class Tokens(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(32, 32)
        self.blocks = nn.Sequential(Block(32), Block(32))
        self.norm, self.head = nn.LayerNorm(32), nn.Linear(32, 4)

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.table(x))).mean(1))


def sounds(count):
    """Six kinds of sound, 40 ms at 8 kHz, at random pitches and places, with noise."""
    t = np.arange(320) / 8000
    waves, labels = [], np.random.randint(0, 6, count)
    for label in labels:
        pitch, sweep = np.random.uniform(300, 1200), np.random.uniform(15e3, 30e3)
        envelope = np.exp(-(((t - np.random.uniform(0.01, 0.03)) / 0.012) ** 2))
        wave = [
            np.sin(2 * np.pi * (pitch * t + sweep * t * t)),
            np.sin(2 * np.pi * ((pitch + 0.08 * sweep) * t - sweep * t * t)),
            np.sin(2 * np.pi * pitch * t),
            sum(np.sin(2 * np.pi * k * pitch * t) for k in (1, 2, 3)) / 2,
            np.sin(2 * np.pi * pitch * t) * (np.sin(2 * np.pi * 120 * t) > 0),
            np.random.normal(0, 0.7, 320),
        ][label]
        noise = np.random.normal(0, 0.12, 320)
        waves.append(np.random.uniform(0.4, 1.2) * envelope * wave + noise)
    return torch.tensor(np.array(waves)[:, None], dtype=torch.float32), torch.tensor(labels)


class Sounds(nn.Module):
    def __init__(self):
        super().__init__()
        parts, inputs = [], 1
        for outputs, window, stride in [(16, 16, 4), (24, 5, 2), (32, 3, 2)]:
            parts += [nn.Conv1d(inputs, outputs, window, stride), nn.BatchNorm1d(outputs), nn.ReLU()]
            inputs = outputs
        self.parts = nn.Sequential(*parts)
        self.memory, self.head = nn.GRU(32, 48, batch_first=True), nn.Linear(48, 6)

    def forward(self, x):
        steps, _ = self.memory(self.parts(x).transpose(1, 2))
        return self.head(steps.mean(1))


def table_rows():
    """Rows and labels of scikit-learn's table in random order; the first 256 are for the test."""
    rows, labels = load_breast_cancer(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(rows))
    return torch.tensor(rows[order], dtype=torch.float32), torch.tensor(labels[order])


def table(count):
    rows, labels = table_rows()
    chosen = np.random.randint(256, len(rows), count)
    return rows[chosen], labels[chosen]


def table_test(count):
    rows, labels = table_rows()
    return rows[:count], labels[:count]


class Table(nn.Module):
    def __init__(self):
        super().__init__()
        known = table_rows()[0][256:]
        self.register_buffer("mean", known.mean(0))
        self.register_buffer("spread", known.std(0))
        self.parts = nn.Sequential(
            *[nn.Linear(30, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.3)],
            *[nn.Linear(64, 32), nn.ReLU(), nn.Dropout(0.3), nn.Linear(32, 2)],
        )

    def forward(self, x):
        return self.parts((x - self.mean) / self.spread)


# The name of a net, its class, what makes samples to train and to test it, and for how many steps.
NETS = [
    ("shapes", Shapes, shapes, shapes, 400),
    ("tokens", Tokens, tokens, tokens, 800),
    ("sounds", Sounds, sounds, sounds, 400),
    ("table", Table, table, table_test, 300),
]


def train(model, make, steps):
    optimiser = torch.optim.AdamW(model.parameters(), 3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for _ in range(steps):
        inputs, labels = make(128)
        optimiser.zero_grad()
        F.cross_entropy(model.train()(inputs), labels).backward()
        optimiser.step()
        schedule.step()
    return model.eval()


def run(model, inputs):
    with torch.no_grad():
        return torch.cat([model(x[None]) for x in inputs])


def pt2e(program, calibrate, dynamic):
    """The program as PT2E quantises it with XNNPACK's quantizer."""
    quantizer = XNNPACKQuantizer()
    quantizer.set_global(get_symmetric_quantization_config(True, is_dynamic=dynamic))
    prepared = prepare_pt2e(program.module(), quantizer)
    run(prepared, calibrate)
    return convert_pt2e(prepared)


def compare(exact, rounded, labels):
    """Accuracy of both in percent, agreement in percent, signal to noise in decibels."""
    right = [100 * (y.argmax(1) == labels).double().mean().item() for y in (exact, rounded)]
    same = 100 * (exact.argmax(1) == rounded.argmax(1)).double().mean().item()
    noise = ((exact - rounded).double() ** 2).sum()
    return (*right, same, 10 * torch.log10((exact.double() ** 2).sum() / noise).item())


def measure(name, program, calibrate, test, labels):
    """The net's lines of peers.txt."""
    exact = run(program.module(), test)
    lines = []
    for suffix, dynamic in [("", False), (":dynamic", True)]:
        found = compare(exact, run(pt2e(program, calibrate, dynamic), test), labels)
        lines.append(name + suffix + "".join(f" {number:.4f}" for number in found))
    return lines


def samples_of(name):
    """The path of a net's program, samples to calibrate, samples to test and their labels."""
    if name != "digits":
        stem = f"{FOLDER}/data/{name}"
        arrays = [np.load(f"{stem}_{part}.npy") for part in ("calibrate", "test", "labels")]
        return (stem + ".pt2", *map(torch.tensor, arrays))
    images = torch.tensor(np.load(DEMO + "_images.npy"))
    labels = torch.tensor(np.load(DEMO + "_labels.npy"))
    return DEMO + ".pt2", images[:64], images[64:], labels[64:]


def round_to_float16(model):
    """Batch norms become part of the layers before them first, as they do in taper."""
    for parts in [m for m in model.modules() if isinstance(m, nn.Sequential)]:
        for i in range(len(parts) - 1):
            if isinstance(parts[i + 1], (nn.BatchNorm1d, nn.BatchNorm2d)):
                if isinstance(parts[i], (nn.Conv1d, nn.Conv2d)):
                    parts[i] = fuse_conv_bn_eval(parts[i], parts[i + 1])
                    parts[i + 1] = nn.Identity()
                elif isinstance(parts[i], nn.Linear):
                    parts[i] = fuse_linear_bn_eval(parts[i], parts[i + 1])
                    parts[i + 1] = nn.Identity()
    for weight in model.parameters():
        if weight.dim() >= 2:
            weight.data = weight.data.half().float()
    return model


def write(name, model, make, make_test, steps):
    torch.manual_seed(0)
    np.random.seed(0)
    model = train(model(), make, steps)
    calibrate, (test, labels) = make(64)[0], make_test(256)
    program = torch.export.export(model, (calibrate[:1],))
    for node in program.graph.nodes:
        node.meta.pop("stack_trace", None)  # It names the folders of this machine.
    path = f"{FOLDER}/data/{name}"
    torch.export.save(program, path + ".pt2")
    for suffix, array in [("calibrate", calibrate), ("test", test), ("labels", labels)]:
        np.save(f"{path}_{suffix}.npy", array.numpy())
    np.save(path + "_float16.npy", run(round_to_float16(model), test).numpy())


def main():
    torch.set_num_threads(1)
    names = sys.argv[1:] or [net[0] for net in NETS]
    for net in NETS:
        if net[0] in names:
            write(*net)
    lines = ["# net, float accuracy, PT2E's accuracy, agreement, signal to noise"]
    for name in ["digits", *(net[0] for net in NETS)]:
        path, *samples = samples_of(name)
        lines += measure(name, torch.export.load(path), *samples)
    with open(FOLDER + "/data/peers.txt", "w") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
