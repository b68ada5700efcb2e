// Fourier transforms along the last dimension, by Stockham's algorithm: for each factor r of the
// length one pass from one buffer to another, which needs no reordering. Several lines are
// transformed at once, with the elements of one place next to each other, so that a vector holds
// the same place of several lines at first, and ever longer runs of places after each pass.
//
// A real line of even length is transformed as a complex one of half the length.

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"
#include "kernels_portable/cores/fft.h"
#include "kernels_portable/engine/elementwise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/fft.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

// Shared by all compiled forms: this file is compiled once per instruction set.
#ifndef TAPER_FFT_OPS
#define TAPER_FFT_OPS
namespace taper::optimized {
namespace {

// Which numbers are real.
enum class Kind { kRealToComplex, kComplexToComplex, kComplexToReal };

// A call: `lines` lines of `n` samples, of which `terms` complex terms are given or wanted.
struct Transform {
  Kind kind;
  bool forward;
  int64_t n, terms;
  int64_t lines = 0;
  int64_t lanes = 1;  // How many lines are transformed at once.
  const float* turns = nullptr;
  float scale = 1;
  const float* from = nullptr;
  float* to = nullptr;

  // Real lines of even length are half as many complex numbers.
  bool is_halved() const { return kind != Kind::kComplexToComplex && n % 2 == 0; }
  int64_t length() const { return is_halved() ? n / 2 : n; }
  // The floats of one plane: one number more than the transform has, for its mirrored spectrum.
  int64_t plane() const { return (length() + 1) * lanes; }
  int64_t scratch() const { return 4 * plane(); }
};

}  // namespace
}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

// Complex numbers in two planes.
struct Planes {
  float* re;
  float* im;
};
struct Root {
  float re, im;
};

// One pass: with n = r * m numbers left, the r inputs of a butterfly are m places apart and its
// results lie next to each other. A place is a run of `s` numbers.
struct Pass {
  int64_t m, s;
  const float* turns;
  int64_t count;   // Of turns.
  int64_t stride;  // From one power of the n-th root of unity to the next.

  // e^(-2 pi i k / n), for k below n. The sign makes the transform a forward one.
  Root root(int64_t k) const {
    const float* turn = turns + 2 * k * stride;
    return {turn[0], -turn[1]};
  }
  // e^(2 pi i k / r), for any k.
  Root part(int64_t k, int64_t r) const {
    const float* turn = turns + 2 * (k * (count / r) % count);
    return {turn[0], turn[1]};
  }
};

void pass_of_two(const Pass& pass, Planes x, Planes y) {
  const int64_t s = pass.s, apart = pass.m * s;
  for (int64_t p = 0; p < pass.m; ++p) {
    const Root w = pass.root(p);
    const float *HWY_RESTRICT xr = x.re + p * s, *HWY_RESTRICT xi = x.im + p * s;
    float *HWY_RESTRICT yr = y.re + 2 * p * s, *HWY_RESTRICT yi = y.im + 2 * p * s;
    TAPER_INDEPENDENT_LOOP
    for (int64_t q = 0; q < s; ++q) {
      const float dr = xr[q] - xr[q + apart], di = xi[q] - xi[q + apart];
      yr[q] = xr[q] + xr[q + apart];
      yi[q] = xi[q] + xi[q + apart];
      yr[q + s] = dr * w.re - di * w.im;
      yi[q + s] = dr * w.im + di * w.re;
    }
  }
}

void pass_of_four(const Pass& pass, Planes x, Planes y) {
  const int64_t s = pass.s, apart = pass.m * s;
  for (int64_t p = 0; p < pass.m; ++p) {
    const Root w1 = pass.root(p), w2 = pass.root(2 * p), w3 = pass.root(3 * p);
    const float *HWY_RESTRICT xr = x.re + p * s, *HWY_RESTRICT xi = x.im + p * s;
    float *HWY_RESTRICT yr = y.re + 4 * p * s, *HWY_RESTRICT yi = y.im + 4 * p * s;
    TAPER_INDEPENDENT_LOOP
    for (int64_t q = 0; q < s; ++q) {
      const int64_t q1 = q + apart, q2 = q1 + apart, q3 = q2 + apart;
      const float ar = xr[q] + xr[q2], ai = xi[q] + xi[q2];
      const float br = xr[q] - xr[q2], bi = xi[q] - xi[q2];
      const float cr = xr[q1] + xr[q3], ci = xi[q1] + xi[q3];
      const float dr = xi[q1] - xi[q3], di = xr[q3] - xr[q1];  // -i times the difference.
      const float er = br + dr, ei = bi + di;
      const float fr = ar - cr, fi = ai - ci;
      const float gr = br - dr, gi = bi - di;
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
void add_inputs(const Pass& pass, int64_t r, const float* x, float* y) {
  std::copy_n(x, pass.s, y);
  for (int64_t j = 1; j < r; ++j) {
    const float* HWY_RESTRICT input = x + j * pass.m * pass.s;
    TAPER_INDEPENDENT_LOOP
    for (int64_t q = 0; q < pass.s; ++q) y[q] += input[q];
  }
}

// An odd factor. Inputs j and r - j give results k and r - k:
//
//   a = x[0] + sum of (x[j] + x[r - j]) cos(2 pi j k / r)
//   b = sum of (x[j] - x[r - j]) sin(2 pi j k / r)           y[k] = a - i b   y[r - k] = a + i b
template <int kFactor>
void pass_of_odd(const Pass& pass, Planes x, Planes y) {
  constexpr int kHalf = kFactor / 2;
  const int64_t s = pass.s, apart = pass.m * s;
  for (int64_t p = 0; p < pass.m; ++p) {
    const float *HWY_RESTRICT xr = x.re + p * s, *HWY_RESTRICT xi = x.im + p * s;
    float *HWY_RESTRICT yr = y.re + kFactor * p * s, *HWY_RESTRICT yi = y.im + kFactor * p * s;
    add_inputs(pass, kFactor, xr, yr);
    add_inputs(pass, kFactor, xi, yi);
    for (int64_t k = 1; k <= kHalf; ++k) {
      Root parts[kHalf];
      for (int64_t j = 0; j < kHalf; ++j) parts[j] = pass.part((j + 1) * k, kFactor);
      const Root w = pass.root(p * k), v = pass.root(p * (kFactor - k));
      TAPER_INDEPENDENT_LOOP
      for (int64_t q = 0; q < s; ++q) {
        float ar = xr[q], ai = xi[q], br = 0, bi = 0;
        for (int64_t j = 0; j < kHalf; ++j) {
          const int64_t left = q + (j + 1) * apart, right = q + (kFactor - j - 1) * apart;
          ar += (xr[left] + xr[right]) * parts[j].re;
          ai += (xi[left] + xi[right]) * parts[j].re;
          br += (xr[left] - xr[right]) * parts[j].im;
          bi += (xi[left] - xi[right]) * parts[j].im;
        }
        const float er = ar + bi, ei = ai - br, fr = ar - bi, fi = ai + br;
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
void pass_of_any(const Pass& pass, int64_t r, Planes x, Planes y) {
  const int64_t s = pass.s, apart = pass.m * s;
  for (int64_t p = 0; p < pass.m; ++p) {
    const float *HWY_RESTRICT xr = x.re + p * s, *HWY_RESTRICT xi = x.im + p * s;
    add_inputs(pass, r, xr, y.re + r * p * s);
    add_inputs(pass, r, xi, y.im + r * p * s);
    for (int64_t k = 1; k <= r / 2; ++k) {
      float *HWY_RESTRICT ar = y.re + (r * p + k) * s, *HWY_RESTRICT ai = y.im + (r * p + k) * s;
      float* HWY_RESTRICT br = y.re + (r * p + r - k) * s;
      float* HWY_RESTRICT bi = y.im + (r * p + r - k) * s;
      std::copy_n(xr, s, ar);
      std::copy_n(xi, s, ai);
      std::fill_n(br, s, 0.0f);
      std::fill_n(bi, s, 0.0f);
      for (int64_t j = 1; j <= r / 2; ++j) {
        const Root part = pass.part(j * k, r);
        TAPER_INDEPENDENT_LOOP
        for (int64_t q = 0; q < s; ++q) {
          const int64_t left = q + j * apart, right = q + (r - j) * apart;
          ar[q] += (xr[left] + xr[right]) * part.re;
          ai[q] += (xi[left] + xi[right]) * part.re;
          br[q] += (xr[left] - xr[right]) * part.im;
          bi[q] += (xi[left] - xi[right]) * part.im;
        }
      }
      const Root w = pass.root(p * k), v = pass.root(p * (r - k));
      TAPER_INDEPENDENT_LOOP
      for (int64_t q = 0; q < s; ++q) {
        const float er = ar[q] + bi[q], ei = ai[q] - br[q];
        const float fr = ar[q] - bi[q], fi = ai[q] + br[q];
        ar[q] = er * w.re - ei * w.im;
        ai[q] = er * w.im + ei * w.re;
        br[q] = fr * v.re - fi * v.im;
        bi[q] = fr * v.im + fi * v.re;
      }
    }
  }
}

int64_t factor_of(int64_t n) {
  if (n % 4 == 0) return 4;
  if (n % 2 == 0) return 2;
  for (int64_t r = 3; r * r <= n; r += 2) {
    if (n % r == 0) return r;
  }
  return n;
}

// Transforms `x`, forward. Returns where the result is: in one of the two.
Planes transform(const Transform& call, Planes x, Planes y) {
  int64_t n = call.length(), s = call.lanes;
  while (n > 1) {
    const int64_t r = factor_of(n);
    const Pass pass = {n / r, s, call.turns, call.n, call.n / n};
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
    } else {
      pass_of_any(pass, r, x, y);
    }
    std::swap(x, y);
    n /= r;
    s *= r;
  }
  return x;
}

// Reads `count` pairs of each line, or, if `step` is 1, real numbers.
void gather(const Transform& call, const float* from, int64_t line_floats, int64_t lines,
            int64_t count, int64_t step, Planes to) {
  for (int64_t l = 0; l < call.lanes; ++l) {
    const float* line = from + std::min(l, lines - 1) * line_floats;
    for (int64_t j = 0; j < count; ++j) {
      to.re[j * call.lanes + l] = line[step * j];
      to.im[j * call.lanes + l] = step == 2 ? line[2 * j + 1] : 0;
    }
  }
}

// Writes `count` pairs of each line, or, if `step` is 1, real parts.
void scatter(const Transform& call, Planes from, float* to, int64_t line_floats, int64_t lines,
             int64_t count, int64_t step) {
  for (int64_t l = 0; l < lines; ++l) {
    float* line = to + l * line_floats;
    for (int64_t j = 0; j < count; ++j) {
      line[step * j] = from.re[j * call.lanes + l] * call.scale;
      if (step == 2) line[2 * j + 1] = from.im[j * call.lanes + l] * call.scale;
    }
  }
}

// The n / 2 + 1 terms of a real line from the transform of its pairs.
void unpack(const Transform& call, Planes z, Planes to) {
  const int64_t half = call.n / 2, lanes = call.lanes;
  for (int64_t k = 0; k <= half; ++k) {
    const int64_t a = k % half * lanes, b = (half - k) % half * lanes, at = k * lanes;
    const float c = call.turns[2 * k], s = call.turns[2 * k + 1];
    TAPER_INDEPENDENT_LOOP
    for (int64_t l = 0; l < lanes; ++l) {
      const float er = z.re[a + l] + z.re[b + l], ei = z.im[a + l] - z.im[b + l];
      const float dr = z.re[a + l] - z.re[b + l], di = z.im[a + l] + z.im[b + l];
      // Minus i times the difference times e^(-2 pi i k / n).
      to.re[at + l] = 0.5f * (er + di * c - dr * s);
      to.im[at + l] = 0.5f * (ei - dr * c - di * s);
    }
  }
}

// The inverse: the transform of the pairs from the terms of a real line. The imaginary parts of the
// first and the last term do not count.
void pack(const Transform& call, Planes x, Planes to) {
  const int64_t half = call.n / 2, lanes = call.lanes;
  std::fill_n(x.im, lanes, 0.0f);
  std::fill_n(x.im + half * lanes, lanes, 0.0f);
  for (int64_t k = 0; k < half; ++k) {
    const int64_t a = k * lanes, b = (half - k) * lanes;
    const float c = call.turns[2 * k], s = call.turns[2 * k + 1];
    TAPER_INDEPENDENT_LOOP
    for (int64_t l = 0; l < lanes; ++l) {
      const float er = x.re[a + l] + x.re[b + l], ei = x.im[a + l] - x.im[b + l];
      const float dr = x.re[a + l] - x.re[b + l], di = x.im[a + l] + x.im[b + l];
      // i times the difference times e^(2 pi i k / n).
      to.re[a + l] = er - (dr * s + di * c);
      to.im[a + l] = ei + (dr * c - di * s);
    }
  }
}

// Fills in the terms above the middle, which mirror those below.
void mirror(const Transform& call, Planes x) {
  const int64_t lanes = call.lanes;
  for (int64_t k = call.n / 2 + 1; k < call.n; ++k) {
    for (int64_t l = 0; l < lanes; ++l) {
      x.re[k * lanes + l] = x.re[(call.n - k) * lanes + l];
      x.im[k * lanes + l] = -x.im[(call.n - k) * lanes + l];
    }
  }
}

void real_to_complex(const Transform& call, int64_t line, int64_t lines, Planes x, Planes y) {
  const float* from = call.from + line * call.n;
  float* to = call.to + line * call.terms * 2;
  gather(call, from, call.n, lines, call.length(), call.is_halved() ? 2 : 1, x);
  Planes z = transform(call, x, y);
  if (call.is_halved()) {
    const Planes other = z.re == x.re ? y : x;
    unpack(call, z, other);
    z = other;
  }
  const int64_t known = std::min(call.terms, call.n / 2 + 1);
  scatter(call, z, to, 2 * call.terms, lines, known, 2);
  for (int64_t l = 0; l < lines; ++l) {
    float* terms = to + l * call.terms * 2;
    for (int64_t k = known; k < call.terms; ++k) {
      terms[2 * k] = terms[2 * (call.n - k)];
      terms[2 * k + 1] = -terms[2 * (call.n - k) + 1];
    }
  }
}

// A transform the other way is one with real and imaginary parts exchanged, before and after.
Planes exchanged(Planes x) { return {x.im, x.re}; }

void complex_to_complex(const Transform& call, int64_t line, int64_t lines, Planes x, Planes y) {
  gather(call, call.from + line * call.n * 2, 2 * call.n, lines, call.n, 2, x);
  const Planes z =
      call.forward ? transform(call, x, y) : exchanged(transform(call, exchanged(x), exchanged(y)));
  scatter(call, z, call.to + line * call.n * 2, 2 * call.n, lines, call.n, 2);
}

void complex_to_real(const Transform& call, int64_t line, int64_t lines, Planes x, Planes y) {
  gather(call, call.from + line * call.terms * 2, 2 * call.terms, lines, call.terms, 2, x);
  if (call.is_halved()) {
    pack(call, x, y);
    std::swap(x, y);
  } else {
    std::fill_n(x.im, call.lanes, 0.0f);
    mirror(call, x);
  }
  const Planes z = exchanged(transform(call, exchanged(x), exchanged(y)));
  const bool in_pairs = call.is_halved();
  scatter(call, z, call.to + line * call.n, call.n, lines, call.length(), in_pairs ? 2 : 1);
}

void run(const Transform& call, int64_t first, int64_t last, float* scratch) {
  const int64_t plane = call.plane();
  const Planes x = {scratch, scratch + plane}, y = {scratch + 2 * plane, scratch + 3 * plane};
  const auto step = call.kind == Kind::kRealToComplex      ? real_to_complex
                    : call.kind == Kind::kComplexToComplex ? complex_to_complex
                                                           : complex_to_real;
  for (int64_t block = first; block < last; ++block) {
    const int64_t line = block * call.lanes;
    step(call, line, std::min(call.lanes, call.lines - line), x, y);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = void (*)(const Transform&, int64_t, int64_t, float*);

constexpr int64_t kMostLanes = 16;
constexpr int64_t kScratch = int64_t{64} << 10;  // Floats that the L2 cache holds with ease.

// As many lines at once as there are and as the cache holds.
int64_t lanes_for(const Transform& call) {
  int64_t lanes = 1;
  while (lanes < kMostLanes && lanes < call.lines && 8 * lanes * call.length() <= kScratch) {
    lanes *= 2;
  }
  return lanes;
}

// Transforms the lines of `self`, whose sizes are checked, into `out`, which is resized.
bool compute(KernelContext& context, Transform call, const Tensor& self, const Tensor& turns,
             double scale, const Tensor& out) {
  const Form form = TAPER_CHOOSE(Form, run);
  if (form == nullptr) return false;
  call.turns = turns.const_data_ptr<float>();
  call.scale = static_cast<float>(scale);
  call.from = self.const_data_ptr<float>();
  call.to = out.mutable_data_ptr<float>();
  call.lines = self.numel() / (call.kind == Kind::kRealToComplex ? call.n : 2 * call.terms);
  call.lanes = lanes_for(call);
  const int64_t blocks = (call.lines + call.lanes - 1) / call.lanes;
  int64_t passes = 2;
  for (int64_t n = call.length(); n > 1; n /= 4) ++passes;
  std::atomic<bool> done{true};
  for_parts_with_scratch(context, blocks, call.length() * call.lanes * passes, call.scratch(),
                         [&](int64_t first, int64_t last, Span<float> scratch) {
                           if (scratch.size() == 0) {
                             done = false;
                           } else {
                             form(call, first, last, scratch.data());
                           }
                         });
  return done;
}

// Whether the operands are as the operator's description says; portable kernels report what is
// wrong. `n` is the number of samples.
bool fits(const Tensor& self, const Tensor& turns, int64_t n, const Tensor& out) {
  return are_float(self, turns, out) && self.is_contiguous() && out.is_contiguous() &&
         turns.is_contiguous() && self.numel() != 0 && n > 0 && turns.dim() == 2 &&
         turns.size(0) == n && turns.size(1) == 2;
}

bool holds_pairs(const Tensor& self) { return self.dim() >= 2 && self.size(self.dim() - 1) == 2; }

bool fast_r2c(KernelContext& context, const Tensor& self, const Tensor& turns, bool onesided,
              double scale, Tensor& out) {
  const int64_t axis = self.dim() - 1;
  if (axis < 0 || out.dim() != axis + 2 || !fits(self, turns, self.size(axis), out)) return false;
  const int64_t n = self.size(axis), terms = onesided ? n / 2 + 1 : n;
  portable::Sizes sizes = portable::sizes_before(self, axis);
  sizes.push(terms);
  sizes.push(2);
  return out.resize(sizes).ok() &&
         compute(context, {Kind::kRealToComplex, true, n, terms}, self, turns, scale, out);
}

bool fast_c2c(KernelContext& context, const Tensor& self, const Tensor& turns, bool forward,
              double scale, Tensor& out) {
  if (!holds_pairs(self)) return false;
  const int64_t n = self.size(self.dim() - 2);
  return fits(self, turns, n, out) && out.resize(self.sizes()).ok() &&
         compute(context, {Kind::kComplexToComplex, forward, n, n}, self, turns, scale, out);
}

bool fast_c2r(KernelContext& context, const Tensor& self, const Tensor& turns, double scale,
              Tensor& out) {
  if (!holds_pairs(self) || turns.dim() != 2 || out.dim() != self.dim() - 1) return false;
  const int64_t axis = self.dim() - 2, n = turns.size(0), terms = n / 2 + 1;
  if (self.size(axis) != terms || !fits(self, turns, n, out)) return false;
  portable::Sizes sizes = portable::sizes_before(self, axis);
  sizes.push(n);
  return out.resize(sizes).ok() &&
         compute(context, {Kind::kComplexToReal, false, n, terms}, self, turns, scale, out);
}

}  // namespace

extern const Kernel kFftC2cPairsOut, kFftC2rPairsOut, kFftR2cPairsOut;
const Kernel kFftC2cPairsOut = overlay<fast_c2c, portable::kFftC2cPairsOut>("taper::fft_c2c.out");
const Kernel kFftC2rPairsOut = overlay<fast_c2r, portable::kFftC2rPairsOut>("taper::fft_c2r.out");
const Kernel kFftR2cPairsOut = overlay<fast_r2c, portable::kFftR2cPairsOut>("taper::fft_r2c.out");

}  // namespace taper::optimized
#endif  // HWY_ONCE
