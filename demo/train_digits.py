"""Trains the demo's classifier: a small MobileNet on scikit-learn's 8x8 digits.

    python demo/train_digits.py     takes less than a minute on one core; torch 2.13.0, scikit-learn

Writes digits.pt2 (for a batch of one). For the 360 test images, which are not used for training, it
writes digits_images.npy (360x1x8x8 float32, 0 to 1), digits_labels.npy (int64) and
digits_logits.npy (360x10, computed by PyTorch image by image).
"""

import os
import sys

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

FOLDER = os.path.dirname(os.path.abspath(__file__))
TESTED = 360
EPOCHS = 60


def conv_bn(inputs, outputs, kernel=1, stride=1, groups=1):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU6(inplace=True),
    )


class InvertedResidual(nn.Module):
    def __init__(self, inputs, outputs, stride, expansion):
        super().__init__()
        hidden = inputs * expansion
        self.parts = nn.Sequential(
            conv_bn(inputs, hidden),
            conv_bn(hidden, hidden, 3, stride, groups=hidden),
            nn.Conv2d(hidden, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.residual = stride == 1 and inputs == outputs

    def forward(self, x):
        return x + self.parts(x) if self.residual else self.parts(x)


class DigitNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            conv_bn(1, 16, 3),
            InvertedResidual(16, 16, 1, 2),
            InvertedResidual(16, 24, 2, 4),
            InvertedResidual(24, 24, 1, 4),
            InvertedResidual(24, 40, 2, 4),
            InvertedResidual(40, 40, 1, 4),
            conv_bn(40, 128),
        )
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(128, 10))

    def forward(self, x):
        x = F.adaptive_avg_pool2d(self.features(x), 1)
        return self.classifier(torch.flatten(x, 1))


def split_digits():
    """Shuffles the digits with a fixed seed; the last TESTED images are for testing only."""
    digits = load_digits()
    order = np.random.RandomState(0).permutation(len(digits.images))
    images = (digits.images[order] / 16.0).astype(np.float32)[:, None]
    labels = digits.target[order].astype(np.int64)
    return (images[:-TESTED], labels[:-TESTED]), (images[-TESTED:], labels[-TESTED:])


def jitter(images, gen):
    """Shifts each image by up to one pixel and changes its brightness a little."""
    padded = F.pad(images, (1, 1, 1, 1))
    rows = torch.randint(0, 3, (len(images),), generator=gen)
    columns = torch.randint(0, 3, (len(images),), generator=gen)
    moved = [p[:, r : r + 8, c : c + 8] for p, r, c in zip(padded, rows.tolist(), columns.tolist())]
    light = 0.9 + 0.2 * torch.rand(len(images), 1, 1, 1, generator=gen)
    return (torch.stack(moved) * light).clamp(0, 1)


def train(net, images, labels):
    gen = torch.Generator().manual_seed(1)
    steps = EPOCHS * ((len(images) + 63) // 64)
    optimiser = torch.optim.AdamW(net.parameters(), lr=4e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=4e-3, total_steps=steps)
    net.train()
    for epoch in range(EPOCHS):
        total = 0.0
        for pick in torch.randperm(len(images), generator=gen).split(64):
            loss = F.cross_entropy(
                net(jitter(images[pick], gen)), labels[pick], label_smoothing=0.05
            )
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
            total += loss.item() * len(pick)
        if epoch % 10 == 9:
            print(f"epoch {epoch + 1}: loss {total / len(images):.3f}", file=sys.stderr)
    net.eval()


def export(net, image):
    """Exports for one image, and removes this machine's file names from the archive."""
    sys.path.insert(0, os.path.join(FOLDER, "..", "test", "models"))
    import archive

    path = os.path.join(FOLDER, "digits.pt2")
    torch.export.save(torch.export.export(net, (image,)), path)
    archive.neutral(path, (FOLDER + "/",), "demo/")
    return torch.export.load(path).module()


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    (images, labels), (test_images, test_labels) = split_digits()
    net = DigitNet()
    train(net, torch.from_numpy(images), torch.from_numpy(labels))

    tests = torch.from_numpy(test_images)
    exported = export(net, tests[:1])
    with torch.no_grad():
        logits = torch.cat([net(image[None]) for image in tests])
        again = torch.cat([exported(image[None]) for image in tests])
    assert torch.allclose(logits, again, atol=1e-5), "the export differs from the model"
    right = int((logits.argmax(1).numpy() == test_labels).sum())
    print(f"{right} of {TESTED} test images are right: {100 * right / TESTED:.2f} %")
    np.save(os.path.join(FOLDER, "digits_images.npy"), test_images)
    np.save(os.path.join(FOLDER, "digits_labels.npy"), test_labels)
    np.save(os.path.join(FOLDER, "digits_logits.npy"), logits.numpy())


if __name__ == "__main__":
    main()
