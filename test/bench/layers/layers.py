"""Random layers for sweep.py: convolutions and products of all kinds, and everything around them.

    layer(1234)    the same layer each time: its family, what it is, a module and its inputs

A family draws sizes so that a layer takes between microseconds and milliseconds; channels need not be
multiples of 8, nor images even. The families of a number repeat in turns, so any range of numbers has
all of them.
"""

import random

import dense_layers  # noqa: F401
import other_layers  # noqa: F401
import torch
from families import FAMILIES, Call
from torch import nn


def layer(number):
    names = list(FAMILIES)
    name = names[number % len(names)]
    draw = random.Random(number)
    torch.manual_seed(number)
    text, module, args = FAMILIES[name](draw)
    if not isinstance(module, nn.Module):
        module = Call(module)
    return name, text, module.eval(), args
