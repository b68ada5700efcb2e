"""Exports the models of vulkan_models.py with ExecuTorch's Vulkan delegate, with their inputs and
PyTorch's outputs: its wheel has no runtime of that delegate.

    python test/compat/make_vulkan_ptes.py test/compat/data [--large] [--only sizes,unary]
"""

import argparse
import logging
import os
import sys

import numpy as np
import torch

import vulkan_models

PREFIX = "vulkan_"


def stem_of(folder, example, method):
    """vulkan_sizes, or vulkan_methods.encode."""
    name = PREFIX + example.name + ("" if method == "forward" else "." + method)
    return os.path.join(folder, name)


def lower(example):
    from executorch.backends.vulkan.partitioner.vulkan_partitioner import VulkanPartitioner
    from executorch.exir import to_edge_transform_and_lower

    programs = {}
    for method in example.methods:
        model = example.of(method)
        programs[method] = torch.export.export(
            model, example.args[method], dynamic_shapes=example.dynamic
        )
    options = dict(example.options)
    if example.dynamic:
        options["require_dynamic_shapes"] = True
    lowered = to_edge_transform_and_lower(programs, partitioner=[VulkanPartitioner(options)])
    return lowered.to_executorch().buffer


def pte_of(folder, example):
    return os.path.join(folder, PREFIX + example.name + ".pte")


def write(folder, example):
    """Writes the arrays of an example, and its program last: where that is, everything is."""
    torch.manual_seed(0)
    example.prepare()
    program = lower(example)
    for method in example.methods:
        stem = stem_of(folder, example, method)
        for step, inputs in enumerate([example.inputs(method), *example.steps]):
            with torch.no_grad():
                outputs = example.of(method)(*inputs)
            outputs = outputs if isinstance(outputs, tuple) else (outputs,)
            name = stem if step == 0 else f"{stem}.step{step}"
            for kind, arrays in (("in", inputs), ("out", outputs)):
                for k, array in enumerate(arrays):
                    np.save(f"{name}.{kind}{k}.npy", array.numpy())
    pte = pte_of(folder, example)
    with open(pte + ".new", "wb") as file:
        file.write(program)
    os.replace(pte + ".new", pte)


def write_all(folder, large, only=None, keep=False):
    """Writes the models into the folder; with `keep`, only those that are not there. Returns them,
    and {name: error} for those that it cannot."""
    logging.disable(logging.INFO)
    torch.manual_seed(0)
    examples = vulkan_models.small_examples()
    if large:
        examples += vulkan_models.large_examples()
    examples = [each for each in examples if only is None or each.name in only]
    errors = {}
    for example in examples:
        if keep and os.path.exists(pte_of(folder, example)):
            continue
        try:
            write(folder, example)
        except Exception as error:  # the exporter may raise anything
            errors[example.name] = f"{type(error).__name__}: {str(error).splitlines()[0]}"[:300]
    return examples, errors


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("--large", action="store_true", help="also those that are not committed")
    parser.add_argument("--only", help="comma-separated names")
    options = parser.parse_args()
    only = options.only.split(",") if options.only else None
    _, errors = write_all(options.folder, options.large, only)
    for name, error in errors.items():
        print(f"{name}: {error}")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
