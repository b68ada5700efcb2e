"""Lowers the test models with ExecuTorch, with portable operators only or with its XNNPACK
delegate; writes one .pte for each .pt2.

    python test/compat/make_executorch_ptes.py --out DIR [--models DIR] [--only add] [--xnnpack]

Prints one line per model, with ExecuTorch's error for those that it cannot lower. Needs executorch
1.5.1.
"""

import argparse
import logging
import os
import sys
import warnings


def first_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:200]


def lower(path, xnnpack=False):
    """Returns the bytes of the .pte; raises what ExecuTorch raises."""
    import torch
    from executorch.exir import (
        EdgeCompileConfig,
        ExecutorchBackendConfig,
        to_edge_transform_and_lower,
    )
    from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
    import executorch.kernels.quantized  # registers the operators of int8 models

    partitioner = None
    if xnnpack:
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

        partitioner = [XnnpackPartitioner()]
    program = torch.export.load(path)
    with torch.no_grad():
        edge = to_edge_transform_and_lower(
            program,
            partitioner=partitioner,
            compile_config=EdgeCompileConfig(_check_ir_validity=False),
        )
        # Without this pass, state would be uninitialised. The names of buffers start with "b_".
        initial = InitializedMutableBufferPass(["b_"])
        return edge.to_executorch(ExecutorchBackendConfig(passes=[initial])).buffer


def pt2_files(folder):
    """The .pt2 files listed in the index, without duplicates."""
    files = []
    with open(os.path.join(folder, "models.txt")) as index:
        for line in index:
            words = line.split("#")[0].split()
            if words and words[1] not in files:
                files.append(words[1])
    return files


def lower_to(model, path, xnnpack=False):
    """Writes the .pte of a .pt2, whole or not at all; returns the error if it cannot be lowered."""
    warnings.filterwarnings("ignore")
    logging.disable(logging.CRITICAL)
    stem = os.path.splitext(os.path.basename(model))[0]
    try:
        data = lower(model, xnnpack)
    except BaseException as error:  # also a panic in native dependencies
        if isinstance(error, KeyboardInterrupt):
            raise
        print(f"{stem:28} not lowered by ExecuTorch: {first_line(error)}", flush=True)
        return first_line(error)
    with open(path + ".new", "wb") as pte:
        pte.write(data)
    os.replace(path + ".new", path)
    print(f"{stem:28} {len(data)} bytes", flush=True)
    return None


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--models", default="test/models/data")
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", help="comma-separated stems")
    parser.add_argument("--xnnpack", action="store_true", help="with its XNNPACK delegate")
    options = parser.parse_args()
    only = options.only and options.only.split(",")
    os.makedirs(options.out, exist_ok=True)
    for file in pt2_files(options.models):
        stem = os.path.splitext(file)[0]
        if not only or stem in only:
            lower_to(os.path.join(options.models, file), os.path.join(options.out, stem + ".pte"),
                     options.xnnpack)  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
