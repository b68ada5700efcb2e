"""Control flow that stays in the export: cond, while_loop, scan and map."""

import torch
from torch import nn
from torch._higher_order_ops.map import map as map_
from torch._higher_order_ops.scan import scan
from torch._higher_order_ops.while_loop import while_loop

from model import Case, Model, randn


class Cond(nn.Module):
    def __init__(self):
        super().__init__()
        self.yes = nn.Linear(4, 3)
        self.no = nn.Linear(4, 3)

    def forward(self, x):
        return torch.cond(
            x.sum() > 0, lambda x: (self.yes(x).sin(), x + 1), lambda x: (self.no(x), x * 2), (x,)
        )


class CondTwice(Cond):
    """A second cond after the first, whose results must stay alive until the end."""

    def forward(self, x, flag):
        first, kept = super().forward(x)
        second = torch.cond(flag, lambda a: a.tanh(), lambda a: a.neg(), (first,))
        return second, kept


class WhileLoop(nn.Module):
    """Newton's iteration for square roots until it converges, at most `limit` times."""

    def forward(self, x, limit):
        def wanted(i, y):
            return torch.logical_and(i < limit, ((y * y - x).abs() > 1e-3).any())

        def once(i, y):
            return i + 1, (y + x / y) * 0.5

        return while_loop(wanted, once, (torch.zeros((), dtype=torch.int64), x + 1))


class Scan(nn.Module):
    """A recurrent cell over time; returns the last state and every output."""

    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.randn(5, 5) * 0.4)
        self.u = nn.Parameter(torch.randn(3, 5) * 0.4)

    def forward(self, start, xs):
        def cell(h, x):
            h = torch.tanh(h @ self.w + x @ self.u)
            return h, h * 2

        return scan(cell, start, xs)


class Map(nn.Module):
    def forward(self, xs, y):
        return map_(lambda x, y: (x @ y).relu(), xs, y)


def models(full):
    x = randn(2, 4, seed=1).abs()
    yes, no = torch.tensor(True), torch.tensor(False)
    single = [Case("cond_yes", [(x,)]), Case("cond_no", [(-x,)])]
    double = [
        Case("cond_yes_yes", [(x, yes)]),
        Case("cond_yes_no", [(x, no)]),
        Case("cond_no_yes", [(-x, yes)]),
        Case("cond_no_no", [(-x, no)]),
    ]
    roots = randn(6, seed=2).abs() * 5 + 0.5
    loops = [
        Case("while_loop", [(roots, torch.tensor(50))]),
        Case("while_loop_short", [(roots, torch.tensor(2))]),
        Case("while_loop_none", [(roots, torch.tensor(0))]),
    ]
    return [
        Model("cond", Cond(), (x,), cases=single),
        Model("cond_twice", CondTwice(), (x, yes), cases=double),
        Model("while_loop", WhileLoop(), loops[0].steps[0], cases=loops),
        Model("scan", Scan(), (randn(2, 5, seed=3), randn(6, 2, 3, seed=4))),
        Model("map", Map(), (randn(4, 3, 2, seed=5), randn(2, 5, seed=6))),
    ]
