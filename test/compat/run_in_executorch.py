"""Runs a .pte in ExecuTorch's runtime; compares the outputs with stored arrays or writes them.

    python test/compat/run_in_executorch.py x.pte --case llama [--model llama.pt2] [--models DIR]
    python test/compat/run_in_executorch.py x.pte --inputs a.npy,b.npy --outputs DIR

A case is one line of the models' index; its Python constants, which a .pt2 fixes at export, are
taken from the sample inputs in the .pt2. Needs executorch 1.5.1; exits with 1 on a difference.
"""

import argparse
import io
import os
import sys
import warnings
import zipfile
from dataclasses import dataclass

import numpy as np
import torch
from torch.utils import _pytree as pytree

TOLERANCE = 1e-5


@dataclass
class Case:
    """One line of models.txt."""

    name: str
    file: str
    inputs: int
    outputs: int
    steps: int
    scale: float

    def key(self):
        return f"{self.file.removesuffix('.pt2')}:{self.name}"

    def arrays(self, folder, kind, step):
        prefix = self.name if self.steps == 1 else f"{self.name}.step{step}"
        count = self.inputs if kind == "in" else self.outputs
        return [os.path.join(folder, f"{prefix}.{kind}{k}.npy") for k in range(count)]


def read_index(folder):
    cases = []
    with open(os.path.join(folder, "models.txt")) as index:
        for line in index:
            words = line.split("#")[0].split()
            if words:
                scale = float(words[5]) if len(words) > 5 else 1.0
                cases.append(Case(words[0], words[1], *map(int, words[2:5]), scale))
    return cases


def load_array(path):
    array = np.load(path)
    if array.dtype == np.dtype("V2"):
        return torch.from_numpy(array.view(np.int16).copy()).view(torch.bfloat16)
    return torch.from_numpy(array.copy())


def sample_inputs(path):
    """The flattened arguments stored in a .pt2, including constants."""
    with zipfile.ZipFile(path) as zf:
        for name in zf.namelist():
            if name.endswith(("data/sample_inputs/model.pt", "serialized_example_inputs.pt")):
                return pytree.tree_leaves(torch.load(io.BytesIO(zf.read(name)), weights_only=False))
    raise ValueError(f"{path}: no sample inputs")


def with_constants(arrays, samples):
    """The samples, with their tensors replaced by the arrays."""
    rest = iter(arrays)
    return [next(rest) if isinstance(s, torch.Tensor) else s for s in samples]


def execute(pte, steps):
    """Loads the method, runs it on each list of inputs; returns the tensor outputs of each run."""
    import executorch.kernels.quantized  # registers the operators of int8 models
    from executorch.runtime import Runtime, Verification

    program = Runtime.get().load_program(pte, verification=Verification.Minimal)
    method = program.load_method("forward")
    results = []
    for inputs in steps:
        outputs = method.execute([i.clone() if isinstance(i, torch.Tensor) else i for i in inputs])
        results.append([o.clone() for o in outputs if isinstance(o, torch.Tensor)])
    return results


def difference(got, expected, scale=1.0, tolerance=TOLERANCE):
    """Returns (largest relative difference, None or what is wrong)."""
    if len(got) != len(expected):
        return 0.0, f"{len(got)} outputs, expected {len(expected)}"
    worst = 0.0
    for k, (a, b) in enumerate(zip(got, expected)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return worst, f"out{k} is {a.dtype}{list(a.shape)}, expected {b.dtype}{list(b.shape)}"
        if not b.dtype.is_floating_point:
            if not torch.equal(a, b):
                return worst, f"out{k}: {int((a != b).sum())} of {b.numel()} elements differ"
            continue
        a, b = a.double(), b.double()
        base = max(1.0, b.abs().max().item()) if b.numel() else 1.0
        error = (a - b).abs().max().item() / base if b.numel() else 0.0
        worst = max(worst, error)
        if not torch.equal(torch.isnan(a), torch.isnan(b)) or error > tolerance * scale:
            return (
                worst,
                f"out{k} differs by {error:.2e} x max(1, largest), limit {tolerance * scale:.0e}",
            )
    return worst, None


def run_case(pte, case, folder):
    """Runs one case in ExecuTorch; returns (largest difference, None or what is wrong)."""
    samples = sample_inputs(os.path.join(folder, case.file))
    steps = [
        with_constants([load_array(p) for p in case.arrays(folder, "in", step)], samples)
        for step in range(case.steps)
    ]
    worst = 0.0
    for step, got in enumerate(execute(pte, steps)):
        expected = [load_array(p) for p in case.arrays(folder, "out", step)]
        error, wrong = difference(got, expected, case.scale)
        worst = max(worst, error)
        if wrong:
            return worst, (f"step {step}: " if case.steps > 1 else "") + wrong
    return worst, None


def run_arrays(options):
    inputs = [load_array(p) for p in options.inputs.split(",")] if options.inputs else []
    [outputs] = execute(options.pte, [inputs])
    for k, tensor in enumerate(outputs):
        print(f"out{k}: {tensor.dtype}{list(tensor.shape)}")
        if options.outputs:
            os.makedirs(options.outputs, exist_ok=True)
            raw = tensor.contiguous()
            raw = (
                raw.view(torch.int16).numpy().view("V2")
                if raw.dtype == torch.bfloat16
                else raw.numpy()
            )
            np.save(os.path.join(options.outputs, f"out{k}.npy"), raw)
    return 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("pte")
    parser.add_argument("--case", help="a case of the index; all of its steps are run")
    parser.add_argument("--model", help="the case's .pt2, if several cases have the same name")
    parser.add_argument("--models", default="test/models/data")
    parser.add_argument("--inputs", help="comma-separated .npy files")
    parser.add_argument("--outputs", help="folder for out0.npy, out1.npy, ...")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    if not options.case:
        return run_arrays(options)
    found = [
        c
        for c in read_index(options.models)
        if c.name == options.case and options.model in (None, c.file)
    ]
    if not found:
        raise SystemExit(f"no case {options.case} in {options.models}/models.txt")
    worst, wrong = run_case(options.pte, found[0], options.models)
    print(f"{found[0].key()}: " + (wrong or f"equal, largest difference {worst:.1e}"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
