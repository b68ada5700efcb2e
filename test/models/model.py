"""A test model: a module, the arguments it is exported with, and the cases that it is run on."""

from dataclasses import dataclass, field
from typing import Any, Callable, Optional

import torch


@dataclass
class Case:
    """Stored inputs and outputs of one run, or of consecutive runs of a model with state."""

    name: str
    steps: list  # of argument tuples, one for each consecutive run
    kwargs: dict = field(default_factory=dict)


@dataclass
class Model:
    """A model to export to `name`.pt2. Without cases, the export's arguments are the only case."""

    name: str
    module: torch.nn.Module
    args: tuple
    kwargs: dict = field(default_factory=dict)
    dynamic_shapes: Any = None
    cases: list = field(default_factory=list)
    scale: float = 1.0  # factor on the tolerance, for models that round a lot (half precision)
    strict: bool = False  # export in strict mode, which keeps PyTorch's fused inference layers
    decomposed: bool = False  # also write `name`_decomposed.pt2, after run_decompositions()
    loads: bool = True  # whether torch.export.load can read what torch.export.save wrote
    untouched: bool = False  # keep the archive as torch.export.save writes it
    repack: Optional[Callable] = None  # writes other archive forms: repack(path) -> [paths]

    def all_cases(self):
        return self.cases or [Case(self.name, [self.args], self.kwargs)]


def seeded(seed):
    """A generator that makes inputs independent of the random numbers used for weights."""
    return torch.Generator().manual_seed(seed)


def randn(*shape, seed):
    return torch.randn(*shape, generator=seeded(seed))


def randint(high, *shape, seed):
    return torch.randint(0, high, shape, generator=seeded(seed))


def settle(module, seed=0):
    """Sets weights and batch-norm statistics so that activations stay near one, as if trained."""
    gen = seeded(seed)
    for part in module.modules():
        if isinstance(part, (torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Linear)):
            fan_in = part.weight[0].numel()
            part.weight.data.normal_(0, (1.6 / fan_in) ** 0.5, generator=gen)
        if isinstance(part, (torch.nn.BatchNorm1d, torch.nn.BatchNorm2d)):
            part.weight.data.uniform_(0.7, 1.3, generator=gen)
            part.bias.data.normal_(0, 0.1, generator=gen)
            part.running_mean.normal_(0, 0.1, generator=gen)
            part.running_var.uniform_(0.6, 1.4, generator=gen)
    return module.eval()
