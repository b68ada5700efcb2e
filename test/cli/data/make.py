"""Writes the programs of check_test.cpp, most of which cannot be compiled, and one with two models.

usage: make.py          (needs PyTorch; run it in the project's root)
"""

import os
import sys
import warnings

import torch

FOLDER = os.path.dirname(os.path.abspath(__file__)) + "/"
sys.dont_write_bytecode = True
sys.path.insert(0, FOLDER + "../../models")
import archive  # noqa: E402

library = torch.library.Library("my", "DEF")
library.define("shrink(Tensor x, float by) -> Tensor")


@torch.library.impl(library, "shrink", "CompositeExplicitAutograd")
def shrink(x, by):
    return torch.clamp(x.abs() - by, min=0)


class Many(torch.nn.Module):
    def forward(self, x):
        spectrum = torch.complex(x.half(), x.half()).abs()
        y = torch.linalg.ldl_factor(x)[0] + torch.ops.my.shrink(x, 0.5)
        y = torch.nn.functional.dropout(y, 0.5, True)
        return y, spectrum, torch.linalg.ldl_factor(y)[0], x.to(torch.uint64) + 1


class Open(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) + x.sum(0)


class Counted(torch.nn.Module):
    """Has a size that depends on data."""

    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x, count):
        rows = count.item()
        torch._check(rows >= 0)
        return self.linear(x + torch.zeros(rows, 4).sum(0))


def write(name, module, args, **options):
    path = f"{FOLDER}{name}.pt2"
    torch.export.save(torch.export.export(module.eval(), args, **options), path)
    archive.neutral(path, (FOLDER,), "test/cli/data/")


class Scaled(torch.nn.Module):
    """Multiplies by a number, with a layer that can be quantised."""

    def __init__(self, by):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3, bias=False)
        self.linear.weight = torch.nn.Parameter(torch.eye(3) * by)

    def forward(self, x):
        return self.linear(x)


def write_two():
    from torch.export.pt2_archive._package import package_pt2

    x = torch.ones(2, 3)
    programs = {name: torch.export.export(Scaled(by), (x,)) for name, by in (("half", 0.5), ("twice", 2))}
    package_pt2(FOLDER + "two_models.pt2", exported_programs=programs)
    archive.neutral(FOLDER + "two_models.pt2", (FOLDER,), "test/cli/data/")


def main():
    warnings.filterwarnings("ignore")
    x = torch.randn(3, 4)
    write("many", Many(), (torch.randn(4, 4),))
    write_two()
    write("counted", Counted(), (torch.ones(2, 4), torch.tensor(3)))
    write("open", Open(), (x,), dynamic_shapes={"x": {0: torch.export.Dim("batch")}})


if __name__ == "__main__":
    main()
