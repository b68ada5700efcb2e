"""Graphs that go through AOT Autograd: training steps, autocast, outputs that share memory.

AOT Autograd gives a forward and a backward graph of ATen operators that write nothing; writes into
inputs and buffers and views as outputs are its own matter. Weights are inputs where gradients are
needed, since every step changes them. Random operators run in PyTorch, so that the same seed gives
the same numbers as eager mode; so do gradients of convolutions
and of max pooling.
"""

import contextlib

import torch
from functorch.compile import min_cut_rematerialization_partition
from torch._dynamo.backends.common import aot_autograd
from torch.nn.attention import SDPBackend, sdpa_kernel

from taper import _decompositions, _parts


# Operators that run in PyTorch, since Taper's kernels for them are slower by far.
_SLOW = {torch.ops.aten.convolution_backward.default,
         torch.ops.aten.max_pool2d_with_indices_backward.default}


def compile_graph(graph, examples, make):
    """What runs the graph; make(graph, examples, folds=...) makes what runs a part of it."""
    def compiler(folds):
        def compile_one(module, inputs):
            def make_part(part, part_examples):
                return make(part, part_examples, folds=folds)

            left = {node for node in module.graph.nodes
                    if node.target in _SLOW or _parts.is_random(node)}
            run = _parts.Parts(module, left, make_part).run

            def boxed(args):
                return run(args)

            boxed._boxed_call = True
            return boxed
        return compile_one

    backend = aot_autograd(
        fw_compiler=compiler(False), bw_compiler=compiler(False), inference_compiler=compiler(True),
        decompositions=_decompositions.for_training(),
        partition_fn=min_cut_rematerialization_partition)
    # Without the forms of attention and of recurrent layers that only PyTorch's kernels have.
    with sdpa_kernel(SDPBackend.MATH), _without_mkldnn():
        return backend(graph, examples)


@contextlib.contextmanager
def _without_mkldnn():
    was = torch._C._get_mkldnn_enabled()
    torch._C._set_mkldnn_enabled(False)
    try:
        yield
    finally:
        torch._C._set_mkldnn_enabled(was)
