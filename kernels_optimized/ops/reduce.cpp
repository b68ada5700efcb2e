// sum, mean, prod, amax and amin of contiguous floats over adjacent dimensions, taken as the middle
// one of [outer, size, inner], or over two groups of them, one after the other. Lines along memory
// are reduced with four accumulators, lines across memory a vector of neighbours at a time. Long
// sums are made of short sums, so that rounding errors grow slowly.

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"
#include "kernels_optimized/engine/scratch.h"
#include "kernels_portable/engine/dims.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/reduce.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vector_math.h"

// Shared by all compiled forms: this file is compiled once per instruction set.
#ifndef TAPER_FOLDS
#define TAPER_FOLDS
namespace taper::optimized {
namespace {

enum class Fold { kSum, kProduct, kMax, kMin };

}  // namespace
}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kBlock = 1024;  // The length of the short sums of a line along memory.
constexpr int64_t kRows = 64;     // The length of the short sums of a line across memory.

template <Fold kFold>
HWY_INLINE Vec start() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  return constant(kFold == Fold::kSum       ? 0
                  : kFold == Fold::kProduct ? 1
                  : kFold == Fold::kMax     ? -kInfinity
                                            : kInfinity);
}

// One step of the reduction; NaN on either side gives NaN.
template <Fold kFold>
HWY_INLINE Vec fold(Vec so_far, Vec x) {
  if constexpr (kFold == Fold::kSum) return hn::Add(so_far, x);
  if constexpr (kFold == Fold::kProduct) return hn::Mul(so_far, x);
  const auto worse = kFold == Fold::kMax ? hn::Le(x, so_far) : hn::Ge(x, so_far);
  return hn::IfThenElse(hn::Or(worse, hn::IsNaN(so_far)), so_far, x);
}

template <Fold kFold>
float fold_block(const float* x, int64_t count) {
  Vec all[4] = {start<kFold>(), start<kFold>(), start<kFold>(), start<kFold>()};
  int64_t i = 0;
  for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
    TAPER_UNROLL
    for (int j = 0; j < 4; ++j) {
      all[j] = fold<kFold>(all[j], hn::LoadU(kTag, x + i + j * kLanes));
    }
  }
  for (; i + kLanes <= count; i += kLanes) all[0] = fold<kFold>(all[0], hn::LoadU(kTag, x + i));
  if (i < count) {
    const auto there = hn::FirstN(kTag, static_cast<size_t>(count - i));
    const Vec rest = hn::IfThenElse(there, load_some(x + i, count - i), start<kFold>());
    all[1] = fold<kFold>(all[1], rest);
  }
  all[0] = fold<kFold>(fold<kFold>(all[0], all[1]), fold<kFold>(all[2], all[3]));
  if constexpr (kFold == Fold::kSum) return sum_of(all[0]);
  if constexpr (kFold == Fold::kProduct) {
    HWY_ALIGN float lanes[kLanes];
    hn::Store(all[0], kTag, lanes);
    return std::accumulate(lanes, lanes + kLanes, 1.0f, std::multiplies<float>());
  }
  if (!hn::AllFalse(kTag, hn::IsNaN(all[0]))) return std::numeric_limits<float>::quiet_NaN();
  return hn::GetLane(kFold == Fold::kMax ? hn::MaxOfLanes(kTag, all[0])
                                         : hn::MinOfLanes(kTag, all[0]));
}

template <Fold kFold>
float fold_line(const float* x, int64_t count, double divisor) {
  if constexpr (kFold != Fold::kSum) return fold_block<kFold>(x, count);
  double sum = 0;
  for (int64_t i = 0; i < count; i += kBlock) {
    sum += static_cast<double>(fold_block<kFold>(x + i, std::min(kBlock, count - i)));
  }
  return static_cast<float>(sum / divisor);
}

// Reduces `count` neighbouring lines, at most a vector of them, whose elements are `step` apart.
template <Fold kFold>
Vec fold_across(const float* x, int64_t size, int64_t step, int64_t count) {
  Vec all = start<kFold>();
  for (int64_t first = 0; first < size; first += kRows) {
    Vec some = start<kFold>();
    const int64_t last = std::min(size, first + kRows);
    if (count == kLanes) {
      for (int64_t i = first; i < last; ++i) {
        some = fold<kFold>(some, hn::LoadU(kTag, x + i * step));
      }
    } else {
      for (int64_t i = first; i < last; ++i) {
        some = fold<kFold>(some, load_some(x + i * step, count));
      }
    }
    all = fold<kFold>(all, some);
  }
  return all;
}

template <Fold kFold>
void run(const float* x, const portable::AroundDim& around, double divisor, float* out) {
  const int64_t size = around.size, inner = around.inner;
  const Vec scale = constant(static_cast<float>(divisor));
  for (int64_t o = 0; o < around.outer; ++o, x += size * inner, out += inner) {
    if (inner == 1) {
      *out = fold_line<kFold>(x, size, divisor);
      continue;
    }
    for (int64_t i = 0; i < inner; i += kLanes) {
      const int64_t count = std::min(kLanes, inner - i);
      const Vec result = hn::Div(fold_across<kFold>(x + i, size, inner, count), scale);
      if (count == kLanes) {
        hn::StoreU(result, kTag, out + i);
      } else {
        store_some(result, out + i, count);
      }
    }
  }
}

}  // namespace

void fold_form(Fold fold, const float* x, const portable::AroundDim& around, double divisor,
               float* out) {
  if (fold == Fold::kSum) return run<Fold::kSum>(x, around, divisor, out);
  if (fold == Fold::kProduct) return run<Fold::kProduct>(x, around, divisor, out);
  if (fold == Fold::kMax) return run<Fold::kMax>(x, around, divisor, out);
  run<Fold::kMin>(x, around, divisor, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = void (*)(Fold, const float*, const portable::AroundDim&, double, float*);

// Self as [outer, size, between, inner_size, inner], of which the sizes are reduced; 1 if there are
// none.
struct Groups {
  int64_t outer = 1, size = 1, between = 1, inner_size = 1, inner = 1;
};

// False if the dims in `mask` are more than two groups of adjacent ones.
bool describe(const Tensor& self, portable::DimMask mask, Groups* groups) {
  int64_t* const all[] = {&groups->outer, &groups->size, &groups->between, &groups->inner_size,
                          &groups->inner};
  int64_t d = 0;
  for (size_t k = 0; k < 5; ++k) {
    const portable::DimMask wanted = k % 2;
    for (; d < self.dim() && (mask >> d & 1) == wanted; ++d) *all[k] *= self.size(d);
  }
  return d == self.dim();
}

// How to reduce the middle one of [outer, size, inner].
struct Reduction {
  const KernelContext& context;
  Form form;
  Fold fold;

  void operator()(const float* x, const portable::AroundDim& around, double divisor,
                  float* to) const {
    const int64_t block = around.size * around.inner;
    for_parts(context.pool(), around.outer, block, 1, [&](int64_t begin, int64_t end) {
      form(fold, x + begin * block, {end - begin, around.size, around.inner}, divisor,
           to + begin * around.inner);
    });
  }
};

bool reduce(KernelContext& context, Fold fold, const Tensor& self, std::optional<IntList> dims,
            bool keepdim, bool mean, Tensor& out) {
  const Form form = TAPER_CHOOSE(Form, fold_form);
  portable::DimMask mask = 0;
  Groups groups;
  if (form == nullptr || !are_float(self, out) || !self.is_contiguous() || !out.is_contiguous() ||
      self.numel() == 0 || !portable::make_dim_mask(dims, self.dim(), &mask).ok() ||
      !describe(self, mask, &groups) ||
      !out.resize(portable::reduced_sizes(self, mask, keepdim)).ok()) {
    return false;
  }
  const Reduction reduction = {context, form, fold};
  const double divisor = mean ? static_cast<double>(groups.size * groups.inner_size) : 1;
  const float* x = self.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  const int64_t inner = groups.between * groups.inner_size * groups.inner;
  if (groups.inner_size == 1) {
    reduction(x, {groups.outer, groups.size, inner}, divisor, to);
    return true;
  }
  const int64_t lines = groups.outer * groups.size * groups.between;
  const Span<float> some = scratch_floats(context, lines * groups.inner);
  if (some.empty()) return false;
  reduction(x, {lines, groups.inner_size, groups.inner}, 1, some.data());
  reduction(some.data(), {groups.outer, groups.size, groups.between * groups.inner}, divisor, to);
  return true;
}

bool keeps_float(std::optional<int64_t> dtype) {
  return !dtype.has_value() || *dtype == static_cast<int64_t>(ScalarType::kFloat);
}

template <bool kMean>
bool fast_sum(KernelContext& context, const Tensor& self, std::optional<IntList> dims, bool keepdim,
              std::optional<int64_t> dtype, Tensor& out) {
  return keeps_float(dtype) && reduce(context, Fold::kSum, self, dims, keepdim, kMean, out);
}

bool fast_product(KernelContext& context, const Tensor& self, std::optional<int64_t> dtype,
                  Tensor& out) {
  return keeps_float(dtype) &&
         reduce(context, Fold::kProduct, self, std::nullopt, false, false, out);
}

bool fast_product_int(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim,
                      std::optional<int64_t> dtype, Tensor& out) {
  return keeps_float(dtype) &&
         reduce(context, Fold::kProduct, self, IntList(&dim, 1), keepdim, false, out);
}

template <Fold kFold>
bool fast_extreme(KernelContext& context, const Tensor& self, IntList dims, bool keepdim,
                  Tensor& out) {
  return reduce(context, kFold, self, dims, keepdim, false, out);
}

}  // namespace

extern const Kernel kSumIntListOut, kMeanOut, kProdOut, kProdIntOut, kAmaxOut, kAminOut;
const Kernel kSumIntListOut =
    overlay<fast_sum<false>, portable::kSumIntListOut, Takes::kComplexToo>("aten::sum.IntList_out");
const Kernel kMeanOut = overlay<fast_sum<true>, portable::kMeanOut>("aten::mean.out");
const Kernel kProdOut = overlay<fast_product, portable::kProdOut>("aten::prod.out");
const Kernel kProdIntOut = overlay<fast_product_int, portable::kProdIntOut>("aten::prod.int_out");
const Kernel kAmaxOut = overlay<fast_extreme<Fold::kMax>, portable::kAmaxOut>("aten::amax.out");
const Kernel kAminOut = overlay<fast_extreme<Fold::kMin>, portable::kAminOut>("aten::amin.out");

}  // namespace taper::optimized
#endif  // HWY_ONCE
