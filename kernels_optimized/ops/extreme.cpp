// argmax, argmin, max and min of contiguous floats along a dimension. Unless it is the last, lines
// lie across memory, and a few vectors of neighbouring lines are computed at a time. Of equal
// elements the first is found; NaN is more extreme than any number.

#include "kernels_portable/engine/extreme.h"

#include <algorithm>
#include <type_traits>

#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/extreme.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vectors.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

using portable::Extreme;

const hn::RebindToSigned<Tag> kInts;

template <Extreme kExtreme>
HWY_INLINE auto improves(Vec x, Vec best) {
  const auto worse = kExtreme == Extreme::kMax ? hn::Le(x, best) : hn::Ge(x, best);
  return hn::Not(hn::Or(worse, hn::IsNaN(best)));
}

// Computes kVectors vectors of neighbouring lines, `count` lines in all; the elements of a line are
// `step` apart.
template <Extreme kExtreme, int kVectors>
void find_across(const float* x, int64_t size, int64_t step, int64_t count, float* values,
                 int64_t* indices) {
  Vec best[kVectors];
  hn::Vec<decltype(kInts)> where[kVectors];
  const auto load = [=](const float* from, int j) HWY_ATTR {
    return kVectors == 1 ? load_count(from, count) : hn::LoadU(kTag, from + j * kLanes);
  };
  for (int j = 0; j < kVectors; ++j) {
    best[j] = load(x, j);
    where[j] = hn::Zero(kInts);
  }
  for (int64_t i = 1; i < size; ++i) {
    const auto index = hn::Set(kInts, static_cast<int32_t>(i));
    for (int j = 0; j < kVectors; ++j) {
      const Vec other = load(x + i * step, j);
      const auto better = improves<kExtreme>(other, best[j]);
      best[j] = hn::IfThenElse(better, other, best[j]);
      where[j] = hn::IfThenElse(hn::RebindMask(kInts, better), index, where[j]);
    }
  }
  for (int j = 0; j < kVectors; ++j) {
    const int64_t first = j * kLanes;
    HWY_ALIGN int32_t lanes[kLanes];
    hn::Store(where[j], kInts, lanes);
    for (int64_t i = 0; i < kLanes && first + i < count; ++i) indices[first + i] = lanes[i];
    if (values != nullptr) store_count(best[j], values + first, count - first);
  }
}

template <Extreme kExtreme>
HWY_INLINE Vec better(Vec a, Vec b) {
  return kExtreme == Extreme::kMax ? hn::Max(a, b) : hn::Min(a, b);
}

// The index of the most extreme element of a contiguous line: its value is found first, then where
// it is. The last vector may hold elements of the one before it; that of a short line is filled up
// with its first element, which cannot be taken for another.
template <Extreme kExtreme>
int64_t find_along(const float* x, int64_t size) {
  const auto load = [=](int64_t i) HWY_ATTR {
    if (size >= kLanes) return hn::LoadU(kTag, x + std::min(i, size - kLanes));
    const auto there = hn::FirstN(kTag, static_cast<size_t>(size));
    return hn::IfThenElse(there, load_some(x, size), hn::Set(kTag, x[0]));
  };
  Vec best[4];
  for (Vec& vec : best) vec = load(0);
  auto no_number = hn::IsNaN(best[0]);
  const auto see = [&](Vec next, Vec* so_far) HWY_ATTR {
    no_number = hn::Or(no_number, hn::IsNaN(next));
    *so_far = better<kExtreme>(*so_far, next);
  };
  int64_t i = kLanes;
  for (; i + 4 * kLanes <= size; i += 4 * kLanes) {
    TAPER_UNROLL
    for (int j = 0; j < 4; ++j) see(hn::LoadU(kTag, x + i + j * kLanes), &best[j]);
  }
  for (; i < size; i += kLanes) see(load(i), &best[0]);
  const Vec one =
      better<kExtreme>(better<kExtreme>(best[0], best[1]), better<kExtreme>(best[2], best[3]));
  const Vec extreme =
      kExtreme == Extreme::kMax ? hn::MaxOfLanes(kTag, one) : hn::MinOfLanes(kTag, one);
  const bool is_nan = !hn::AllFalse(kTag, no_number);  // The first that is not a number counts.
  for (int64_t first = 0;; first += kLanes) {
    const Vec some = load(first);
    const auto found = is_nan ? hn::IsNaN(some) : hn::Eq(some, extreme);
    const auto lane = static_cast<int64_t>(hn::FindFirstTrue(kTag, found));
    if (lane >= 0) return std::max<int64_t>(0, std::min(first, size - kLanes)) + lane;
  }
}

template <Extreme kExtreme>
void run(const float* x, const portable::AroundDim& around, float* values, int64_t* indices) {
  const int64_t size = around.size, inner = around.inner;
  for (int64_t o = 0; inner == 1 && o < around.outer; ++o, x += size) {
    indices[o] = find_along<kExtreme>(x, size);
    if (values != nullptr) values[o] = x[indices[o]];
  }
  if (inner == 1) return;
  for (int64_t o = 0; o < around.outer; ++o, x += size * inner) {
    int64_t i = 0;
    const auto next = [&](auto vectors, int64_t count) {
      const int64_t at = o * inner + i;
      find_across<kExtreme, decltype(vectors)::value>(
          x + i, size, inner, count, values == nullptr ? nullptr : values + at, indices + at);
      i += count;
    };
    while (i + 4 * kLanes <= inner) next(std::integral_constant<int, 4>(), 4 * kLanes);
    while (i < inner) next(std::integral_constant<int, 1>(), std::min(kLanes, inner - i));
  }
}

}  // namespace

void extreme_form(Extreme extreme, const float* x, const portable::AroundDim& around, float* values,
                  int64_t* indices) {
  if (extreme == Extreme::kMax) return run<Extreme::kMax>(x, around, values, indices);
  run<Extreme::kMin>(x, around, values, indices);
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using portable::Extreme;
using Form = void (*)(Extreme, const float*, const portable::AroundDim&, float*, int64_t*);

bool find(const KernelContext& context, Extreme extreme, const Tensor& self, int64_t dim,
          bool keepdim, Tensor* values, Tensor& indices) {
  const Form form = TAPER_CHOOSE(Form, extreme_form);
  if (form == nullptr || !are_float(self) || (values != nullptr && !are_float(*values)) ||
      indices.scalar_type() != ScalarType::kLong || !self.is_contiguous() ||
      !indices.is_contiguous() || (values != nullptr && !values->is_contiguous()) ||
      self.numel() == 0 || !portable::wrap_dim(dim, self.dim(), &dim).ok()) {
    return false;
  }
  const portable::AroundDim around = portable::around_dim(self, dim);
  const portable::Sizes sizes = portable::reduced_sizes(self, portable::DimMask{1} << dim, keepdim);
  if (around.size > INT32_MAX || !indices.resize(sizes).ok() ||
      (values != nullptr && !values->resize(sizes).ok())) {
    return false;
  }
  const float* x = self.const_data_ptr<float>();
  float* to = values != nullptr ? values->mutable_data_ptr<float>() : nullptr;
  auto* at = indices.mutable_data_ptr<int64_t>();
  const int64_t block = around.size * around.inner;
  for_parts(context.pool(), around.outer, block, 1, [&](int64_t begin, int64_t end) {
    form(extreme, x + begin * block, {end - begin, around.size, around.inner},
         to == nullptr ? nullptr : to + begin * around.inner, at + begin * around.inner);
  });
  return true;
}

template <Extreme kExtreme>
bool fast_index(KernelContext& context, const Tensor& self, std::optional<int64_t> dim,
                bool keepdim, Tensor& out) {
  return dim.has_value() && find(context, kExtreme, self, *dim, keepdim, nullptr, out);
}

template <Extreme kExtreme>
bool fast_both(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim,
               Tensor& values, Tensor& indices) {
  return find(context, kExtreme, self, dim, keepdim, &values, indices);
}

}  // namespace

extern const Kernel kArgmaxOut, kArgminOut, kMaxDimMax, kMinDimMin;
const Kernel kArgmaxOut =
    overlay<fast_index<Extreme::kMax>, portable::kArgmaxOut>("aten::argmax.out");
const Kernel kArgminOut =
    overlay<fast_index<Extreme::kMin>, portable::kArgminOut>("aten::argmin.out");
const Kernel kMaxDimMax =
    overlay<fast_both<Extreme::kMax>, portable::kMaxDimMax>("aten::max.dim_max");
const Kernel kMinDimMin =
    overlay<fast_both<Extreme::kMin>, portable::kMinDimMin>("aten::min.dim_min");

}  // namespace taper::optimized
#endif  // HWY_ONCE
