"""Special functions, parts of numbers, LU and QR factorisations, histograms, complex numbers."""

import torch
from torch import nn
from torch.nn import functional as F

from model import Case, Model, randint, randn

LINE = torch.tensor([-30.0, -9.5, -3.1, -1.0, -0.3, 0.0, 0.2, 1.0, 2.4, 7.9, 8.5, 41.0])


class Special(nn.Module):
    """Inputs on both sides of each point where a function changes its formula."""

    def forward(self, x):
        s, a = torch.special, x.abs()
        waves = (s.bessel_j0(x), s.bessel_j1(x), s.bessel_y0(a), s.bessel_y1(a), s.airy_ai(x))
        grown = (s.i0e(x), s.i1e(x), s.i0(x / 4), s.i1(x / 4), s.spherical_bessel_j0(x))
        fallen = (s.scaled_modified_bessel_k0(a), s.scaled_modified_bessel_k1(a))
        fallen += (s.modified_bessel_k0(a), s.modified_bessel_k1(a))
        normal = (s.erfcx(x / 8), s.log_ndtr(x), s.ndtri(torch.sigmoid(x)), s.ndtri(a / 50))
        return waves + grown + fallen + normal


class Gamma(nn.Module):
    def forward(self, x, order):
        s, a = torch.special, x.abs()
        sums = (s.zeta(a + 1.1, a + 0.1), s.zeta(3, x + 0.3), s.zeta(2.0 + order, x + 0.6))
        slopes = tuple(s.polygamma(n, x + 0.4) for n in (0, 1, 2, 5))
        parts = (s.gammainc(a, a.flip(0)), s.gammaincc(a, a.flip(0)), s.gammainc(300 * a, 299 * a))
        u = x / 25
        climbs = (s.hermite_polynomial_h(u, order), s.hermite_polynomial_he(u, 7))
        climbs += (s.laguerre_polynomial_l(u, order), s.legendre_polynomial_p(u, 6))
        turns = (s.chebyshev_polynomial_t(u, order), s.chebyshev_polynomial_u(u, 9))
        turns += (s.chebyshev_polynomial_v(u, order), s.chebyshev_polynomial_w(u, 3))
        turns += (s.shifted_chebyshev_polynomial_t(u, 5),)
        return sums + slopes + parts + climbs + turns


class Parts(nn.Module):
    """gcd, frexp, nextafter; bins, segment reductions and random pooling windows."""

    def forward(self, i, j, x, image, drawn):
        counts = torch.bincount(i.flatten(), minlength=4)
        torch._check(counts.shape[0] <= 64)
        lengths = torch.tensor([2, 0, 1])
        kinds = ("sum", "mean", "max", "min", "prod")
        segments = tuple(torch.segment_reduce(x, k, lengths=lengths, initial=0.5) for k in kinds)
        bins = (*torch.histogram(x, 4, range=(-2.0, 2.0)), torch.mode(x.round(), 1)[1])
        pooled = F.fractional_max_pool2d(
            image, 2, output_size=(2, 3), return_indices=True, _random_samples=drawn
        )
        rest = (torch.kaiser_window(5), torch.fft.fftfreq(5, 0.5), F.pad(x, (-1, 2), "circular"))
        numbers = (torch.gcd(i, j), torch.lcm(i, j), *torch.frexp(x), torch.nextafter(x, -x))
        return numbers + (counts,) + segments + bins + tuple(pooled) + rest


class Lu(nn.Module):
    def forward(self, a, b, tall):
        lu, pivots, info = torch.linalg.lu_factor_ex(a)
        solve = torch.linalg.lu_solve
        solved = (solve(lu, pivots, b), solve(lu, pivots, b, adjoint=True))
        solved += (solve(lu, pivots, b.mT, left=False), torch.linalg.solve(a[0], b))
        r, tau = torch.geqrf(tall)
        q = torch.linalg.householder_product(r, tau)
        turned = torch.ormqr(r, tau, b[0], transpose=True)
        return (lu, pivots, info, *torch.linalg.lu(tall), *solved, r, tau, q, turned)


class Complex(nn.Module):
    """Functions of complex numbers, complex scalar arguments, a layer with complex weights."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 3, dtype=torch.cfloat)

    def forward(self, a, b):
        z = torch.complex(a, b)
        functions = (z.log(), z.sqrt(), z.sin(), z.cos(), z.sinh(), z.cosh(), (9 * z).tanh())
        powers = (z.sgn(), z.square(), z**3, z**-0.5, 0.1j * z + (1 - 2j), z / (1 + 1j))
        places = torch.arange(4.0)
        turns = torch.exp(-0.5j * torch.pi * places[:, None] * places)
        return [torch.view_as_real(y) for y in (*functions, *powers, self.layer(z), z @ turns)]


def models(full):
    orders = torch.tensor([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 2])
    parts = (
        randint(30, 2, 6, seed=61),
        randint(30, 2, 6, seed=62),
        randn(3, 6, seed=63),
        randn(1, 2, 7, 8, seed=64),
        torch.tensor([[[0.2, 0.9], [0.5, 0.1]]]),
    )
    more = (parts[0] // 5, *parts[1:])
    lu = (randn(2, 4, 4, seed=65), randn(2, 4, 3, seed=66), randn(4, 3, seed=67))
    return [
        Model("special", Special(), (LINE,), decomposed=True),
        Model("gamma", Gamma(), (LINE / 4, orders)),
        Model(
            "parts", Parts(), parts, cases=[Case("parts", [parts]), Case("parts_fewer", [more])]
        ),
        Model("lu", Lu(), lu, decomposed=True),
        Model("complex", Complex(), (randn(3, 4, seed=68), randn(3, 4, seed=69)), decomposed=True),
    ]
