"""Exports models of test/bench/peers/models.py for the runtimes in a browser.

    python test/bench/web/models.py FOLDER NAME...

Writes NAME.pt2, NAME.onnx, and what goes in and what PyTorch computes as NAME.inK.npy and
NAME.outK.npy.
"""

import pathlib
import sys

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "peers"))
import models  # noqa: E402


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:]:
        module, args = models.make(name)
        with torch.no_grad():
            outputs = module(*args)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        for kind, tensors in (("in", args), ("out", outputs)):
            for i, tensor in enumerate(tensors):
                np.save(folder / f"{name}.{kind}{i}.npy", tensor.numpy())
        torch.export.save(torch.export.export(module, args), folder / f"{name}.pt2")
        torch.onnx.export(
            module, args, folder / f"{name}.onnx", dynamo=True, external_data=False, verbose=False
        )


if __name__ == "__main__":
    main()
