// _upsample_bilinear2d_aa.out of contiguous floats: for each row of results the rows that
// contribute are added up in vectors, then their columns. The filters of each axis are computed
// once.

#include "kernels_optimized/engine/overlay.h"
#include "kernels_optimized/engine/parallel.h"
#include "kernels_optimized/engine/scratch.h"
#include "kernels_portable/cores/smooth_filter.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels_optimized/ops/antialias.cpp"
#include "kernels_optimized/engine/dispatch.h"
// These must come after dispatch.h, which chooses the targets.
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernels_optimized/engine/vector_math.h"

#if TAPER_VECTOR_TARGET
HWY_BEFORE_NAMESPACE();
namespace taper::optimized {
namespace HWY_NAMESPACE {

// to[x] = sum over k of weights[k] * rows[k * width + x]
void add_rows_form(const float* rows, int64_t width, const float* weights, int64_t count,
                   float* to) {
  for (int64_t x = 0; x < width; x += kLanes) {
    const int64_t some = std::min(kLanes, width - x);
    Vec sum = hn::Zero(kTag);
    for (int64_t k = 0; k < count; ++k) {
      sum = hn::MulAdd(constant(weights[k]), load_count(rows + k * width + x, some), sum);
    }
    store_count(sum, to + x, some);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taper::optimized
HWY_AFTER_NAMESPACE();
#endif  // TAPER_VECTOR_TARGET

#if HWY_ONCE
namespace taper::optimized {
namespace {

using Filter = portable::SmoothFilter<float>;
using AddRows = void (*)(const float*, int64_t, const float*, int64_t, float*);

// The filters of all outputs along an axis: those of output x begin at weights[x * longest].
struct Filters {
  int64_t longest = 0;
  int32_t* firsts = nullptr;
  int32_t* counts = nullptr;
  float* weights = nullptr;

  // False if there is too little temp memory.
  bool compute(KernelContext& context, const portable::Axis& axis, bool align_corners) {
    for (int64_t x = 0; x < axis.out; ++x) {
      longest = std::max(longest, Filter(axis, align_corners, x).count);
    }
    const auto outs = static_cast<size_t>(axis.out);
    firsts = static_cast<int32_t*>(context.allocate_temp(outs * sizeof(int32_t)));
    counts = static_cast<int32_t*>(context.allocate_temp(outs * sizeof(int32_t)));
    weights = scratch_floats(context, axis.out * longest).data();
    if (firsts == nullptr || counts == nullptr || weights == nullptr) return false;
    for (int64_t x = 0; x < axis.out; ++x) {
      const Filter filter(axis, align_corners, x);
      firsts[x] = static_cast<int32_t>(filter.first);
      counts[x] = static_cast<int32_t>(filter.count);
      for (int64_t i = 0; i < filter.count; ++i) weights[x * longest + i] = filter.weight(i);
    }
    return true;
  }

  // Computes all outputs of a line.
  void run(const float* line, int64_t outs, float* to) const {
    for (int64_t x = 0; x < outs; ++x) {
      const float *from = line + firsts[x], *by = weights + x * longest;
      float sum = 0;
      for (int32_t i = 0; i < counts[x]; ++i) sum += by[i] * from[i];
      to[x] = sum;
    }
  }
};

bool fast_bilinear_aa(KernelContext& context, const Tensor& self, IntList output_size,
                      bool align_corners, std::optional<double> scales_h,
                      std::optional<double> scales_w, Tensor& out) {
  const AddRows add_rows = TAPER_CHOOSE(AddRows, add_rows_form);
  portable::Resampling r;
  if (add_rows == nullptr || !are_float(self, out) || !self.is_contiguous() ||
      !out.is_contiguous() ||
      !portable::describe_resampling(self, output_size, std::nullopt, out, &r).ok()) {
    return false;
  }
  r.rows.factor = scales_h.value_or(0);
  r.columns.factor = scales_w.value_or(0);
  Filters rows, columns;
  if (!rows.compute(context, r.rows, align_corners) ||
      !columns.compute(context, r.columns, align_corners)) {
    return false;
  }
  const int64_t width = r.columns.in, planes = r.out.batch * r.out.channels;
  const auto* from = self.const_data_ptr<float>();
  auto* to = out.mutable_data_ptr<float>();
  bool has_room = true;
  const int64_t work = r.rows.out * (width + r.columns.out);
  for_parts_with_scratch(
      context, planes, work, width, [&](int64_t begin, int64_t end, Span<float> line) {
        if (line.size() == 0) {  // Then this is the only part.
          has_room = false;
          return;
        }
        for (int64_t i = begin * r.rows.out; i < end * r.rows.out; ++i) {
          const int64_t plane = i / r.rows.out, y = i % r.rows.out;
          const float* first = from + (plane * r.rows.in + rows.firsts[y]) * width;
          add_rows(first, width, rows.weights + y * rows.longest, rows.counts[y], line.data());
          columns.run(line.data(), r.columns.out, to + i * r.columns.out);
        }
      });
  return has_room;
}

}  // namespace

extern const Kernel kUpsampleBilinear2dAaOut;
const Kernel kUpsampleBilinear2dAaOut =
    overlay<fast_bilinear_aa, portable::kUpsampleBilinear2dAaOut>(
        "aten::_upsample_bilinear2d_aa.out");

}  // namespace taper::optimized
#endif  // HWY_ONCE
