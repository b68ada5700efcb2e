"""Writes every kernels_portable/cases/op_*.txt, or those named: make.py [op_cat ...].

Needs PyTorch. The files are committed, so that building and testing need no Python.
"""

import importlib
import pathlib
import sys

import op_case


def main():
    op_case.select(sys.argv[1:])
    for path in sorted(pathlib.Path(__file__).parent.glob("gen_*.py")):
        importlib.import_module(path.stem)


if __name__ == "__main__":
    main()
