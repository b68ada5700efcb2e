"""Operators of torch.ops.prims, which run_decompositions() with other tables than its own writes,
and the attention that it leaves whole then.
"""

import torch
from torch import nn

from model import Model, randint, randn

prims = torch.ops.prims

ONE = """bessel_i0 bessel_i0e bessel_i1 bessel_i1e bessel_j0 bessel_j1 erf_inv erfcx exp ndtri neg
reciprocal round sign spherical_bessel_j0 sqrt tanh""".split()
TWO = "add atan2 div fmax hypot mul pow sub zeta".split()
OF_INTEGERS = "bitwise_and div remainder shift_left shift_right_arithmetic".split()
COMPARISONS = "ge lt ne".split()


def together(parts):
    return torch.cat([part.flatten() for part in parts])


class Primitives(nn.Module):
    def forward(self, x, y, i, k):
        numbers = [getattr(prims, name)(x) for name in ONE]
        numbers += [getattr(prims, name)(x, y) for name in TWO]
        integers = [getattr(prims, name)(i, k) for name in OF_INTEGERS]
        integers += [prims.bitwise_not(i), prims.convert_element_type(x * 9, torch.int64)]
        choices = [getattr(prims, name)(i, k) for name in COMPARISONS]
        choices += [prims.isfinite(x / (i - 2)), prims.where(i > k, i, k) > 2]
        return together(numbers), together(integers), together(choices)


class Shapes(nn.Module):
    def forward(self, x):
        cpu = torch.device("cpu")
        wide = prims.broadcast_in_dim(x, [2, 3, 5, 4], [1, 3])
        line = prims.iota(
            4, start=3, step=-2, dtype=torch.int64, device=cpu, requires_grad=False
        )
        full = prims.full([3, 4], 1.5, dtype=torch.float32, device=cpu, requires_grad=False)
        like = prims.full_like(x, 2, dtype=torch.int64, device=cpu, requires_grad=False)
        moved = [
            prims.cat([prims.transpose(x, [1, 0]), prims.transpose(full, [1, 0])], 1),
            prims.rev(prims.split_dim(x, 1, 2), [0, 2]),
            prims.collapse_view(full, 0, 1),
            prims.collapse(wide, 0, 1),
            prims.squeeze(prims.reshape(x, [3, 1, 4]), [1]),
            prims.as_strided(prims.clone(x), [2, 3], [1, 4], 1),
            prims.view_of(x),
            prims.device_put(x, cpu),
            prims.where(x > 0, x, full),
        ]
        sums = [
            prims.sum(wide, [0, 2]),
            prims.amax(wide, [1, 3]),
            prims.amin(wide, [3]),
            prims.prod(x, [0, 1]),
            prims.var(wide, [0, 1], 1),
        ]
        return together(moved), together(sums), together([line, like])


class Attention(nn.Module):
    def forward(self, q, k, v, mask):
        flash = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
        masked = flash(q, k, v, attn_mask=mask, scale=0.3)
        plain = flash(q, k, v, 0.0, True)
        return masked[0], plain[0], plain[1]


def models(full):
    x = randn(3, 4, seed=1).abs() * 0.3 + 0.2
    y = randn(3, 4, seed=2).abs() + 1.5
    i, k = randint(5, 3, 4, seed=3), randint(4, 3, 4, seed=4) + 1
    heads = [randn(2, 3, 6, 8, seed=s) for s in (5, 6, 7)]
    return [
        Model("primitives", Primitives(), (x, y, i, k), scale=10),
        Model("primitive_shapes", Shapes(), (randn(3, 4, seed=8),)),
        Model("flash_attention", Attention(), (*heads, randn(6, 6, seed=9))),
    ]
