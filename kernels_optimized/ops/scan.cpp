// cumsum, cumprod, cummax and cummin of contiguous floats. Lines across memory are scanned a vector
// of neighbours at a time. Along memory, sums and products go from element to element; for maxima
// and minima, vectors in which nothing changes are skipped.

#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"
#include "kernels_portable/engine/dims.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/scan.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vectors.h"

// Shared by all compiled forms: this file is compiled once per instruction set.
#ifndef TAPER_SCANS
#define TAPER_SCANS
namespace taper::optimized {
namespace {

enum class Scan { kSum, kProduct, kMax, kMin };

// Lines of a tensor, and their results.
struct Lines {
  portable::AroundDim around;
  const float* x;
  float* values;
  int64_t* indices;  // For maxima and minima.
};

}  // namespace
}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {
namespace {

const hn::RebindToSigned<Tag> kInts;
const hn::Repartition<int64_t, Tag> kLongs;

template <Scan kScan>
void total_line(const float* x, int64_t size, int64_t step, float* out) {
  double all = kScan == Scan::kSum ? 0 : 1;
  for (int64_t i = 0; i < size; ++i) {
    const auto value = static_cast<double>(x[i * step]);
    all = kScan == Scan::kSum ? all + value : all * value;
    out[i * step] = static_cast<float>(all);
  }
}

#if HWY_HAVE_FLOAT64

const hn::Repartition<double, Tag> kDoubles;

// Accumulates a vector of lines in double, as the portable kernel does.
template <Scan kScan>
class Total {
 public:
  Total() : low_(start()), high_(start()) {}

  HWY_INLINE Vec add(Vec x) {
    const hn::Half<Tag> half;
    low_ = combine(low_, hn::PromoteTo(kDoubles, hn::LowerHalf(half, x)));
    high_ = combine(high_, hn::PromoteTo(kDoubles, hn::UpperHalf(half, x)));
    return hn::Combine(kTag, hn::DemoteTo(half, high_), hn::DemoteTo(half, low_));
  }

 private:
  using Doubles = hn::Vec<decltype(kDoubles)>;
  static HWY_INLINE Doubles start() { return hn::Set(kDoubles, kScan == Scan::kSum ? 0 : 1); }
  static HWY_INLINE Doubles combine(Doubles a, Doubles b) {
    return kScan == Scan::kSum ? hn::Add(a, b) : hn::Mul(a, b);
  }

  Doubles low_;
  Doubles high_;
};

// Scans kVectors vectors of neighbouring lines, or fewer lines than a vector has; the elements of a
// line are `step` apart.
template <Scan kScan, int kVectors>
void total_across(const float* x, int64_t size, int64_t step, int64_t count, float* out) {
  Total<kScan> totals[kVectors];
  for (int64_t i = 0; i < size; ++i, x += step, out += step) {
    TAPER_UNROLL
    for (int j = 0; j < kVectors; ++j) {
      const int64_t first = j * kLanes;
      if constexpr (kVectors > 1) {
        hn::StoreU(totals[j].add(hn::LoadU(kTag, x + first)), kTag, out + first);
      } else {
        store_count(totals[j].add(load_count(x, count)), out, count);
      }
    }
  }
}

#else

template <Scan kScan, int kVectors>
void total_across(const float* x, int64_t size, int64_t step, int64_t count, float* out) {
  for (int64_t j = 0; j < count; ++j) total_line<kScan>(x + j, size, step, out + j);
}

#endif

// True if x replaces the most extreme element so far, also if both are equal.
template <Scan kScan>
HWY_INLINE bool replaces(float x, float best) {
  return (kScan == Scan::kMax ? x >= best : x <= best) || x != x;
}
template <Scan kScan>
HWY_INLINE hn::Mask<Tag> replaces(Vec x, Vec best) {
  return hn::Or(kScan == Scan::kMax ? hn::Ge(x, best) : hn::Le(x, best), hn::IsNaN(x));
}

template <Scan kScan>
void extreme_line(const float* x, int64_t size, float* values, int64_t* indices) {
  float best = x[0];
  int64_t at = 0;
  const auto step = [&](int64_t i) {
    if (replaces<kScan>(x[i], best)) best = x[i], at = i;
    values[i] = best;
    indices[i] = at;
  };
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    const Vec all = hn::Set(kTag, best);
    if (hn::AllFalse(kTag, replaces<kScan>(hn::LoadU(kTag, x + i), all))) {
      hn::StoreU(all, kTag, values + i);
      hn::StoreU(hn::Set(kLongs, at), kLongs, indices + i);
      hn::StoreU(hn::Set(kLongs, at), kLongs, indices + i + kLanes / 2);
    } else {
      for (int64_t j = i; j < i + kLanes; ++j) step(j);
    }
  }
  for (; i < size; ++i) step(i);
}

// The same as total_across().
template <Scan kScan>
void extreme_across(const float* x, int64_t size, int64_t step, int64_t count, float* values,
                    int64_t* indices) {
  const hn::Half<decltype(kInts)> half;
  const bool is_whole = count >= kLanes;
  Vec best = load_count(x, count);
  auto where = hn::Zero(kInts);
  for (int64_t i = 0; i < size; ++i, x += step, values += step, indices += step) {
    const Vec other = load_count(x, count);
    const auto better = replaces<kScan>(other, best);
    best = hn::IfThenElse(better, other, best);
    where = hn::IfThenElse(hn::RebindMask(kInts, better), hn::Set(kInts, static_cast<int32_t>(i)),
                           where);
    store_count(best, values, count);
    HWY_ALIGN int64_t lanes[kLanes];
    int64_t* to = is_whole ? indices : lanes;
    hn::StoreU(hn::PromoteTo(kLongs, hn::LowerHalf(half, where)), kLongs, to);
    hn::StoreU(hn::PromoteTo(kLongs, hn::UpperHalf(half, where)), kLongs, to + kLanes / 2);
    for (int64_t j = 0; !is_whole && j < count; ++j) indices[j] = lanes[j];
  }
}

template <Scan kScan>
void scan_line(const Lines& lines, int64_t at) {
  if constexpr (kScan == Scan::kSum || kScan == Scan::kProduct) {
    total_line<kScan>(lines.x + at, lines.around.size, 1, lines.values + at);
  } else {
    extreme_line<kScan>(lines.x + at, lines.around.size, lines.values + at, lines.indices + at);
  }
}

// Scans `count` neighbouring lines, of which the first begins at `at`.
template <Scan kScan, int kVectors>
void scan_across(const Lines& lines, int64_t at, int64_t count) {
  const auto& [outer, size, inner] = lines.around;
  if constexpr (kScan == Scan::kSum || kScan == Scan::kProduct) {
    total_across<kScan, kVectors>(lines.x + at, size, inner, count, lines.values + at);
  } else {
    extreme_across<kScan>(lines.x + at, size, inner, count, lines.values + at, lines.indices + at);
  }
}

template <Scan kScan>
void run(const Lines& lines, int64_t first, int64_t last) {
  constexpr int kVectors = kScan == Scan::kSum || kScan == Scan::kProduct ? 4 : 1;
  const int64_t inner = lines.around.inner, block = lines.around.size * inner;
  for (int64_t start = first * block; start < last * block; start += block) {
    if (inner == 1) {
      scan_line<kScan>(lines, start);
      continue;
    }
    int64_t i = 0;
    for (; i + kVectors * kLanes <= inner; i += kVectors * kLanes) {
      scan_across<kScan, kVectors>(lines, start + i, kVectors * kLanes);
    }
    for (; i < inner; i += kLanes) {
      // The last vector may scan some lines once more.
      if (inner >= kLanes) i = std::min(i, inner - kLanes);
      scan_across<kScan, 1>(lines, start + i, std::min(kLanes, inner));
    }
  }
}

}  // namespace

void scan_form(Scan scan, const Lines& lines, int64_t first, int64_t last) {
  switch (scan) {
    case Scan::kSum:
      return run<Scan::kSum>(lines, first, last);
    case Scan::kProduct:
      return run<Scan::kProduct>(lines, first, last);
    case Scan::kMax:
      return run<Scan::kMax>(lines, first, last);
    case Scan::kMin:
      return run<Scan::kMin>(lines, first, last);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = void (*)(Scan, const Lines&, int64_t, int64_t);

// REQUIRES: values, and indices unless it is null, have the dtypes of such results.
bool scan(const KernelContext& context, Scan scan, const Tensor& self, int64_t dim, Tensor& values,
          Tensor* indices) {
  const Form form = TAPER_CHOOSE(Form, scan_form);
  if (form == nullptr || !are_float(self, values) || !self.is_contiguous() ||
      !values.is_contiguous() || !portable::wrap_dim(dim, self.dim(), &dim).ok() ||
      (indices != nullptr && (indices->scalar_type() != ScalarType::kLong ||
                              !indices->is_contiguous() || !indices->resize(self.sizes()).ok())) ||
      !values.resize(self.sizes()).ok()) {
    return false;
  }
  if (self.numel() == 0) return true;
  const Lines lines = {portable::around_dim(self, dim), self.const_data_ptr<float>(),
                       values.mutable_data_ptr<float>(),
                       indices == nullptr ? nullptr : indices->mutable_data_ptr<int64_t>()};
  if (lines.around.size > INT32_MAX) return false;
  for_parts(context.pool(), lines.around.outer, 2 * lines.around.size * lines.around.inner, 1,
            [&](int64_t first, int64_t last) { form(scan, lines, first, last); });
  return true;
}

bool fast_sum(KernelContext& context, const Tensor& self, int64_t dim, std::optional<int64_t> dtype,
              Tensor& out) {
  return dtype.value_or(static_cast<int64_t>(ScalarType::kFloat)) ==
             static_cast<int64_t>(ScalarType::kFloat) &&
         scan(context, Scan::kSum, self, dim, out, nullptr);
}

bool fast_product(KernelContext& context, const Tensor& self, int64_t dim, Tensor& out) {
  return scan(context, Scan::kProduct, self, dim, out, nullptr);
}

template <Scan kScan>
bool fast_extreme(KernelContext& context, const Tensor& self, int64_t dim, Tensor& values,
                  Tensor& indices) {
  return scan(context, kScan, self, dim, values, &indices);
}

}  // namespace

extern const Kernel kCumsumOut, kCumprodOut, kCummaxOut, kCumminOut;
const Kernel kCumsumOut = overlay<fast_sum, portable::kCumsumOut>("aten::cumsum.out");
const Kernel kCumprodOut = overlay<fast_product, portable::kCumprodOut>("taper::cumprod.out");
const Kernel kCummaxOut =
    overlay<fast_extreme<Scan::kMax>, portable::kCummaxOut>("taper::cummax.out");
const Kernel kCumminOut =
    overlay<fast_extreme<Scan::kMin>, portable::kCumminOut>("taper::cummin.out");

}  // namespace taper::optimized
#endif  // HWY_ONCE
