"""Exports one entry with torch.export and stores its inputs and PyTorch's outputs."""

import copy
import os
import time

import numpy as np
import torch
from torch.utils import _pytree as pytree

from entry import lively, settle


def tensors(tree):
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def store(folder, prefix, values):
    for k, tensor in enumerate(values):
        np.save(os.path.join(folder, f"{prefix}{k}.npy"), tensor.detach().contiguous().numpy())


def eager_seconds(module, args, kwargs):
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        module(*args, **kwargs)
        times.append(time.perf_counter() - begin)
    return min(times)


def difference(values, others):
    """The largest difference, relative to the scale of the tolerance."""
    gaps = [
        (a - b).abs().max().item() / max(1.0, b.abs().max().item())
        for a, b in zip(values, others, strict=True)
        if b.is_floating_point() and b.numel()
    ]
    return max(gaps, default=0.0)


def exported_outputs(program, args, kwargs):
    """The outputs of the exported program in PyTorch."""
    return tensors(program.module()(*copy.deepcopy(args), **copy.deepcopy(kwargs)))


def rounding_error(module, args, kwargs, expected):
    """The difference between float32 and float64 in PyTorch, relative to the tolerance's scale."""
    wide = lambda t: t.double() if isinstance(t, torch.Tensor) and t.dtype == torch.float32 else t
    try:
        module = copy.deepcopy(module).double()
        exact = tensors(module(*pytree.tree_map(wide, args), **pytree.tree_map(wide, kwargs)))
        return difference(expected, exact)
    except Exception:  # the model's code requires float32
        return None


def prepared(entry):
    """The entry's module with its weights, and its arguments; the same every time."""
    torch.manual_seed(0)
    module, args, *rest = entry.make()
    kwargs = rest[0] if rest else {}
    module = lively(module)
    settle(module, copy.deepcopy(args), copy.deepcopy(kwargs))
    return module, args, kwargs


def make(entry, folder):
    module, args, kwargs = prepared(entry)
    with torch.no_grad():
        fresh = copy.deepcopy(module)
        expected = tensors(fresh(*copy.deepcopy(args), **copy.deepcopy(kwargs)))
        begin = time.perf_counter()
        program = torch.export.export(module, args, kwargs, strict=False)
        seconds = time.perf_counter() - begin
        store(folder, "in", [t.clone() for t in tensors((args, kwargs))])
        torch.export.save(program, os.path.join(folder, "model.pt2"))
        changed = difference(expected, exported_outputs(program, args, kwargs))
        if changed > 1e-5:  # the model computes different results when it is traced
            expected = exported_outputs(program, args, kwargs)
        store(folder, "expected", expected)
        eager = eager_seconds(fresh, args, kwargs)
        rounding = rounding_error(fresh, args, kwargs, expected)
    return {
        "torch_export_s": seconds,
        "eager_s": eager,
        "rounding": rounding,
        "changed_by_export": changed,
        "parameters": sum(p.numel() for p in module.parameters()),
        "pt2": os.path.getsize(os.path.join(folder, "model.pt2")),
        "inputs": len(tensors((args, kwargs))),
        "outputs": len(expected),
        "finite": all(bool(torch.isfinite(t).all()) for t in expected if t.is_floating_point()),
    }
