"""torchvision's operators in small detectors: how many boxes are found depends on the image."""

import os
import sys

import torch
from torch import nn

from model import Case, Model, randn, settle

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(FOLDER, "../../kernels_portable/cases"))

import torchvision_operators  # noqa: E402

if not torchvision_operators.load():
    raise ImportError("torchvision's operators cannot be loaded")

from torchvision import ops  # noqa: E402


class Detector(nn.Module):
    """Scores and boxes from each pixel of a small map, suppressed by class, then a second look."""

    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU(),
                                      nn.Conv2d(8, 8, 3, 2, 1), nn.ReLU())
        self.scores = nn.Conv2d(8, 3, 1)
        self.boxes = nn.Conv2d(8, 4, 1)
        self.refine = nn.Linear(8 * 9, 4)

    def forward(self, image):
        features = self.backbone(image)
        scores = self.scores(features).sigmoid()[0].flatten(1)
        sides = self.boxes(features).exp()[0].flatten(1).T
        row, column = torch.meshgrid(torch.arange(8.0), torch.arange(8.0), indexing="ij")
        centre = torch.stack([column, row], -1).reshape(-1, 2) * 4 + 2
        boxes = torch.cat([centre - 4 * sides[:, :2], centre + 4 * sides[:, 2:]], 1).clamp(0, 32)
        label, place = torch.where(scores > 0.5)
        found, score = boxes[place], scores[label, place]
        # Boxes of different classes are moved apart.
        kept = torch.ops.torchvision.nms(found + label[:, None] * 64.0, score, 0.4)
        found, label, score = found[kept], label[kept], score[kept]
        rois = torch.cat([torch.zeros_like(found[:, :1]), found], 1)
        pooled = torch.ops.torchvision.roi_align(features, rois, 0.25, 3, 3, 2, True)
        return found, label, score, self.refine(pooled.flatten(1))


class Deformable(nn.Module):
    """A layer whose taps are moved by what another one computes from the image."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 6, 3, 2, 1)
        self.offset = nn.Conv2d(6, 2 * 2 * 9, 3, padding=1)
        self.mask = nn.Conv2d(6, 2 * 9, 3, padding=1)
        self.moved = ops.DeformConv2d(6, 4, 3, padding=1, groups=2)
        self.plain = ops.DeformConv2d(4, 5, 3, stride=2, dilation=2, bias=False)

    def forward(self, image):
        x = self.first(image).relu()
        x = self.moved(x, self.offset(x), self.mask(x).sigmoid()).relu()
        return x, self.plain(x, 3 * self.offset(image.new_ones(1, 6, 2, 2))[:, :18])


class Regions(nn.Module):
    """Each way to pool regions, of a map with a channel for each bin where the operator needs it."""

    def forward(self, features, rois):
        wide = features.repeat(1, 4, 1, 1)
        return (
            ops.roi_align(features, rois, 2, 0.5), ops.roi_align(features, rois, (1, 3), 0.5, 3),
            ops.roi_pool(features, rois, (2, 3), 0.5), ops.ps_roi_align(wide, rois, 2, 0.5),
            ops.ps_roi_align(wide, rois, (4, 1), 0.5, 2), ops.ps_roi_pool(wide, rois, 2, 0.5),
        )  # fmt: skip


def models(full):
    torch.manual_seed(0)
    corner = 20 * torch.rand(5, 2, generator=torch.Generator().manual_seed(4))
    rois = torch.cat([torch.tensor([[0.0], [1], [0], [1], [1]]), corner, corner + corner.flip(0)],
                     1)
    rois[4] = torch.tensor([0.0, -40, 3, 90, 70])
    return [
        Model(
            "detector",
            settle(Detector()),
            (randn(1, 3, 32, 32, seed=1),),
            cases=[Case(f"detector_{seed}", [(randn(1, 3, 32, 32, seed=seed) * scale,)])
                   for seed, scale in ((1, 1.0), (2, 3.0))],
        ),
        Model("deformable", settle(Deformable()), (randn(1, 3, 16, 14, seed=3),)),
        Model("regions", Regions(), (randn(2, 3, 12, 11, seed=5), rois)),
    ]
