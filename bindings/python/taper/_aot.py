"""Graphs that go through AOT Autograd: training steps, autocast, outputs that share memory.

AOT Autograd gives a forward and a backward graph of ATen operators that write nothing; writes into
inputs and buffers and views as outputs are its own matter. Weights are inputs where gradients are
needed, since every step changes them. Random operators run in PyTorch, so that the same seed gives
the same numbers as eager mode.
"""

import torch
from functorch.compile import min_cut_rematerialization_partition
from torch._dynamo.backends.common import aot_autograd
from torch.nn.attention import SDPBackend, sdpa_kernel

from taper import _decompositions, _parts


def compile_graph(graph, examples, make):
    """What runs the graph; make(graph, examples, folds=...) makes what runs a part of it."""
    def compiler(folds):
        def compile_one(module, inputs):
            def make_part(part, part_examples):
                return make(part, part_examples, folds=folds)

            run = _parts.Parts(module, _parts.random_nodes(module), make_part).run

            def boxed(args):
                return run(args)

            boxed._boxed_call = True
            return boxed
        return compile_one

    backend = aot_autograd(
        fw_compiler=compiler(False), bw_compiler=compiler(False), inference_compiler=compiler(True),
        decompositions=_decompositions.for_training(),
        partition_fn=min_cut_rematerialization_partition)
    with sdpa_kernel(SDPBackend.MATH):  # The other kinds of attention are for PyTorch's kernels.
        return backend(graph, examples)
