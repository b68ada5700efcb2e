"""Writes what ExecuTorch's developer tools make, for tests without Python: traces of its runtime
(.etdp), and a bundled program with two test cases (.bpte).

    python test/compat/make_devtools_files.py [--out test/compat/data]

Needs the environment of scripts/venv.sh. Times differ from run to run.
"""

import argparse
import logging
import os
import warnings

import torch


class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 8)
        self.second = torch.nn.Linear(8, 3)

    def forward(self, x):
        return torch.softmax(self.second(torch.relu(self.first(x))) + 1, -1)


def lower(exported, partitioner=None):
    from executorch.exir import to_edge_transform_and_lower

    return to_edge_transform_and_lower(exported, partitioner=partitioner).to_executorch()


def write_trace(program, inputs, path, runs=3):
    from executorch.extension.pybindings import portable_lib

    module = portable_lib._load_for_executorch_from_buffer(
        program.buffer, enable_etdump=True, debug_buffer_size=0
    )
    for _ in range(runs):
        module.forward(inputs)
    module.write_etdump_result_to_file(path)


def write_bundle(program, model, samples, path):
    from executorch.devtools import BundledProgram
    from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
    from executorch.devtools.bundled_program.serialize import (
        serialize_from_bundled_program_to_flatbuffer as serialize,
    )

    cases = [MethodTestCase(inputs=(x,), expected_outputs=(model(x),)) for x in samples]
    bundle = BundledProgram(program, [MethodTestSuite("forward", cases)])
    with open(path, "wb") as file:
        file.write(serialize(bundle))


def main():
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", default=os.path.join(os.path.dirname(__file__), "data"))
    out = parser.parse_args().out
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    torch.manual_seed(1)
    model = Mlp().eval()
    x = torch.randn(2, 4)
    exported = torch.export.export(model, (x,))
    with torch.no_grad():
        write_trace(lower(exported), (x,), os.path.join(out, "mlp.etdp"))
        delegated = lower(exported, [XnnpackPartitioner()])
        write_trace(delegated, (x,), os.path.join(out, "mlp_delegate.etdp"))
        samples = [x, torch.ones(2, 4)]
        write_bundle(lower(exported), model, samples, os.path.join(out, "mlp.bpte"))


if __name__ == "__main__":
    main()
