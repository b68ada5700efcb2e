"""Exports some of the test models with the PyTorch that runs this.

    python test/versions/make.py

Writes data/NAME_M_N.pt2, where M.N is the version of PyTorch, and puts their lines into the index
data/models.txt. The arrays of the cases are those in test/models/data, which PyTorch 2.13 computed:
this version's results are held against them. A model that this version cannot export is named.
"""

import glob
import os
import sys
import tempfile
import warnings

import numpy as np
import torch

FOLDER = os.path.dirname(os.path.abspath(__file__))
MODELS = os.path.join(os.path.dirname(FOLDER), "models")
ARRAYS = os.path.join(MODELS, "data")
sys.path.insert(0, MODELS)
sys.dont_write_bytecode = True  # a cached module could contain a different file name

import make  # noqa: E402

# Files of test/models: what archives and graphs of different versions write in different ways.
SOURCES = "recurrent dynamic control_flow structure mutation forms spectra complex_calls".split()
VERSION = "_".join(torch.__version__.split(".")[:2])

HEADER = """# Cases: name, .pt2 file, tensor inputs, tensor outputs, steps, factor on the tolerance.
# Written by test/versions/make.py. The arrays are in test/models/data.
"""


def same_numbers(path, scale):
    """Whether an array is the committed one; `path` was written by this version."""
    committed = os.path.join(ARRAYS, os.path.basename(path))
    if not os.path.exists(committed):
        return False
    got, expected = np.load(path), np.load(committed)
    if got.dtype != expected.dtype or got.shape != expected.shape:
        return False
    if got.dtype.kind == "V":  # bfloat16
        got, expected = (torch.from_numpy(a.view(np.int16)).view(torch.bfloat16)
                         for a in (got, expected))
    else:
        got, expected = torch.from_numpy(got), torch.from_numpy(expected)
    return make.close(got, expected, scale)


def export(model, out):
    """The index's lines of one model, whose files are moved to data/ if its numbers are right."""
    model.repack = None  # the older forms are what the older versions write
    lines = make.write_model(model, out)
    for array in glob.glob(f"{out}/*.npy"):
        if not same_numbers(array, model.scale):
            raise ValueError(f"{os.path.basename(array)} is not the committed one")
    renamed = []
    for line in lines:
        case, file, rest = line.split(" ", 2)
        new = file.replace(".pt2", f"_{VERSION}.pt2")
        if os.path.exists(f"{out}/{file}"):
            os.replace(f"{out}/{file}", f"{FOLDER}/data/{new}")
        renamed.append(f"{case} {new} {rest}")
    return renamed


def rewrite_index(lines):
    path = f"{FOLDER}/data/models.txt"
    kept = []
    if os.path.exists(path):
        with open(path) as file:
            kept = [line for line in file.read().splitlines() if not line.startswith("#")]
    kept = [line for line in kept if f"_{VERSION}.pt2" not in line]
    with open(path, "w") as file:
        file.write(HEADER + "\n".join(sorted(kept + lines)) + "\n")


def main():
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    lines = []
    for source in SOURCES:
        torch.manual_seed(0)
        try:
            models = make.load_source(source).models(full=False)
        except Exception as error:  # an operator that this version does not have
            print(f"{source}.py: {type(error).__name__}: {str(error).splitlines()[0]}")
            continue
        for model in models:
            try:
                with tempfile.TemporaryDirectory() as out:
                    lines += export(model, out)
            except Exception as error:
                print(f"{model.name}: {type(error).__name__}: {str(error).splitlines()[:1]}")
    rewrite_index(lines)
    print(f"PyTorch {torch.__version__}: {len(lines)} files")


if __name__ == "__main__":
    main()
