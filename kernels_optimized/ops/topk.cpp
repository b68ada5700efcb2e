// topk.values. Of contiguous floats along the last dimension, for small k: the best k elements so
// far are kept sorted, and vectors of the row are compared with the last of them, so that most are
// skipped. Others go to sort_rows(). NaN is the largest; equal elements keep their order.

#include "kernels_optimized/cores/sort.h"
#include "kernels_optimized/engine/overlay.h"
#include "kernels_portable/engine/dims.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/topk.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vectors.h"

// Shared by all compiled forms: this file is compiled once per instruction set.
#ifndef TAPER_TOPK_TYPES
#define TAPER_TOPK_TYPES
namespace taper::optimized {
namespace {

// The best elements so far, in order, and their positions in the row.
struct Best {
  float* values;
  int64_t* indices;
  int64_t wanted;
  int64_t count;
  bool largest;

  // True if x comes before y in the order, where y has the smaller position in the row.
  bool precedes(float x, float y) const {
    const float low = largest ? y : x, high = largest ? x : y;
    return low < high || (high != high && low == low);
  }
  bool takes(float x) const { return count < wanted || precedes(x, values[count - 1]); }
  void take(float x, int64_t index) {
    int64_t at = count < wanted ? count++ : count - 1;
    for (; at > 0 && precedes(x, values[at - 1]); --at) {
      values[at] = values[at - 1];
      indices[at] = indices[at - 1];
    }
    values[at] = x;
    indices[at] = index;
  }
};

}  // namespace
}  // namespace taper::optimized
#endif

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {

void topk_form(const float* row, int64_t length, Best& best) {
  int64_t i = 0;
  for (; i < best.wanted; ++i) best.take(row[i], i);
  while (i + 4 * kLanes <= length) {
    const Vec bound = hn::Set(kTag, best.values[best.wanted - 1]);
    // A mask of the elements that may come before the bound. It is the negation of those that do
    // not come before it, because every comparison with NaN is false.
    const auto may_precede = [&](int64_t j) HWY_ATTR {
      const Vec x = hn::LoadU(kTag, row + i + j * kLanes);
      return hn::Not(best.largest ? hn::Le(x, bound) : hn::Ge(x, bound));
    };
    const auto any =
        hn::Or(hn::Or(may_precede(0), may_precede(1)), hn::Or(may_precede(2), may_precede(3)));
    if (!hn::AllFalse(kTag, any)) {
      for (int64_t j = i; j < i + 4 * kLanes; ++j) {
        if (best.takes(row[j])) best.take(row[j], j);
      }
    }
    i += 4 * kLanes;
  }
  for (; i < length; ++i) {
    if (best.takes(row[i])) best.take(row[i], i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Form = void (*)(const float*, int64_t, Best&);

constexpr int64_t kMostWanted = 64;  // For larger k, collecting candidates is faster.

bool fast_topk(KernelContext& context, const Tensor& self, int64_t k, int64_t dim, bool largest,
               bool, Tensor& values, Tensor& indices) {
  const Form form = TAPER_CHOOSE(Form, topk_form);
  const int64_t rank = self.dim();
  if (k > kMostWanted || form == nullptr || !are_float(self, values) ||
      indices.scalar_type() != ScalarType::kLong || rank == 0 || (dim != rank - 1 && dim != -1) ||
      !self.is_contiguous() || !values.is_contiguous() || !indices.is_contiguous()) {
    return sort_rows(context, self, dim, largest, k, &values, indices);
  }
  const int64_t length = self.size(rank - 1);
  if (k < 1 || k > length) return false;
  portable::Sizes sizes;
  for (int64_t d = 0; d < rank - 1; ++d) sizes.push(self.size(d));
  sizes.push(k);
  if (!values.resize(sizes).ok() || !indices.resize(sizes).ok()) return false;
  const float* row = self.const_data_ptr<float>();
  for (int64_t first = 0; first < values.numel(); first += k, row += length) {
    Best best = {values.mutable_data_ptr<float>() + first,
                 indices.mutable_data_ptr<int64_t>() + first, k, 0, largest};
    form(row, length, best);
  }
  return true;
}

}  // namespace

extern const Kernel kTopkValues;
const Kernel kTopkValues = overlay<fast_topk, portable::kTopkValues>("aten::topk.values");

}  // namespace taper::optimized
#endif  // HWY_ONCE
