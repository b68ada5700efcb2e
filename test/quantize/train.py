"""Trains two small nets on generated data, and asks PyTorch's PT2E what quantising them costs.

    python test/quantize/train.py      a minute on one core; torch 2.13.0, torchao, executorch 1.5.1

shapes: a depthwise convolutional net with ReLU that tells six noisy shapes of 16 x 16 apart.
tokens: a small transformer that tells which of four groups of tokens is the most frequent.

Writes to data/, for each: NAME.pt2, NAME_calibrate.npy (64 samples), NAME_test.npy and
NAME_labels.npy (256 others). peers.txt has, for these and for the demo's digits, the accuracy of
float, and of PT2E's static int8: accuracy, agreement with float in percent, and signal to noise in
decibels, both calibrated and tested on the same samples as taper's.
"""

import os
import sys

import numpy as np
import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from torch import nn
from torch.nn import functional as F
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


def measure(name, program, calibrate, test, labels):
    """One line of peers.txt."""
    quantizer = XNNPACKQuantizer()
    quantizer.set_global(get_symmetric_quantization_config(is_per_channel=True))
    prepared = prepare_pt2e(program.module(), quantizer)
    run(prepared, calibrate)
    exact, rounded = run(program.module(), test), run(convert_pt2e(prepared), test)
    right = [100 * (y.argmax(1) == labels).double().mean().item() for y in (exact, rounded)]
    same = 100 * (exact.argmax(1) == rounded.argmax(1)).double().mean().item()
    noise = ((exact - rounded).double() ** 2).sum()
    decibels = 10 * torch.log10((exact.double() ** 2).sum() / noise).item()
    return f"{name} {right[0]:.4f} {right[1]:.4f} {same:.4f} {decibels:.4f}"


def main():
    torch.set_num_threads(1)
    lines = ["# model, float accuracy, PT2E's accuracy, agreement, signal to noise"]
    program = torch.export.load(DEMO + ".pt2")
    images = torch.tensor(np.load(DEMO + "_images.npy"))
    labels = torch.tensor(np.load(DEMO + "_labels.npy"))
    lines.append(measure("digits", program, images[:64], images[64:], labels[64:]))
    for name, model, make, steps in [
        ("shapes", Shapes, shapes, 400),
        ("tokens", Tokens, tokens, 800),
    ]:
        torch.manual_seed(0)
        np.random.seed(0)
        model = train(model(), make, steps)
        calibrate, (test, labels) = make(64)[0], make(256)
        program = torch.export.export(model, (calibrate[:1],))
        path = f"{FOLDER}/data/{name}"
        torch.export.save(program, path + ".pt2")
        for suffix, array in [("calibrate", calibrate), ("test", test), ("labels", labels)]:
            np.save(f"{path}_{suffix}.npy", array.numpy())
        lines.append(measure(name, program, calibrate, test, labels))
    with open(FOLDER + "/data/peers.txt", "w") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
