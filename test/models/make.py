"""Exports the test models and writes the outputs that PyTorch computes for them.

    python test/models/make.py --small --out test/models/data     the committed files
    python test/models/make.py --full --out DIR                   real sizes, for benchmarks

Run it in the project's root, with torch 2.13.0. The same processor gives the same bytes.
"""

import argparse
import copy
import importlib.machinery
import importlib.util
import os
import sys
import warnings

import numpy as np
import torch
from torch.utils import _pytree as pytree

import archive

FOLDER = os.path.dirname(os.path.abspath(__file__)) + "/"

# Files of this folder with a function models(full) that returns a list of Model.
SOURCES = """
add
mobilenet_v2
resnet18
bert_mini
mobilenet_v3_small
inception
generator
unet
speech
recurrent
vit_tiny
llama
dynamic
control_flow
structure
dtypes
mutation
aliasing
composites
measures
factors
special
samples
spectra
signals
borders
forms
final_states
quantised
quantised_parts
zero_points
formats
primitives
decoder
untouched
complex_calls
dynamic_calls
detection
""".split()
FULL_SOURCES = (
    "mobilenet_v2 mobilenet_v3_small resnet18 inception unet vit_tiny bert_mini llama".split()
)

HEADER = """# Cases: name, .pt2 file, tensor inputs, tensor outputs, steps, factor on the tolerance.
# Written by test/models/make.py with torch {version}.
# Inputs are NAME.inK.npy and outputs NAME.outK.npy; with more than one step NAME.stepS.inK.npy
# and NAME.stepS.outK.npy, state being carried from step to step.
"""


def flat_tensors(tree):
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def write_npy(path, tensor):
    tensor = tensor.detach().contiguous()
    if tensor.dtype == torch.bfloat16:
        array = tensor.view(torch.int16).numpy().view("V2")
    else:
        array = tensor.numpy()
    np.save(path, array)


def close(got, expected, scale):
    if got.dtype.is_complex:
        got, expected = torch.view_as_real(got), torch.view_as_real(expected)
    if not got.dtype.is_floating_point:
        return torch.equal(got, expected)
    largest = expected.double().abs().max().item() if expected.numel() else 0.0
    limit = 1e-4 * scale * max(1.0, largest)
    return torch.allclose(got.double(), expected.double(), rtol=0, atol=limit, equal_nan=True)


def write_case(model, case, out, loaded):
    """Runs the case in PyTorch, before and after export; writes the arrays, returns the counts."""
    eager = copy.deepcopy(model.module)
    exported = loaded.module()
    for step, args in enumerate(case.steps):
        prefix = case.name if len(case.steps) == 1 else f"{case.name}.step{step}"
        ins = [t.clone() for t in flat_tensors((args, case.kwargs))]
        with torch.no_grad():
            again = flat_tensors(exported(*copy.deepcopy(args), **copy.deepcopy(case.kwargs)))
            outs = flat_tensors(eager(*copy.deepcopy(args), **copy.deepcopy(case.kwargs)))
        for k, (got, expected) in enumerate(zip(again, outs, strict=True)):
            if got.shape != expected.shape or not close(got, expected, model.scale):
                raise SystemExit(f"{prefix}: output {k} of the export differs from the model's")
        for k, tensor in enumerate(ins):
            write_npy(f"{out}/{prefix}.in{k}.npy", tensor)
        for k, tensor in enumerate(outs):
            write_npy(f"{out}/{prefix}.out{k}.npy", tensor)
    return len(ins), len(outs), len(case.steps)


def index_line(name, file, counts, scale):
    return " ".join([name, file, *map(str, counts)]) + (f" {scale:g}" if scale != 1 else "")


def load_source(name):
    """Imports a file of this folder with its relative path, for the archives' stack traces."""
    path = os.path.relpath(FOLDER + name + ".py")
    loader = importlib.machinery.SourceFileLoader(name, path)
    spec = importlib.util.spec_from_loader(name, loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    loader.exec_module(module)
    return module


def save(program, path, untouched=False, loads=True):
    """Saves, removes machine-dependent data, and loads again to check that the file is intact."""
    torch.export.save(program, path)
    if untouched:
        archive.check_neutral(path)
    else:
        archive.neutral(path, (FOLDER, os.path.relpath(FOLDER) + "/"))
    return torch.export.load(path) if loads else program


def write_model(model, out):
    """Writes one model's archives and cases; returns its lines for the index."""
    model.module.eval()
    pristine = copy.deepcopy(model.module)
    with torch.set_grad_enabled(not model.strict):
        program = torch.export.export(
            model.module,
            model.args,
            model.kwargs,
            dynamic_shapes=model.dynamic_shapes,
            strict=model.strict,
        )
    model.module = pristine
    path = f"{out}/{model.name}.pt2"
    loaded = save(program, path, model.untouched, model.loads)
    lines, counts = [], {}
    for case in model.all_cases():
        counts[case.name] = write_case(model, case, out, loaded)
        lines.append(index_line(case.name, f"{model.name}.pt2", counts[case.name], model.scale))
    if model.decomposed:
        file = f"{model.name}_decomposed.pt2"
        loaded = save(program.run_decompositions(), f"{out}/{file}")
        for case in model.all_cases():
            write_case(model, case, out, loaded)  # the same arrays, so the case keeps its name
            lines.append(index_line(case.name, file, counts[case.name], model.scale))
    if model.repack:
        for extra in model.repack(path):
            loaded = torch.export.load(extra)
            for case in model.all_cases():
                write_case(model, case, out, loaded)
                lines.append(
                    index_line(case.name, os.path.basename(extra), counts[case.name], model.scale)
                )
    return lines


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--small", action="store_true")
    size.add_argument("--full", action="store_true")
    parser.add_argument("--out", required=True)
    parser.add_argument(
        "--only", help="comma-separated source names; the index is then printed, not written"
    )
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    sys.dont_write_bytecode = True  # a cached module could contain a different file name
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")

    sources = FULL_SOURCES if options.full else SOURCES
    if options.only:
        sources = options.only.split(",")
    lines = []
    for name in sources:
        torch.manual_seed(0)
        for model in load_source(name).models(options.full):
            lines += write_model(model, options.out)
            size = os.path.getsize(f"{options.out}/{model.name}.pt2")
            print(f"{model.name}.pt2: {size} bytes", file=sys.stderr)
    if options.only:
        print("\n".join(lines))
        return
    with open(f"{options.out}/models.txt", "w") as file:
        file.write(HEADER.format(version=torch.__version__) + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
