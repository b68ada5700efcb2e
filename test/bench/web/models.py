"""Exports models of test/bench/peers/models.py for the runtimes in a browser.

    python test/bench/web/models.py FOLDER NAME...

Writes NAME.pt2, NAME.onnx, NAME.tflite, NAME.json and NAME.bin (tfjs_graph.py), and what goes in
and what PyTorch computes as NAME.inK.npy and NAME.outK.npy. What cannot be exported is left out,
and NAME.KIND.txt says why.
"""

import pathlib
import sys

import numpy as np
import tfjs_graph
import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "peers"))
import models  # noqa: E402


class Narrow(nn.Module):
    """Takes int32 where the model takes int64, which LiteRT has no arrays for in a browser."""

    def __init__(self, module):
        super().__init__()
        self.module = module

    def forward(self, *args):
        return self.module(*[a if a.is_floating_point() else a.to(torch.int64) for a in args])


def write_onnx(path, module, args, exported):
    torch.onnx.export(
        module, args, path.with_suffix(".onnx"), dynamo=True, external_data=False, verbose=False
    )


def write_tflite(path, module, args, exported):
    import litert_torch

    narrow = [a if a.is_floating_point() else a.to(torch.int32) for a in args]
    litert_torch.convert(Narrow(module).eval(), tuple(narrow)).export(str(path) + ".tflite")


def write_tfjs(path, module, args, exported):
    tfjs_graph.write(path, exported, args)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:]:
        path = folder / name
        module, args = models.make(name)
        with torch.no_grad():
            outputs = module(*args)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        for kind, tensors in (("in", args), ("out", outputs)):
            for i, tensor in enumerate(tensors):
                np.save(folder / f"{name}.{kind}{i}.npy", tensor.numpy())
        exported = torch.export.export(module, args)
        torch.export.save(exported, path.with_suffix(".pt2"))
        for write in (write_onnx, write_tflite, write_tfjs):
            try:
                write(path, module, args, exported)
            except Exception as error:  # Whatever a converter throws.
                kind = write.__name__.removeprefix("write_")
                (folder / f"{name}.{kind}.txt").write_text(f"{type(error).__name__}: {error}\n")


if __name__ == "__main__":
    main()
