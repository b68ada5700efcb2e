"""A zoo entry: a name, a family, and a function that makes the module and its inputs."""

import hashlib
from dataclasses import dataclass
from typing import Callable

import torch


@dataclass
class Entry:
    """One architecture. `make` returns (module, args) or (module, args, kwargs)."""

    name: str
    family: str  # its kind in the table: "image classification", "decoder", ...
    make: Callable
    spec: str  # everything that determines weights and inputs; part of the key of stored results
    quick: bool = False  # whether to include it in --quick

    def key(self, versions):
        return hashlib.sha256(f"{versions} {self.spec}".encode()).hexdigest()[:16]


def seeded(seed):
    """A generator that makes inputs independent of the random numbers used for weights."""
    return torch.Generator().manual_seed(seed)


def randn(*shape, seed=1):
    return torch.randn(*shape, generator=seeded(seed))


def ids(*shape, high=96, seed=2):
    return torch.randint(0, high, shape, generator=seeded(seed))


def lively(module):
    """Changes weights that are constant or tiny, which would hide errors in operators."""
    gen = seeded(7)
    with torch.no_grad():
        for tensor in module.parameters():
            if not tensor.is_floating_point() or tensor.numel() < 2:
                continue
            if (tensor == tensor.flatten()[0]).all():
                tensor += 0.1 * torch.randn(tensor.shape, generator=gen)
            elif tensor.dim() > 1:
                wanted = (tensor.numel() / tensor.shape[0]) ** -0.5
                tensor *= max(1.0, 0.8 * wanted / (tensor.std().item() + 1e-6))
    return module.eval()


def settle(module, args, kwargs):
    """Sets batch-norm statistics near those of the inputs, as training would."""
    gen = seeded(9)

    def measure(part, inputs):
        x = inputs[0].detach()
        dims = [d for d in range(x.dim()) if d != 1]
        # Use a small mean, since rounding errors of its subtraction grow over many layers.
        noise = torch.randn(x.shape[1], generator=gen)
        part.running_mean.copy_(0.1 * x.mean(dims) + 0.02 * noise)
        part.running_var.copy_(x.square().mean(dims) + 0.3 * x.square().mean() + 0.01)
        if part.affine:
            part.weight *= 0.5

    norms = [p for p in module.modules() if isinstance(p, torch.nn.modules.batchnorm._BatchNorm)]
    hooks = [p.register_forward_pre_hook(measure) for p in norms if p.track_running_stats]
    if hooks:
        with torch.no_grad():
            module(*args, **kwargs)
    for hook in hooks:
        hook.remove()
