// Fourier transforms of numbers in two planes, by Stockham's algorithm: for each factor r of the
// length one pass from one buffer to another, which needs no reordering. A place holds the numbers
// of several lines, next to each other, at first, and ever longer runs of them after each pass. A
// last factor that is a large prime is done by Bluestein's algorithm, as a convolution.

#if defined(TAPER_FFT_PASSES_FORM) == defined(HWY_TARGET_TOGGLE)
#ifdef TAPER_FFT_PASSES_FORM
#undef TAPER_FFT_PASSES_FORM
#else
#define TAPER_FFT_PASSES_FORM
#endif

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "hwy/highway.h"
#include "kernels_optimized/cores/fft_lengths.h"
#include "kernels_optimized/engine/dispatch.h"
#include "kernels_portable/engine/elementwise.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

// Complex numbers in two planes.
template <typename T>
struct Planes {
  T* re = nullptr;
  T* im = nullptr;
};
template <typename T>
struct Root {
  T re, im;
};

// One pass: with n = r * m numbers left, the r inputs of a butterfly are m places apart and its
// results lie next to each other. A place is a run of `s` numbers.
template <typename T>
struct Pass {
  int64_t m, s;
  const T* turns;
  int64_t count;   // Of turns.
  int64_t stride;  // From one power of the n-th root of unity to the next.

  // e^(-2 pi i k / n), for k below n. The sign makes the transform a forward one.
  Root<T> root(int64_t k) const {
    const T* turn = turns + 2 * k * stride;
    return {turn[0], -turn[1]};
  }
  // e^(2 pi i k / r), for any k.
  Root<T> part(int64_t k, int64_t r) const {
    const T* turn = turns + 2 * (k * (count / r) % count);
    return {turn[0], turn[1]};
  }
};

template <typename T>
void pass_of_two(const Pass<T>& pass, Planes<T> x, Planes<T> y) {
  const int64_t s = pass.s, apart = pass.m * s;
  for (int64_t p = 0; p < pass.m; ++p) {
    const Root<T> w = pass.root(p);
    const T *HWY_RESTRICT xr = x.re + p * s, *HWY_RESTRICT xi = x.im + p * s;
    T *HWY_RESTRICT yr = y.re + 2 * p * s, *HWY_RESTRICT yi = y.im + 2 * p * s;
    TAPER_INDEPENDENT_LOOP
    for (int64_t q = 0; q < s; ++q) {
      const T dr = xr[q] - xr[q + apart], di = xi[q] - xi[q + apart];
      yr[q] = xr[q] + xr[q + apart];
      yi[q] = xi[q] + xi[q + apart];
      yr[q + s] = dr * w.re - di * w.im;
      yi[q + s] = dr * w.im + di * w.re;
    }
  }
}

template <typename T>
void pass_of_four(const Pass<T>& pass, Planes<T> x, Planes<T> y) {
  const int64_t s = pass.s, apart = pass.m * s;
  for (int64_t p = 0; p < pass.m; ++p) {
    const Root<T> w1 = pass.root(p), w2 = pass.root(2 * p), w3 = pass.root(3 * p);
    const T *HWY_RESTRICT xr = x.re + p * s, *HWY_RESTRICT xi = x.im + p * s;
    T *HWY_RESTRICT yr = y.re + 4 * p * s, *HWY_RESTRICT yi = y.im + 4 * p * s;
    TAPER_INDEPENDENT_LOOP
    for (int64_t q = 0; q < s; ++q) {
      const int64_t q1 = q + apart, q2 = q1 + apart, q3 = q2 + apart;
      const T ar = xr[q] + xr[q2], ai = xi[q] + xi[q2];
      const T br = xr[q] - xr[q2], bi = xi[q] - xi[q2];
      const T cr = xr[q1] + xr[q3], ci = xi[q1] + xi[q3];
      const T dr = xi[q1] - xi[q3], di = xr[q3] - xr[q1];  // -i times the difference.
      const T er = br + dr, ei = bi + di;
      const T fr = ar - cr, fi = ai - ci;
      const T gr = br - dr, gi = bi - di;
      yr[q] = ar + cr;
      yi[q] = ai + ci;
      yr[q + s] = er * w1.re - ei * w1.im;
      yi[q + s] = er * w1.im + ei * w1.re;
      yr[q + 2 * s] = fr * w2.re - fi * w2.im;
      yi[q + 2 * s] = fr * w2.im + fi * w2.re;
      yr[q + 3 * s] = gr * w3.re - gi * w3.im;
      yi[q + 3 * s] = gr * w3.im + gi * w3.re;
    }
  }
}

// The first result of a butterfly is the sum of its inputs.
template <typename T>
void add_inputs(const Pass<T>& pass, int64_t r, const T* x, T* y) {
  std::copy_n(x, pass.s, y);
  for (int64_t j = 1; j < r; ++j) {
    const T* HWY_RESTRICT input = x + j * pass.m * pass.s;
    TAPER_INDEPENDENT_LOOP
    for (int64_t q = 0; q < pass.s; ++q) y[q] += input[q];
  }
}

// An odd factor. Inputs j and r - j give results k and r - k:
//
//   a = x[0] + sum of (x[j] + x[r - j]) cos(2 pi j k / r)
//   b = sum of (x[j] - x[r - j]) sin(2 pi j k / r)           y[k] = a - i b   y[r - k] = a + i b
template <int kFactor, typename T>
void pass_of_odd(const Pass<T>& pass, Planes<T> x, Planes<T> y) {
  constexpr int kHalf = kFactor / 2;
  const int64_t s = pass.s, apart = pass.m * s;
  for (int64_t p = 0; p < pass.m; ++p) {
    const T *HWY_RESTRICT xr = x.re + p * s, *HWY_RESTRICT xi = x.im + p * s;
    T *HWY_RESTRICT yr = y.re + kFactor * p * s, *HWY_RESTRICT yi = y.im + kFactor * p * s;
    add_inputs(pass, kFactor, xr, yr);
    add_inputs(pass, kFactor, xi, yi);
    for (int64_t k = 1; k <= kHalf; ++k) {
      Root<T> parts[kHalf];
      for (int64_t j = 0; j < kHalf; ++j) parts[j] = pass.part((j + 1) * k, kFactor);
      const Root<T> w = pass.root(p * k), v = pass.root(p * (kFactor - k));
      TAPER_INDEPENDENT_LOOP
      for (int64_t q = 0; q < s; ++q) {
        T ar = xr[q], ai = xi[q], br = 0, bi = 0;
        for (int64_t j = 0; j < kHalf; ++j) {
          const int64_t left = q + (j + 1) * apart, right = q + (kFactor - j - 1) * apart;
          ar += (xr[left] + xr[right]) * parts[j].re;
          ai += (xi[left] + xi[right]) * parts[j].re;
          br += (xr[left] - xr[right]) * parts[j].im;
          bi += (xi[left] - xi[right]) * parts[j].im;
        }
        const T er = ar + bi, ei = ai - br, fr = ar - bi, fi = ai + br;
        yr[q + k * s] = er * w.re - ei * w.im;
        yi[q + k * s] = er * w.im + ei * w.re;
        yr[q + (kFactor - k) * s] = fr * v.re - fi * v.im;
        yi[q + (kFactor - k) * s] = fr * v.im + fi * v.re;
      }
    }
  }
}

// The same for a factor that is known at run time only: a and b are summed up where y[k] and
// y[r - k] will be.
template <typename T>
void pass_of_any(const Pass<T>& pass, int64_t r, Planes<T> x, Planes<T> y) {
  const int64_t s = pass.s, apart = pass.m * s;
  for (int64_t p = 0; p < pass.m; ++p) {
    const T *HWY_RESTRICT xr = x.re + p * s, *HWY_RESTRICT xi = x.im + p * s;
    add_inputs(pass, r, xr, y.re + r * p * s);
    add_inputs(pass, r, xi, y.im + r * p * s);
    for (int64_t k = 1; k <= r / 2; ++k) {
      T *HWY_RESTRICT ar = y.re + (r * p + k) * s, *HWY_RESTRICT ai = y.im + (r * p + k) * s;
      T* HWY_RESTRICT br = y.re + (r * p + r - k) * s;
      T* HWY_RESTRICT bi = y.im + (r * p + r - k) * s;
      std::copy_n(xr, s, ar);
      std::copy_n(xi, s, ai);
      std::fill_n(br, s, T(0));
      std::fill_n(bi, s, T(0));
      for (int64_t j = 1; j <= r / 2; ++j) {
        const Root<T> part = pass.part(j * k, r);
        TAPER_INDEPENDENT_LOOP
        for (int64_t q = 0; q < s; ++q) {
          const int64_t left = q + j * apart, right = q + (r - j) * apart;
          ar[q] += (xr[left] + xr[right]) * part.re;
          ai[q] += (xi[left] + xi[right]) * part.re;
          br[q] += (xr[left] - xr[right]) * part.im;
          bi[q] += (xi[left] - xi[right]) * part.im;
        }
      }
      const Root<T> w = pass.root(p * k), v = pass.root(p * (r - k));
      TAPER_INDEPENDENT_LOOP
      for (int64_t q = 0; q < s; ++q) {
        const T er = ar[q] + bi[q], ei = ai[q] - br[q];
        const T fr = ar[q] - bi[q], fi = ai[q] + br[q];
        ar[q] = er * w.re - ei * w.im;
        ai[q] = er * w.im + ei * w.re;
        br[q] = fr * v.re - fi * v.im;
        bi[q] = fr * v.im + fi * v.re;
      }
    }
  }
}

// What Bluestein's algorithm needs for one prime r: the table of a transform of length `padded`,
// the transform of its filter, and two buffers for `lanes` lines.
template <typename T>
struct Chirp {
  int64_t padded = 0, lanes = 0;
  T* turns = nullptr;
  Planes<T> filter, x, y;
};

// Transforms `x`, forward. `turns` is a table of `count` turns, a multiple of `length`. Returns
// where the result is: in one of the two.
template <typename T>
Planes<T> transform(int64_t length, int64_t lanes, const T* turns, int64_t count,
                    const Chirp<T>& chirp, Planes<T> x, Planes<T> y);

// Multiplies line l of place j of `from`, at from[j * stride + l], by chirp(j). `to` may be `from`.
template <typename T, typename ChirpOf>
void modulate(Planes<T> from, int64_t from_stride, int64_t places, int64_t lines, Planes<T> to,
              int64_t to_stride, ChirpOf chirp) {
  for (int64_t j = 0; j < places; ++j) {
    const Root<T> c = chirp(j);
    const T *xr = from.re + j * from_stride, *xi = from.im + j * from_stride;
    T *yr = to.re + j * to_stride, *yi = to.im + j * to_stride;
    TAPER_INDEPENDENT_LOOP
    for (int64_t l = 0; l < lines; ++l) {
      const T re = xr[l] * c.re - xi[l] * c.im, im = xr[l] * c.im + xi[l] * c.re;
      yr[l] = re;
      yi[l] = im;
    }
  }
}

// The place in a table of r turns of e^(2 pi i j^2 / 2 r): half of j^2 modulo the odd number r.
inline int64_t chirp_place(int64_t j, int64_t r) { return j * j % r * ((r + 1) / 2) % r; }

// A prime that is the last factor, by Bluestein's algorithm: as 2 j k = j^2 + k^2 - (k - j)^2, the
// transform is a convolution with a chirp, between two products with its conjugate.
template <typename T>
void pass_of_prime(const Pass<T>& pass, int64_t r, const Chirp<T>& chirp, Planes<T> x,
                   Planes<T> y) {
  const auto conjugate_chirp = [&](int64_t j) {
    const Root<T> c = pass.part(chirp_place(j, r), r);
    return Root<T>{c.re, -c.im};
  };
  const Chirp<T> none;
  for (int64_t first = 0; first < pass.s; first += chirp.lanes) {
    const int64_t lines = std::min(chirp.lanes, pass.s - first), padded = chirp.padded;
    const Planes<T> from = {x.re + first, x.im + first}, to = {y.re + first, y.im + first};
    modulate(from, pass.s, r, lines, chirp.x, lines, conjugate_chirp);
    std::fill_n(chirp.x.re + r * lines, (padded - r) * lines, T(0));
    std::fill_n(chirp.x.im + r * lines, (padded - r) * lines, T(0));
    const Planes<T> z = transform(padded, lines, chirp.turns, padded, none, chirp.x, chirp.y);
    const Planes<T> other = z.re == chirp.x.re ? chirp.y : chirp.x;
    modulate(z, lines, padded, lines, z, lines, [&](int64_t j) {
      return Root<T>{chirp.filter.re[j], chirp.filter.im[j]};
    });
    // The transform the other way: real and imaginary parts are exchanged, before and after.
    const Planes<T> back =
        transform<T>(padded, lines, chirp.turns, padded, none, {z.im, z.re}, {other.im, other.re});
    modulate<T>({back.im, back.re}, lines, r, lines, to, pass.s, conjugate_chirp);
  }
}

template <typename T>
Planes<T> transform(int64_t length, int64_t lanes, const T* turns, int64_t count,
                    const Chirp<T>& chirp, Planes<T> x, Planes<T> y) {
  int64_t n = length, s = lanes;
  while (n > 1) {
    const int64_t r = factor_of(n);
    const Pass<T> pass = {n / r, s, turns, count, count / n};
    if (r == 4) {
      pass_of_four(pass, x, y);
    } else if (r == 2) {
      pass_of_two(pass, x, y);
    } else if (r == 3) {
      pass_of_odd<3>(pass, x, y);
    } else if (r == 5) {
      pass_of_odd<5>(pass, x, y);
    } else if (r == 7) {
      pass_of_odd<7>(pass, x, y);
    } else if (r == n && chirp.padded != 0) {
      pass_of_prime(pass, r, chirp, x, y);
    } else {
      pass_of_any(pass, r, x, y);
    }
    std::swap(x, y);
    n /= r;
    s *= r;
  }
  return x;
}

// The cosine and the sine of 2 pi k / n, in double precision except for the result; the C library
// is asked for every 32nd.
template <typename T>
void fill_turns(int64_t n, T* turns) {
  constexpr int64_t kStep = 32;
  const double angle = 6.283185307179586 / static_cast<double>(n);
  double cosines[kStep], sines[kStep];
  for (int64_t k = 0; k < kStep; ++k) {
    cosines[k] = std::cos(angle * static_cast<double>(k));
    sines[k] = std::sin(angle * static_cast<double>(k));
  }
  for (int64_t first = 0; first < n; first += kStep) {
    const double c = std::cos(angle * static_cast<double>(first));
    const double s = std::sin(angle * static_cast<double>(first));
    for (int64_t k = 0; k < std::min(kStep, n - first); ++k) {
      turns[2 * (first + k)] = static_cast<T>(c * cosines[k] - s * sines[k]);
      turns[2 * (first + k) + 1] = static_cast<T>(c * sines[k] + s * cosines[k]);
    }
  }
}

// Lays out and fills a chirp for `length`, whose table of turns is given. `memory` has
// chirp_numbers() numbers.
template <typename T>
Chirp<T> make_chirp(int64_t length, int64_t lanes, const T* turns, int64_t count, T* memory) {
  const int64_t r = large_prime_of(length);
  Chirp<T> chirp;
  if (r == 0) return chirp;
  const int64_t padded = padded_length(r), plane = padded * lanes;
  chirp.padded = padded;
  chirp.lanes = lanes;
  chirp.turns = memory;
  T* at = memory + 2 * padded;
  const Planes<T> filter = {at, at + padded};
  at += 2 * padded;
  chirp.x = {at, at + plane};
  chirp.y = {at + 2 * plane, at + 3 * plane};
  fill_turns(padded, chirp.turns);
  const Pass<T> pass = {1, 1, turns, count, 1};
  const T scale = T(1) / static_cast<T>(padded);
  std::fill_n(chirp.x.re, padded, T(0));
  std::fill_n(chirp.x.im, padded, T(0));
  for (int64_t j = 0; j < r; ++j) {
    const Root<T> c = pass.part(chirp_place(j, r), r);
    for (const int64_t k : {j, (padded - j) % padded}) {
      chirp.x.re[k] = c.re * scale;
      chirp.x.im[k] = c.im * scale;
    }
  }
  const Planes<T> z = transform<T>(padded, 1, chirp.turns, padded, Chirp<T>(), chirp.x, chirp.y);
  std::copy_n(z.re, padded, filter.re);
  std::copy_n(z.im, padded, filter.im);
  chirp.filter = filter;
  return chirp;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#endif  // Once per instruction set.
