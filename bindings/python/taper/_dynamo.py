"""torch.compile(model, backend="taper").

TorchDynamo hands over graphs of PyTorch's functions. One that needs no gradients is exported and
compiled whole (_graph.py); others go through AOT Autograd first (_aot.py). What Taper does not
compile runs in eager mode by parts (_parts.py), and the reason is said once (_refusals.py).

    torch.compile(model, backend="taper", options={"backend": "xnnpack", "threads": 2})
"""

import torch

from taper._graph import MOST_TRIES, Graph
from taper._refusals import eager, needs_autograd, one_line, refusal


def backend(graph, examples, *, options=None):
    """What torch.compile calls for each graph; returns what runs instead of it."""
    run = torch._dynamo.disable(_runner(graph, examples, dict(options or {})))
    # PyTorch's minifier asks what runs for its weights, as if it were a module.
    run.named_parameters, run.named_buffers = graph.named_parameters, graph.named_buffers
    run._boxed_call = False  # AOT Autograd leaves the mark of what it wraps.
    return run


def _runner(graph, examples, options):
    reason = refusal(graph, examples)
    if reason is not None:
        return eager(graph, reason)
    if not needs_autograd(graph, examples):
        inputs = [node for node in graph.graph.nodes if node.op == "placeholder"]
        symbolic = [node.meta.get("example_value", example)  # The examples have no symbols.
                    for node, example in zip(inputs, examples, strict=True)]
        return Graph(graph, symbolic, options)
    return _with_autograd(graph, examples, options)


def _with_autograd(graph, examples, options):
    from taper import _aot  # Imported late, since it takes long.

    def make(part, part_examples, *, folds):
        return Graph(part, part_examples, options, folds=folds, tries=tries)

    tries = [MOST_TRIES]
    try:
        return _aot.compile_graph(graph, examples, make)
    except torch._dynamo.exc.RestartAnalysis:  # TorchDynamo's own way to trace in another manner.
        raise
    except Exception as error:  # What AOT Autograd does not trace.
        return eager(graph, one_line(error))
