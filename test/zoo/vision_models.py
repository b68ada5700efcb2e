"""torchvision: classification, segmentation, detection up to raw boxes, video, optical flow."""

import os
import sys

import torch

from entry import Entry, randn

sys.path.append(os.path.join(os.path.dirname(__file__), "../../kernels_portable/cases"))

import torchvision_operators  # noqa: E402

# Elsewhere its models only need the schemas.
if not torchvision_operators.load():
    _LIBRARY = torch.library.Library("torchvision", "DEF")
    for _name in ("nms", "qnms"):
        _LIBRARY.define(f"{_name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

import torchvision  # noqa: E402

# Name and size of the square image.
CLASSIFICATION = """
alexnet 96, squeezenet1_1 64, vgg11_bn 32, resnet18 64, resnet50 64, resnext50_32x4d 64,
wide_resnet50_2 64, densenet121 64, googlenet 64, inception_v3 160, mnasnet0_5 64, mobilenet_v2 64,
mobilenet_v3_small 64, mobilenet_v3_large 64, shufflenet_v2_x0_5 64, regnet_y_400mf 64,
regnet_x_400mf 64, efficientnet_b0 64, efficientnet_v2_s 64, convnext_tiny 64, vit_b_32 224,
swin_t 64, swin_v2_t 64, maxvit_t 224
"""
SEGMENTATION = "fcn_resnet50 64, deeplabv3_mobilenet_v3_large 64, lraspp_mobilenet_v3_large 64"
VIDEO = "r3d_18 32, mc3_18 32, r2plus1d_18 32, swin3d_t 32"
QUICK = {"resnet18", "mobilenet_v3_small", "squeezenet1_1"}


def pairs(text):
    for item in text.replace("\n", " ").split(","):
        name, size = item.split()
        yield name, int(size)


class Sorted(torch.nn.Module):
    """Returns a dictionary of results as a tuple."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *args):
        return tuple(self.module(*args).values())


class Detector(torch.nn.Module):
    """A detector up to its raw boxes and scores; the following steps are data-dependent."""

    def __init__(self, model):
        super().__init__()
        self.backbone, self.head = model.backbone, model.head

    def forward(self, images):
        return tuple(self.head(list(self.backbone(images).values())).values())


class Proposals(torch.nn.Module):
    """Faster R-CNN up to the region proposals' raw boxes and scores."""

    def __init__(self, model):
        super().__init__()
        self.backbone, self.head = model.backbone, model.rpn.head

    def forward(self, images):
        scores, boxes = self.head(list(self.backbone(images).values()))
        return tuple(scores + boxes)


def classifier(name, size):
    model = torchvision.models.get_model(name, weights=None, num_classes=10)
    return model, (randn(1, 3, size, size),)


def segmenter(name, size):
    model = torchvision.models.get_model(name, weights=None, weights_backbone=None, num_classes=5)
    return Sorted(model), (randn(1, 3, size, size),)


def video(name, size):
    model = torchvision.models.get_model(name, weights=None, num_classes=10)
    return model, (randn(1, 3, 4, size, size),)


def detector(name, wrap):
    builder = getattr(torchvision.models.detection, name)
    model = builder(weights=None, weights_backbone=None, num_classes=5)
    return wrap(model), (randn(1, 3, 96, 96),)


def raft():
    model = torchvision.models.optical_flow.raft_small(weights=None)
    flow = torchvision.models.optical_flow.raft_small(weights=None).eval()
    del model
    flow.forward = lambda a, b, f=flow.forward: f(a, b, num_flow_updates=2)
    return flow, (randn(1, 3, 128, 128), randn(1, 3, 128, 128, seed=3))


def entries():
    out = []

    def add(name, family, make, spec):
        out.append(Entry(f"torchvision/{name}", family, make, spec, name in QUICK))

    for name, size in pairs(CLASSIFICATION):
        make = lambda name=name, size=size: classifier(name, size)
        add(name, "image classification", make, f"classification {name} {size} settled 5")
    for name, size in pairs(SEGMENTATION):
        make = lambda name=name, size=size: segmenter(name, size)
        add(name, "segmentation", make, f"segmentation {name} {size} settled 5")
    for name, size in pairs(VIDEO):
        make = lambda name=name, size=size: video(name, size)
        add(name, "video", make, f"video {name} {size} settled 5")
    for name, wrap in (
        ("ssdlite320_mobilenet_v3_large", Detector),
        ("retinanet_resnet50_fpn", Detector),
        ("fcos_resnet50_fpn", Detector),
        ("fasterrcnn_mobilenet_v3_large_fpn", Proposals),
    ):
        make = lambda name=name, wrap=wrap: detector(name, wrap)
        add(name, "detection", make, f"detection {name} 96 settled 5")
    add("raft_small", "optical flow", raft, "raft_small 128 x 128, 2 updates, settled 5")
    return out
