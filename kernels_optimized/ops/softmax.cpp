// _softmax and _log_softmax of contiguous floats along any dimension, in three passes: the maximum;
// the sum of e^(x - max), whose terms softmax keeps; the results. Lines across memory are computed
// a few vectors of neighbours at a time.

#include "kernels_optimized/cores/softmax.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>

#include "kernels_optimized/cores/convert.h"
#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"
#include "kernels_portable/engine/dims.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/softmax.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vector_math.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

constexpr float kNothing = -std::numeric_limits<float>::infinity();

// The largest element. NaN may be ignored: its exponential makes the sum NaN.
float largest(const float* x, int64_t count) {
  Vec max[4];
  for (Vec& each : max) each = constant(kNothing);
  int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
    TAPER_UNROLL
    for (int j = 0; j < 4; ++j) max[j] = hn::Max(max[j], hn::LoadU(kTag, x + i + j * kLanes));
  }
  for (; i + kLanes <= count; i += kLanes) max[0] = hn::Max(max[0], hn::LoadU(kTag, x + i));
  if (i < count) {
    const auto there = hn::FirstN(kTag, static_cast<size_t>(count - i));
    max[1] = hn::Max(max[1], hn::IfThenElse(there, load_some(x + i, count - i), max[1]));
  }
  return max_of(hn::Max(hn::Max(max[0], max[1]), hn::Max(max[2], max[3])));
}

// The sum of e^(x - max) over a block; the terms are written to `out` unless it is null.
float add_exponentials(const float* x, int64_t count, float max, float* out) {
  const Vec shift = constant(max);
  Vec sum = hn::Zero(kTag);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    const Vec term = exp_of(hn::Sub(hn::LoadU(kTag, x + i), shift));
    sum = hn::Add(sum, term);
    if (out != nullptr) hn::StoreU(term, kTag, out + i);
  }
  if (i < count) {
    const auto there = hn::FirstN(kTag, static_cast<size_t>(count - i));
    const Vec term = exp_of(hn::Sub(load_some(x + i, count - i), shift));
    sum = hn::Add(sum, hn::IfThenElseZero(there, term));
    if (out != nullptr) store_some(term, out + i, count - i);
  }
  return sum_of(sum);
}

// out = x * scale + shift
void scale_line(const float* x, int64_t count, float scale, float shift, float* out) {
  const Vec a = constant(scale), b = constant(shift);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    hn::StoreU(hn::MulAdd(hn::LoadU(kTag, x + i), a, b), kTag, out + i);
  }
  if (i < count) {
    store_some(hn::MulAdd(load_some(x + i, count - i), a, b), out + i, count - i);
  }
}

// out = (x - max) - shift, in this order: max may be infinite.
void subtract_line(const float* x, int64_t count, float max, float shift, float* out) {
  const Vec a = constant(max), b = constant(shift);
  int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    hn::StoreU(hn::Sub(hn::Sub(hn::LoadU(kTag, x + i), a), b), kTag, out + i);
  }
  if (i < count) {
    store_some(hn::Sub(hn::Sub(load_some(x + i, count - i), a), b), out + i, count - i);
  }
}

// The sum of e^(x - max) over a line; the terms are written to `out` unless it is null.
double sum_of_line(const float* x, int64_t count, float max, float* out) {
  constexpr int64_t kBlock = 2048;  // Blocks are summed in float, their sums in double.
  double sum = 0;
  for (int64_t i = 0; i < count; i += kBlock) {
    float* const kept = out != nullptr ? out + i : nullptr;
    sum += static_cast<double>(add_exponentials(x + i, std::min(kBlock, count - i), max, kept));
  }
  return sum;
}

void softmax_line(const float* x, int64_t count, bool logarithm, float* out) {
  const float max = largest(x, count);
  const double sum = sum_of_line(x, count, max, logarithm ? nullptr : out);
  if (logarithm) return subtract_line(x, count, max, static_cast<float>(std::log(sum)), out);
  scale_line(out, count, static_cast<float>(1 / sum), 0, out);
}

// Computes kVectors vectors of neighbouring lines, whose elements are `step` apart, or, unless
// kWhole, the first `count` lines of one vector.
template <int kVectors, bool kWhole>
void softmax_across(const float* x, int64_t size, int64_t step, int64_t count, bool logarithm,
                    float* out) {
  static_assert(kWhole || kVectors == 1, "only one vector has lines that are left out");
  const auto read = [count](const float* from) HWY_ATTR {
    return kWhole ? hn::LoadU(kTag, from) : load_some(from, count);
  };
  const auto write = [count](Vec value, float* to) HWY_ATTR {
    kWhole ? hn::StoreU(value, kTag, to) : store_some(value, to, count);
  };
  Vec max[kVectors], sum[kVectors];
  for (int j = 0; j < kVectors; ++j) {
    max[j] = constant(kNothing);
    sum[j] = hn::Zero(kTag);
  }
  for (int64_t i = 0; i < size; ++i) {
    for (int j = 0; j < kVectors; ++j) {
      max[j] = hn::Max(max[j], read(x + i * step + j * kLanes));
    }
  }
  for (int64_t i = 0; i < size; ++i) {
    for (int j = 0; j < kVectors; ++j) {
      const int64_t at = i * step + j * kLanes;
      const Vec term = exp_of(hn::Sub(read(x + at), max[j]));
      sum[j] = hn::Add(sum[j], term);
      if (!logarithm) write(term, out + at);
    }
  }
  for (int j = 0; j < kVectors; ++j) {
    HWY_ALIGN float sums[kLanes];
    hn::Store(sum[j], kTag, sums);
    for (float& each : sums) each = logarithm ? std::log(each) : 1 / each;
    sum[j] = hn::Load(kTag, sums);
  }
  for (int64_t i = 0; i < size; ++i) {
    for (int j = 0; j < kVectors; ++j) {
      const int64_t at = i * step + j * kLanes;
      const Vec result = logarithm ? hn::Sub(hn::Sub(read(x + at), max[j]), sum[j])
                                   : hn::Mul(read(out + at), sum[j]);
      write(result, out + at);
    }
  }
}

// Calls each(at, count) for vectors of whole rows of a block of `all` elements.
template <typename Each>
HWY_INLINE void for_row_vectors(int64_t all, int64_t width, const Each& each) {
  for (int64_t at = 0; at < all; at += width) each(at, std::min(width, all - at));
}

// Combines lanes that stand for the same line, of `inner` lines side by side, and repeats the
// results.
template <typename Combine>
HWY_INLINE Vec fold_rows(Vec rows, int64_t inner, int64_t width, const Combine& combine) {
  HWY_ALIGN float lanes[kLanes];
  hn::Store(rows, kTag, lanes);
  for (int64_t i = inner; i < width; ++i) lanes[i % inner] = combine(lanes[i % inner], lanes[i]);
  for (int64_t i = inner; i < width; ++i) lanes[i] = lanes[i - inner];
  return hn::Load(kTag, lanes);
}

// Few lines side by side: a vector holds several elements of each.
void softmax_of_few(const float* x, int64_t size, int64_t inner, bool logarithm, float* out) {
  const int64_t all = size * inner, width = kLanes / inner * inner;
  const auto there = [](int64_t count) { return hn::FirstN(kTag, static_cast<size_t>(count)); };
  Vec max = constant(kNothing), sum = hn::Zero(kTag);
  for_row_vectors(all, width, [&](int64_t at, int64_t count) HWY_ATTR {
    max = hn::Max(max, hn::IfThenElse(there(count), load_count(x + at, count), max));
  });
  max = fold_rows(max, inner, width, [](float a, float b) { return std::max(a, b); });
  for_row_vectors(all, width, [&](int64_t at, int64_t count) HWY_ATTR {
    const Vec term = exp_of(hn::Sub(load_count(x + at, count), max));
    sum = hn::Add(sum, hn::IfThenElseZero(there(count), term));
    if (!logarithm) store_count(term, out + at, count);
  });
  sum = fold_rows(sum, inner, width, [](float a, float b) { return a + b; });
  HWY_ALIGN float sums[kLanes];
  hn::Store(sum, kTag, sums);
  for (float& each : sums) each = logarithm ? std::log(each) : 1 / each;
  const Vec by = hn::Load(kTag, sums);
  for_row_vectors(all, width, [&](int64_t at, int64_t count) HWY_ATTR {
    const Vec result = logarithm ? hn::Sub(hn::Sub(load_count(x + at, count), max), by)
                                 : hn::Mul(load_count(out + at, count), by);
    store_count(result, out + at, count);
  });
}

}  // namespace

float softmax_terms_form(float* x, int64_t count) {
  return static_cast<float>(sum_of_line(x, count, largest(x, count), x));
}

// Computes lines [first, last) of the `inner` lines of each outer index of [outer, size, inner].
void softmax_form(const float* x, const portable::AroundDim& around, int64_t first, int64_t last,
                  bool logarithm, float* out) {
  const int64_t size = around.size, inner = around.inner, block = size * inner;
  for (int64_t o = 0; o < around.outer; ++o, x += block, out += block) {
    if (inner == 1) {
      softmax_line(x, size, logarithm, out);
      continue;
    }
    if (first == 0 && last == inner && 2 * inner <= kLanes) {
      softmax_of_few(x, size, inner, logarithm, out);
      continue;
    }
    int64_t i = first;
    for (; i + 4 * kLanes <= last; i += 4 * kLanes) {
      softmax_across<4, true>(x + i, size, inner, kLanes, logarithm, out + i);
    }
    for (; i + kLanes <= last; i += kLanes) {
      softmax_across<1, true>(x + i, size, inner, kLanes, logarithm, out + i);
    }
    if (i < last) softmax_across<1, false>(x + i, size, inner, last - i, logarithm, out + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = void (*)(const float*, const portable::AroundDim&, int64_t, int64_t, bool, float*);

// Lines of 16-bit floats along the last dimension: each is widened and rounded once.
bool narrow_softmax(KernelContext& context, const Tensor& self, int64_t dim, bool logarithm,
                    Tensor& out) {
  const ScalarType type = self.scalar_type();
  const Form form = TAPER_CHOOSE(Form, softmax_form);
  const Convert convert = find_narrow_convert(type);
  if (form == nullptr || convert == nullptr || out.scalar_type() != type || self.numel() == 0 ||
      !self.is_contiguous() || !out.is_contiguous() ||
      !portable::wrap_dim(dim, self.dim(), &dim).ok() || dim != self.dim() - 1 ||
      !out.resize(self.sizes()).ok()) {
    return false;
  }
  const int64_t size = self.size(dim);
  const auto* x = static_cast<const uint16_t*>(self.const_data());
  auto* y = static_cast<uint16_t*>(out.mutable_data());
  std::atomic<bool> done{true};
  for_parts_with_scratch(context, self.numel() / size, size * kExponentialWork, size,
                         [&](int64_t begin, int64_t end, Span<float> line) {
                           if (line.size() == 0) done = false;
                           for (int64_t i = begin; i < end && done; ++i) {
                             convert(type, ScalarType::kFloat, x + i * size, line.data(), 0, size);
                             form(line.data(), {1, size, 1}, 0, 1, logarithm, line.data());
                             convert(ScalarType::kFloat, type, line.data(), y + i * size, 0, size);
                           }
                         });
  return done;
}

template <bool kLogarithm>
bool fast_softmax(KernelContext& context, const Tensor& self, int64_t dim, bool, Tensor& out) {
  if (self.dim() > 0 && !are_float(self)) {
    return narrow_softmax(context, self, dim, kLogarithm, out);
  }
  if (!are_float(self, out) || !self.is_contiguous() || !out.is_contiguous() ||
      !portable::wrap_dim(dim, self.dim(), &dim).ok() || !out.resize(self.sizes()).ok()) {
    return false;
  }
  if (self.numel() == 0) return true;
  const Form form = TAPER_CHOOSE(Form, softmax_form);
  if (form == nullptr) return false;
  const portable::AroundDim around = portable::around_dim(self, dim);
  const int64_t block = around.size * around.inner;
  const float* x = self.const_data_ptr<float>();
  float* y = out.mutable_data_ptr<float>();
  if (around.outer == 1 && around.inner > 1) {
    for_parts(context.pool(), around.inner, around.size * kExponentialWork, kLineFloats,
              [&](int64_t begin, int64_t end) { form(x, around, begin, end, kLogarithm, y); });
    return true;
  }
  for_parts(context.pool(), around.outer, block * kExponentialWork, 1,
            [&](int64_t begin, int64_t end) {
              form(x + begin * block, {end - begin, around.size, around.inner}, 0, around.inner,
                   kLogarithm, y + begin * block);
            });
  return true;
}

}  // namespace

bool softmax(const float* x, const portable::AroundDim& around, bool logarithm, float* out) {
  const Form form = TAPER_CHOOSE(Form, softmax_form);
  if (form != nullptr) form(x, around, 0, around.inner, logarithm, out);
  return form != nullptr;
}

bool softmax_part(const float* x, const portable::AroundDim& around, int64_t first, int64_t last,
                  float* out) {
  const Form form = TAPER_CHOOSE(Form, softmax_form);
  if (form != nullptr) form(x, around, first, last, false, out);
  return form != nullptr;
}

float softmax_terms(float* x, int64_t count) {
  using Terms = float (*)(float*, int64_t);
  return TAPER_CHOOSE(Terms, softmax_terms_form)(x, count);
}

extern const Kernel kSoftmaxOut, kLogSoftmaxOut;
const Kernel kSoftmaxOut =
    overlay<fast_softmax<false>, portable::kSoftmaxOut>("aten::_softmax.out");
const Kernel kLogSoftmaxOut =
    overlay<fast_softmax<true>, portable::kLogSoftmaxOut>("aten::_log_softmax.out");

}  // namespace taper::optimized
#endif  // HWY_ONCE
