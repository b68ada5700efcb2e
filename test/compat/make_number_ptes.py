"""Lowers a model that computes with sizes and other numbers with ExecuTorch, portable operators
only, and stores its inputs and PyTorch's outputs. ExecuTorch writes the int 0 for each number whose
type its exporter does not know: here a quotient, a product, a comparison and an item of a tensor.

    python test/compat/make_number_ptes.py test/compat/data
"""

import os
import sys

import numpy as np
import torch
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower

ROWS = [6, 3, 5, 8]  # The model is planned for up to 8 rows and called once with each of these.


class Numbers(torch.nn.Module):
    def forward(self, x, weight):
        rows = x.shape[0]
        wave = torch.cond(rows > 4, torch.sin, torch.cos, (x,))
        half = torch.full((2,), rows * 0.5)
        return wave * (rows / 4), half, wave - weight.item()


def inputs(rows):
    generator = torch.Generator().manual_seed(rows)
    return torch.randn(rows, 3, generator=generator), torch.tensor(rows / 16)


def main(folder):
    rows = torch.export.Dim("rows", min=2, max=8)
    program = torch.export.export(
        Numbers(), inputs(ROWS[0]), dynamic_shapes=({0: rows}, None), strict=False
    )
    stem = os.path.join(folder, "portable_numbers")
    for step, count in enumerate(ROWS):
        name = f"{stem}.step{step}" if step else stem
        arrays = inputs(count)
        for kind, values in (("in", arrays), ("out", Numbers()(*arrays))):
            for k, value in enumerate(values):
                np.save(f"{name}.{kind}{k}.npy", value.numpy())
    with open(stem + ".pte", "wb") as file:
        config = EdgeCompileConfig(_check_ir_validity=False)  # The check fails at a quotient.
        edge = to_edge_transform_and_lower(program, compile_config=config)
        file.write(edge.to_executorch().buffer)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
