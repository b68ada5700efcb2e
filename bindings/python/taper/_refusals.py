"""What torch.compile's graphs leave to PyTorch, and why: each reason is said once."""

import warnings

import torch

said = set()


class Refused(Exception):
    """A graph that Taper does not take; the text says why."""


def say(what, reason):
    """Warns that `what` runs in eager mode, unless that reason was given before."""
    if reason not in said:
        said.add(reason)
        warnings.warn(f"taper: {what} in eager mode: {reason}", stacklevel=2)


def eager(graph, reason):
    """What runs a whole graph in eager mode."""
    say("a graph runs", reason)
    return graph.forward


def one_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if isinstance(error, Refused):
        return lines[0]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _values(graph):
    for node in graph.graph.nodes:
        value = node.meta.get("example_value", node.meta.get("val"))
        for each in value if isinstance(value, (tuple, list)) else (value,):
            if isinstance(each, torch.Tensor):
                yield node, each


def refusal(graph, examples):
    """Why no part of this graph is tried; None if it is."""
    for each in examples:
        if not isinstance(each, torch.Tensor):
            continue
        if each.device.type != "cpu":
            return f"an input is on device {each.device}; Taper runs on the processor"
        if each.layout != torch.strided:
            return f"an input has layout {each.layout}"
    for node, value in _values(graph):
        if value.device.type != "cpu":
            return f"{node.name} is on device {value.device}; Taper runs on the processor"
    return None


def needs_autograd(graph, examples):
    """Whether the graph must go through AOT Autograd: gradients are needed, autocast is on, an
    output shares memory with an input or another output, or as _is_special() says."""
    if torch.is_grad_enabled() and any(isinstance(each, torch.Tensor) and each.requires_grad
                                       for each in examples):
        return True
    return torch.is_autocast_enabled("cpu") or _is_special(graph) or _has_aliases(graph)


def _is_special(graph):
    """Whether the graph has what torch.export alone does not keep: tensors of its own, which it may
    write or others may change (those of an optimizer, for example), autocast, or torch.func."""
    return bool(graph.state_dict()) or any(
        node.target is torch.amp.autocast_mode._enter_autocast
        or "functorch" in (getattr(node.target, "__module__", None) or "")
        for node in graph.graph.nodes)


def _has_aliases(graph):
    def storage(node):
        value = node.meta.get("example_value")
        return value.untyped_storage()._cdata if isinstance(value, torch.Tensor) else None

    seen = {storage(node) for node in graph.graph.nodes if node.op == "placeholder"} - {None}
    output = next(node for node in graph.graph.nodes if node.op == "output")
    for node in output.all_input_nodes:
        key = storage(node)
        if key is not None and key in seen:
            return True
        seen.add(key)
    return False
