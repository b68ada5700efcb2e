"""Writes series.h: sums of Chebyshev polynomials for special functions without a short formula.

    python exir/decompose/special/make_series.py > exir/decompose/special/series.h       # needs mpmath

Each series is a smooth function of t in [-1, 1]: a special function without its poles, zeros and
growth, which bessel.cpp adds again. The coefficients are those of the interpolation at Chebyshev
points, computed with 40 digits; trailing coefficients that are negligible are dropped.
"""

import mpmath
from mpmath import mp, mpf

mp.dps = 40


def coefficients(f, points=80):
    """The coefficients of c[0] + c[1] T1(t) + ..., which interpolates f at Chebyshev points."""
    angles = [mp.pi * (k + mpf(1) / 2) / points for k in range(points)]
    values = [f(mp.cos(a)) for a in angles]
    line = [2 * mp.fsum(v * mp.cos(j * a) for v, a in zip(values, angles)) / points
            for j in range(points)]
    line[0] /= 2
    largest = max(abs(c) for c in line)
    while len(line) > 1 and abs(line[-1]) < largest * mpf(2) ** -55:
        line.pop()
    return line


def between(low, high):
    """Maps t in [-1, 1] to x in [low, high]."""
    return lambda t: low + (t + 1) * mpf(high - low) / 2


def near(f, limit):
    """f as a function of x * x, for x up to limit."""
    return lambda t: f(mp.sqrt((t + 1) / 2) * limit)


def far(f, limit):
    """f as a function of limit / x, for x from limit on."""
    return lambda t: f(2 * limit / (t + 1))


def far_square(f, limit):
    """f as a function of (limit / x) squared, for x from limit on."""
    return lambda t: f(limit / mp.sqrt((t + 1) / 2))


def waves(order, limit):
    """The Bessel functions of an order as waves of x - (2 order + 1) pi / 4: their amplitudes."""
    def turned(x):
        angle = x - (2 * order + 1) * mp.pi / 4
        scale = mp.sqrt(mp.pi * x / 2)
        j, y = scale * mp.besselj(order, x), scale * mp.bessely(order, x)
        return j * mp.cos(angle) + y * mp.sin(angle), y * mp.cos(angle) - j * mp.sin(angle)

    return (far_square(lambda x: turned(x)[0], limit),
            far_square(lambda x: turned(x)[1] * x, limit))


def airy_waves(limit):
    """The same for the Airy function of -x, for x from limit on, as a function of (limit / x)^3."""
    def turned(x):
        zeta = 2 * x ** mpf(1.5) / 3
        scale = mp.sqrt(mp.pi) * x ** mpf(0.25)
        a, b = scale * mp.airyai(-x), scale * mp.airybi(-x)
        s, c = mp.sin(zeta + mp.pi / 4), mp.cos(zeta + mp.pi / 4)
        return a * s + b * c, (b * s - a * c) * zeta

    def over(part):
        return lambda t: turned(limit / ((t + 1) / 2) ** (mpf(1) / 3))[part]

    return over(0), over(1)


def tail_of_normal(y):
    """The difference of y - log(y) / y and -ndtri(exp(-y * y / 2)), times y."""
    p = mp.exp(-y * y / 2)
    x = mp.findroot(lambda z: mp.log(mp.erfc(z / mp.sqrt(2)) / 2) - mp.log(p), y - mp.log(y) / y)
    return (y - mp.log(y) / y - x) * y


def centre_of_normal(w):
    return mp.sqrt(2) * mp.erfinv(2 * w) / w


def airy_right(x):
    return mp.airyai(x) * 2 * mp.sqrt(mp.pi) * x ** mpf(0.25) * mp.exp(2 * x ** mpf(1.5) / 3)


def table():
    i, k, j, y = mp.besseli, mp.besselk, mp.besselj, mp.bessely
    yield ("kI0Near", "I0(x) exp(-x), x / 4 - 1",
           lambda t: i(0, between(0, 8)(t)) * mp.exp(-between(0, 8)(t)))
    yield ("kI0Far", "I0(x) exp(-x) sqrt(x), 16 / x - 1",
           far(lambda x: i(0, x) * mp.exp(-x) * mp.sqrt(x), 8))
    yield ("kI1Near", "I1(x) exp(-x) / x, x / 4 - 1",
           lambda t: i(1, between(0, 8)(t)) * mp.exp(-between(0, 8)(t)) / between(0, 8)(t))
    yield ("kI1Far", "I1(x) exp(-x) sqrt(x), 16 / x - 1",
           far(lambda x: i(1, x) * mp.exp(-x) * mp.sqrt(x), 8))
    yield ("kK0Near", "K0(x) + log(x / 2) I0(x), x x / 2 - 1",
           near(lambda x: k(0, x) + mp.log(x / 2) * i(0, x), 2))
    yield ("kK0Far", "K0(x) exp(x) sqrt(x), 4 / x - 1",
           far(lambda x: k(0, x) * mp.exp(x) * mp.sqrt(x), 2))
    yield ("kK1Near", "(K1(x) - log(x / 2) I1(x)) x, x x / 2 - 1",
           near(lambda x: (k(1, x) - mp.log(x / 2) * i(1, x)) * x, 2))
    yield ("kK1Far", "K1(x) exp(x) sqrt(x), 4 / x - 1",
           far(lambda x: k(1, x) * mp.exp(x) * mp.sqrt(x), 2))
    yield "kJ0Near", "J0(x), x x / 32 - 1", near(lambda x: j(0, x), 8)
    yield "kJ1Near", "J1(x) / x, x x / 32 - 1", near(lambda x: j(1, x) / x, 8)
    yield ("kY0Near", "Y0(x) - 2 / pi log(x) J0(x), x x / 32 - 1",
           near(lambda x: y(0, x) - 2 / mp.pi * mp.log(x) * j(0, x), 8))
    yield ("kY1Near", "(Y1(x) - 2 / pi (log(x) J1(x) - 1 / x)) / x, x x / 32 - 1",
           near(lambda x: (y(1, x) - 2 / mp.pi * (mp.log(x) * j(1, x) - 1 / x)) / x, 8))
    for order in (0, 1):
        cosine, sine = waves(order, 8)
        yield f"kWave{order}Cosine", f"of order {order}, 128 / (x x) - 1", cosine
        yield f"kWave{order}Sine", f"of order {order}, times x, 128 / (x x) - 1", sine
    yield "kAiryNear", "Ai(x), (x + 2) / 4", lambda t: mp.airyai(4 * t - 2)
    yield ("kAiryRight", "Ai(x) 2 sqrt(pi) x^(1/4) exp(zeta), 2 (2 / x)^(3/2) - 1",
           lambda t: airy_right(2 / ((t + 1) / 2) ** (mpf(2) / 3)))
    sine, cosine = airy_waves(6)
    yield "kAiryWaveSine", "of Ai(-x), 2 (6 / x)^3 - 1", sine
    yield "kAiryWaveCosine", "of Ai(-x), times zeta, 2 (6 / x)^3 - 1", cosine
    yield ("kErfcx", "exp(x x) erfc(x) (x + 3), 6 / (x + 3) - 1",
           lambda t: (lambda x: mp.exp(x * x) * mp.erfc(x) * (x + 3))(6 / (t + 1) - 3))
    yield ("kNormalCentre", "ndtri(w + 1 / 2) / w, w w / 0.07 - 1",
           lambda t: centre_of_normal(mp.sqrt((t + 1) * mpf("0.07"))))
    yield ("kNormalTail", "of ndtri(exp(-y y / 2)), 6 / y - 2, y of 2 .. 6",
           lambda t: tail_of_normal(6 / (t + 2)))
    yield ("kNormalFarTail", "the same, (240 / y - 23) / 17, y of 6 .. 40",
           lambda t: tail_of_normal(240 / (23 + 17 * t)))


def main():
    print("// Sums of Chebyshev polynomials; generated by make_series.py, which describes them.\n")
    print("#pragma once\n\nnamespace taper::exir::series {\n")
    for name, meaning, f in table():
        line = coefficients(f)
        print(f"// {meaning}\ninline constexpr double {name}[] = {{")
        for c in line:
            print(f"    {mp.nstr(c, 18, min_fixed=1, max_fixed=0)},")
        print("};\n")
    print("}  // namespace taper::exir::series")


if __name__ == "__main__":
    main()
