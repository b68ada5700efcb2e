"""Writes model.pt2, a model with two custom operators, and expected.npy, PyTorch's results for it.

usage: make.py          (needs PyTorch; run it in this folder)
"""

import numpy as np
import torch

library = torch.library.Library("my", "DEF")
library.define("shrink(Tensor x, float by) -> Tensor")
library.define("accumulate_(Tensor(a!) total, Tensor x) -> ()")


@torch.library.impl(library, "shrink", "CompositeExplicitAutograd")
def shrink(x, by):
    return torch.sign(x) * torch.clamp(x.abs() - by, min=0)


@torch.library.impl(library, "accumulate_", "CompositeExplicitAutograd")
def accumulate_(total, x):
    total.add_(x)


@torch.library.register_fake("my::accumulate_", lib=library)
def accumulate_fake(total, x):
    pass


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(2, 3))

    def forward(self, x):
        small = torch.ops.my.shrink(x * 2, 0.5)
        torch.ops.my.accumulate_(self.total, small)
        return torch.relu(small) + self.total


def main():
    x = torch.arange(6, dtype=torch.float32).reshape(2, 3) / 2 - 1
    program = torch.export.export(Model().eval(), (x,))
    torch.export.save(program, "model.pt2")
    model = Model()
    np.save("expected.npy", np.stack([model(x).numpy(), model(x).numpy()]))


if __name__ == "__main__":
    main()
