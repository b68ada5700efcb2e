"""Graphs that go through AOT Autograd: training steps, autocast, outputs that share memory.

AOT Autograd gives a forward and a backward graph of ATen operators that write nothing; writes into
inputs and buffers and views as outputs are its own matter. Weights are inputs where gradients are
needed, since every step changes them. Random operators run in PyTorch, so that the same seed gives
the same numbers as eager mode.
"""

import torch
from functorch.compile import min_cut_rematerialization_partition
from torch._decomp import decomposition_table
from torch._dynamo.backends.common import aot_autograd
from torch.nn.attention import SDPBackend, sdpa_kernel

from taper import _parts

# Backward operators that have kernels of their own, or that Taper's compiler expresses itself.
_KEPT = {torch.ops.aten.max_pool2d_with_indices_backward.default,
         torch.ops.aten._softmax_backward_data.default}


def _decompositions():
    """PyTorch's own, for operators that only training has."""
    def is_for_training(target):
        name, _, overload = str(target).partition(".")[2].partition(".")
        return overload == "default" and ("backward" in name or name in (
            "native_batch_norm", "_native_batch_norm_legit",
            "_native_batch_norm_legit_functional", "_batch_norm_with_update_functional"))

    return {target: rule for target, rule in decomposition_table.items()
            if is_for_training(target) and target not in _KEPT}


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
        decompositions=_decompositions(), partition_fn=min_cut_rematerialization_partition)
    with sdpa_kernel(SDPBackend.MATH):  # The other kinds of attention are for PyTorch's kernels.
        return backend(graph, examples)
