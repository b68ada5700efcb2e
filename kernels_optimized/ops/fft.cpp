// Fourier transforms of floats and doubles along the last dimension (cores/fft_passes.h), several
// lines at once, with the elements of one place next to each other, so that a vector holds the same
// place of several lines.
//
// A real line of even length is transformed as a complex one of half the length.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>

#include "kernels_optimized/cores/fft_lengths.h"
#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"
#include "kernels_portable/cores/fft.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/fft.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/cores/fft_passes.h"
#include "kernels_optimized/engine/transpose_block.h"

// Shared by all compiled forms: this file is compiled once per instruction set.
#ifndef TAPER_FFT_OPS
#define TAPER_FFT_OPS
namespace taper::optimized {
namespace {

// Which numbers are real.
enum class Kind { kRealToComplex, kComplexToComplex, kComplexToReal };

// A call: `lines` lines of `n` samples, of which `terms` complex terms are given or wanted.
template <typename T>
struct Transform {
  Kind kind;
  bool forward;
  int64_t n, terms;
  int64_t lines = 0;
  int64_t lanes = 1;        // How many lines are transformed at once.
  int64_t chirp_lanes = 0;  // The same, for a large prime; 0 if it is computed by the definition.
  const T* turns = nullptr;
  T scale = 1;
  const T* from = nullptr;
  T* to = nullptr;

  // Real lines of even length are half as many complex numbers.
  bool is_halved() const { return kind != Kind::kComplexToComplex && n % 2 == 0; }
  int64_t length() const { return is_halved() ? n / 2 : n; }
  // The numbers of one plane: one number more than the transform has, for its mirrored spectrum.
  int64_t plane() const { return (length() + 1) * lanes; }
  int64_t scratch() const {
    return 4 * plane() + (chirp_lanes > 0 ? chirp_numbers(length(), chirp_lanes) : 0);
  }
};

}  // namespace
}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

template <typename T>
Planes<T> transformed(const Transform<T>& call, const Chirp<T>& chirp, Planes<T> x, Planes<T> y) {
  return transform(call.length(), call.lanes, call.turns, call.n, chirp, x, y);
}

// The lines that blocks are made of; the others go one by one.
template <typename T>
int64_t lines_in_blocks(const Transform<T>& call, int64_t lines) {
  return std::is_same_v<T, float> ? std::min(lines, call.lanes) / kBlock * kBlock : 0;
}

// Where number `i` of the lines is, which are pairs or, if `step` is 1, real numbers.
template <typename T>
T* place_of(Planes<T> planes, int64_t lanes, int64_t step, int64_t i) {
  return step == 1 ? planes.re + i * lanes : (i % 2 == 0 ? planes.re : planes.im) + i / 2 * lanes;
}

// Reads `count` pairs of each line, or, if `step` is 1, real numbers. Lanes without a line repeat
// the last one.
template <typename T>
void gather(const Transform<T>& call, const T* from, int64_t line_numbers, int64_t lines,
            int64_t count, int64_t step, Planes<T> to) {
  const int64_t in_blocks = lines_in_blocks(call, lines), numbers = count * step;
  const int64_t whole = in_blocks > 0 ? numbers / kBlock * kBlock : 0;
  if constexpr (std::is_same_v<T, float>) {
    for (int64_t i = 0; i < whole; i += kBlock) {
      for (int64_t l = 0; l < in_blocks; l += kBlock) {
        transpose_block([&](int64_t c) { return from + (l + c) * line_numbers + i; },
                        [&](int64_t r) { return place_of(to, call.lanes, step, i + r) + l; });
      }
    }
  }
  for (int64_t l = 0; l < call.lanes; ++l) {
    const T* line = from + std::min(l, lines - 1) * line_numbers;
    for (int64_t i = l < in_blocks ? whole : 0; i < numbers; ++i) {
      place_of(to, call.lanes, step, i)[l] = line[i];
    }
  }
  if (step == 1) std::fill_n(to.im, count * call.lanes, T(0));
}

// Writes `count` pairs of each line, or, if `step` is 1, real parts.
template <typename T>
void scatter(const Transform<T>& call, Planes<T> from, T* to, int64_t line_numbers, int64_t lines,
             int64_t count, int64_t step) {
  if (call.scale != 1) {
    for (T* plane : {from.re, from.im}) {
      for (int64_t i = 0; i < count * call.lanes; ++i) plane[i] *= call.scale;
    }
  }
  const int64_t in_blocks = lines_in_blocks(call, lines), numbers = count * step;
  const int64_t whole = in_blocks > 0 ? numbers / kBlock * kBlock : 0;
  if constexpr (std::is_same_v<T, float>) {
    for (int64_t i = 0; i < whole; i += kBlock) {
      for (int64_t l = 0; l < in_blocks; l += kBlock) {
        transpose_block([&](int64_t c) { return place_of(from, call.lanes, step, i + c) + l; },
                        [&](int64_t r) { return to + (l + r) * line_numbers + i; });
      }
    }
  }
  for (int64_t l = 0; l < lines; ++l) {
    T* line = to + l * line_numbers;
    for (int64_t i = l < in_blocks ? whole : 0; i < numbers; ++i) {
      line[i] = place_of(from, call.lanes, step, i)[l];
    }
  }
}

// The n / 2 + 1 terms of a real line from the transform of its pairs.
template <typename T>
void unpack(const Transform<T>& call, Planes<T> z, Planes<T> to) {
  const int64_t half = call.n / 2, lanes = call.lanes;
  for (int64_t k = 0; k <= half; ++k) {
    const int64_t a = k % half * lanes, b = (half - k) % half * lanes, at = k * lanes;
    const T c = call.turns[2 * k], s = call.turns[2 * k + 1];
    TAPER_INDEPENDENT_LOOP
    for (int64_t l = 0; l < lanes; ++l) {
      const T er = z.re[a + l] + z.re[b + l], ei = z.im[a + l] - z.im[b + l];
      const T dr = z.re[a + l] - z.re[b + l], di = z.im[a + l] + z.im[b + l];
      // Minus i times the difference times e^(-2 pi i k / n).
      to.re[at + l] = T(0.5) * (er + di * c - dr * s);
      to.im[at + l] = T(0.5) * (ei - dr * c - di * s);
    }
  }
}

// The inverse: the transform of the pairs from the terms of a real line. The imaginary parts of the
// first and the last term do not count.
template <typename T>
void pack(const Transform<T>& call, Planes<T> x, Planes<T> to) {
  const int64_t half = call.n / 2, lanes = call.lanes;
  std::fill_n(x.im, lanes, T(0));
  std::fill_n(x.im + half * lanes, lanes, T(0));
  for (int64_t k = 0; k < half; ++k) {
    const int64_t a = k * lanes, b = (half - k) * lanes;
    const T c = call.turns[2 * k], s = call.turns[2 * k + 1];
    TAPER_INDEPENDENT_LOOP
    for (int64_t l = 0; l < lanes; ++l) {
      const T er = x.re[a + l] + x.re[b + l], ei = x.im[a + l] - x.im[b + l];
      const T dr = x.re[a + l] - x.re[b + l], di = x.im[a + l] + x.im[b + l];
      // i times the difference times e^(2 pi i k / n).
      to.re[a + l] = er - (dr * s + di * c);
      to.im[a + l] = ei + (dr * c - di * s);
    }
  }
}

// Fills in the terms above the middle, which mirror those below.
template <typename T>
void mirror(const Transform<T>& call, Planes<T> x) {
  const int64_t lanes = call.lanes;
  for (int64_t k = call.n / 2 + 1; k < call.n; ++k) {
    for (int64_t l = 0; l < lanes; ++l) {
      x.re[k * lanes + l] = x.re[(call.n - k) * lanes + l];
      x.im[k * lanes + l] = -x.im[(call.n - k) * lanes + l];
    }
  }
}

template <typename T>
void real_to_complex(const Transform<T>& call, const Chirp<T>& chirp, int64_t line, int64_t lines,
                     Planes<T> x, Planes<T> y) {
  const T* from = call.from + line * call.n;
  T* to = call.to + line * call.terms * 2;
  gather(call, from, call.n, lines, call.length(), call.is_halved() ? 2 : 1, x);
  Planes<T> z = transformed(call, chirp, x, y);
  if (call.is_halved()) {
    const Planes<T> other = z.re == x.re ? y : x;
    unpack(call, z, other);
    z = other;
  }
  const int64_t known = std::min(call.terms, call.n / 2 + 1);
  scatter(call, z, to, 2 * call.terms, lines, known, 2);
  for (int64_t l = 0; l < lines; ++l) {
    T* terms = to + l * call.terms * 2;
    for (int64_t k = known; k < call.terms; ++k) {
      terms[2 * k] = terms[2 * (call.n - k)];
      terms[2 * k + 1] = -terms[2 * (call.n - k) + 1];
    }
  }
}

// A transform the other way is one with real and imaginary parts exchanged, before and after.
template <typename T>
Planes<T> exchanged(Planes<T> x) {
  return {x.im, x.re};
}

template <typename T>
void complex_to_complex(const Transform<T>& call, const Chirp<T>& chirp, int64_t line,
                        int64_t lines, Planes<T> x, Planes<T> y) {
  gather(call, call.from + line * call.n * 2, 2 * call.n, lines, call.n, 2, x);
  const Planes<T> z = call.forward
                          ? transformed(call, chirp, x, y)
                          : exchanged(transformed(call, chirp, exchanged(x), exchanged(y)));
  scatter(call, z, call.to + line * call.n * 2, 2 * call.n, lines, call.n, 2);
}

template <typename T>
void complex_to_real(const Transform<T>& call, const Chirp<T>& chirp, int64_t line, int64_t lines,
                     Planes<T> x, Planes<T> y) {
  gather(call, call.from + line * call.terms * 2, 2 * call.terms, lines, call.terms, 2, x);
  if (call.is_halved()) {
    pack(call, x, y);
    std::swap(x, y);
  } else {
    std::fill_n(x.im, call.lanes, T(0));
    mirror(call, x);
  }
  const Planes<T> z = exchanged(transformed(call, chirp, exchanged(x), exchanged(y)));
  const bool in_pairs = call.is_halved();
  scatter(call, z, call.to + line * call.n, call.n, lines, call.length(), in_pairs ? 2 : 1);
}

template <typename T>
void run(const Transform<T>& call, int64_t first, int64_t last, float* scratch) {
  const int64_t plane = call.plane();
  T* at = reinterpret_cast<T*>(scratch);
  const Planes<T> x = {at, at + plane}, y = {at + 2 * plane, at + 3 * plane};
  Chirp<T> chirp;
  if (call.chirp_lanes > 0) {
    chirp = make_chirp(call.length(), call.chirp_lanes, call.turns, call.n, at + 4 * plane);
  }
  const auto step = call.kind == Kind::kRealToComplex      ? real_to_complex<T>
                    : call.kind == Kind::kComplexToComplex ? complex_to_complex<T>
                                                           : complex_to_real<T>;
  for (int64_t block = first; block < last; ++block) {
    const int64_t line = block * call.lanes;
    step(call, chirp, line, std::min(call.lanes, call.lines - line), x, y);
  }
}

void run_floats(const Transform<float>& call, int64_t first, int64_t last, float* scratch) {
  run(call, first, last, scratch);
}
void run_doubles(const Transform<double>& call, int64_t first, int64_t last, float* scratch) {
  run(call, first, last, scratch);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

template <typename T>
using Form = void (*)(const Transform<T>&, int64_t, int64_t, float*);

template <typename T>
Form<T> form_of() {
  if constexpr (std::is_same_v<T, float>) {
    return TAPER_CHOOSE(Form<float>, run_floats);
  } else {
    return TAPER_CHOOSE(Form<double>, run_doubles);
  }
}

constexpr int64_t kMostLanes = 16;
constexpr int64_t kScratch = int64_t{64} << 10;        // Floats that the L2 cache holds with ease.
constexpr int64_t kChirpScratch = int64_t{256} << 10;  // Few lines cost more than a miss.

// As many lines of `floats` floats at once as there are and as `room` holds.
int64_t lanes_for(int64_t lines, int64_t floats, int64_t room) {
  int64_t lanes = 1;
  while (lanes < kMostLanes && lanes < lines && 8 * lanes * floats <= room) lanes *= 2;
  return lanes;
}

// Transforms the lines of `self`, whose sizes are checked, into `out`, which is resized.
template <typename T>
bool compute_as(KernelContext& context, Transform<T> call, const Tensor& self, const Tensor& turns,
                double scale, const Tensor& out) {
  const Form<T> form = form_of<T>();
  if (form == nullptr) return false;
  call.turns = turns.const_data_ptr<T>();
  call.scale = static_cast<T>(scale);
  call.from = self.const_data_ptr<T>();
  call.to = out.mutable_data_ptr<T>();
  call.lines = self.numel() / (call.kind == Kind::kRealToComplex ? call.n : 2 * call.terms);
  constexpr int64_t kFloats = sizeof(T) / sizeof(float);
  call.lanes = lanes_for(call.lines, call.length() * kFloats, kScratch);
  if (const int64_t prime = large_prime_of(call.length())) {
    const int64_t lines = call.lanes * call.length() / prime;
    call.chirp_lanes = lanes_for(lines, padded_length(prime) * kFloats, kChirpScratch);
  }
  const int64_t blocks = (call.lines + call.lanes - 1) / call.lanes;
  int64_t passes = 2;
  for (int64_t n = call.length(); n > 1; n /= 4) ++passes;
  for (;; call.chirp_lanes /= 2) {  // Fewer lines at once, or none, need less memory.
    std::atomic<bool> done{true};
    for_parts_with_scratch(context, blocks, call.length() * call.lanes * passes,
                           call.scratch() * kFloats,
                           [&](int64_t first, int64_t last, Span<float> scratch) {
                             if (scratch.size() == 0) {
                               done = false;
                             } else {
                               form(call, first, last, scratch.data());
                             }
                           });
    if (done || call.chirp_lanes == 0) return done;
  }
}

bool compute(KernelContext& context, const Transform<float>& call, const Tensor& self,
             const Tensor& turns, double scale, const Tensor& out) {
  if (are_float(self)) return compute_as(context, call, self, turns, scale, out);
  return compute_as(context, Transform<double>{call.kind, call.forward, call.n, call.terms}, self,
                    turns, scale, out);
}

// Whether the operands are as the operator's description says; portable kernels report what is
// wrong. `n` is the number of samples.
bool fits(const Tensor& self, const Tensor& turns, int64_t n, const Tensor& out) {
  const ScalarType type = self.scalar_type();
  return (type == ScalarType::kFloat || type == ScalarType::kDouble) &&
         turns.scalar_type() == type && out.scalar_type() == type && self.is_contiguous() &&
         out.is_contiguous() && turns.is_contiguous() && self.numel() != 0 && n > 0 &&
         turns.dim() == 2 && turns.size(0) == n && turns.size(1) == 2;
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
