// aten::_upsample_bilinear2d_aa.out: bilinear resampling with antialiasing: the triangular filter
// widens when the image shrinks, so that every input pixel contributes.

#include <algorithm>

#include "kernels_portable/cores/resample_bytes.h"
#include "kernels_portable/cores/smooth_filter.h"
#include "kernels_portable/engine/compute.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

constexpr int64_t kLanes = 64;

// Computes one output pixel of one channel.
template <typename T>
T filtered(const Images& in, LoadFunction<T> load, int64_t n, int64_t c,
           const SmoothFilter<T>& rows, const SmoothFilter<T>& columns) {
  T sum = T{0};
  for (int64_t x = 0; x < columns.count; x += kLanes) {
    const int64_t count = std::min(kLanes, columns.count - x);
    T weights[kLanes], values[kLanes];
    for (int64_t i = 0; i < count; ++i) weights[i] = columns.weight(x + i);
    for (int64_t y = 0; y < rows.count; ++y) {
      load(in.at(n, c, rows.first + y, columns.first + x), in.column_stride, count, values);
      T part = T{0};
      for (int64_t i = 0; i < count; ++i) part += weights[i] * values[i];
      sum += rows.weight(y) * part;
    }
  }
  return sum;
}

template <typename T>
void resample(const Resampling& r, bool align_corners) {
  const LoadFunction<T> load = loader<T>(r.in.type);
  const StoreFunction<T> store = storer<T>(r.out.type);
  for (int64_t y = 0; y < r.rows.out; ++y) {
    const SmoothFilter<T> rows(r.rows, align_corners, y);
    for (int64_t x = 0; x < r.columns.out; ++x) {
      const SmoothFilter<T> columns(r.columns, align_corners, x);
      for (int64_t n = 0; n < r.out.batch; ++n) {
        for (int64_t c = 0; c < r.out.channels; ++c) {
          const T value = filtered(r.in, load, n, c, rows, columns);
          store(&value, 1, r.out.at(n, c, y, x), 1);
        }
      }
    }
  }
}

Status upsample_bilinear2d_aa_out(KernelContext&, const Tensor& self, IntList output_size,
                                  bool align_corners, std::optional<double> scales_h,
                                  std::optional<double> scales_w, Tensor& out) {
  const ScalarType type = self.scalar_type();
  TAPER_REQUIRE(is_floating(type) || type == ScalarType::kByte, Error::kInvalidType,
                "upsample_bilinear2d_aa: self must be floating point or uint8");
  Resampling resampling;
  TAPER_TRY(describe_resampling(self, output_size, std::nullopt, out, &resampling));
  resampling.rows.factor = scales_h.value_or(0);
  resampling.columns.factor = scales_w.value_or(0);
  if (type == ScalarType::kByte) {
    resample_bytes(resampling, align_corners, true);
    return {};
  }
  return with_float_type(type, [&](auto zero) -> Status {
    resample<decltype(zero)>(resampling, align_corners);
    return {};
  });
}

}  // namespace

extern const Kernel kUpsampleBilinear2dAaOut;
const Kernel kUpsampleBilinear2dAaOut =
    make_kernel<upsample_bilinear2d_aa_out>("aten::_upsample_bilinear2d_aa.out");

}  // namespace taper::portable
