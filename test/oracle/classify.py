"""Writes classes.txt: which operators of the OpInfo database PyTorch decomposes into Core ATen or
ExecuTorch's portable list. The table depends only on PyTorch; rewrite it for a new version.

    classify.py functions.yaml     (executorch/kernels/portable/functions.yaml)
"""

import multiprocessing
import pathlib
import re
import sys
import warnings

import torch

import archive
import samples


def portable_names(path):
    text = pathlib.Path(path).read_text()
    return set(re.findall(r"^- (?:op|func): (\w+)", text, re.M))


def allowed(target, portable):
    if not isinstance(target, torch._ops.OpOverload):
        return True  # getitem and size arithmetic.
    name = target._schema.name.split("::")[-1]
    return (torch.Tag.core in target.tags or name in portable or name + "_copy" in portable or
            name.startswith(("_assert", "sym_")))


def classify(job):
    name, portable = job
    info = samples.operators()[name]
    for dtype in ("f32", "i64", "bool"):
        cases = samples.draw(name, info, dtype, 4)
        if not cases:
            continue
        foreign = set()
        for case in cases:
            try:
                _, program = archive.export(info, [case])
                program = program.run_decompositions()
            except Exception as error:
                return name, "other", "not exported: " + str(error).splitlines()[0][:60]
            foreign |= {str(node.target) for node in program.graph.nodes
                        if node.op == "call_function" and not allowed(node.target, portable)}
        if foreign:
            return name, "other", " ".join(sorted(foreign))
        return name, "core", ""
    return name, "other", "no samples of a real dtype"


def start():
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")


def main():
    portable = portable_names(sys.argv[1])
    jobs = [(name, portable) for name in samples.operators()]
    with multiprocessing.get_context("fork").Pool(2, start) as pool:
        rows = sorted(pool.imap_unordered(classify, jobs))
    with open(pathlib.Path(__file__).parent / "classes.txt", "w") as file:
        file.write("# Operator of the OpInfo database, class, and the operators that are neither in\n"
                   "# Core ATen nor in ExecuTorch's portable list after PyTorch's decompositions.\n"
                   "# Written by classify.py.\n")
        for name, kind, why in rows:
            file.write(f"{name} {kind} {why}".rstrip() + "\n")


if __name__ == "__main__":
    main()
