// aten::upsample_nearest2d.vec_out: every output pixel is the input pixel at
// floor(coordinate * scale). Elements are copied as bytes, so every dtype is supported.

#include <algorithm>
#include <cstring>

#include "kernels_portable/cores/resample.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

constexpr int64_t kLanes = 64;

int64_t nearest(const Axis& axis, int64_t y) {
  if (axis.out == axis.in) return y;
  if (axis.out == 2 * axis.in) return y / 2;
  const float x = std::floor(static_cast<float>(y) * axis.scale<float>(false));
  return x < static_cast<float>(axis.in - 1) ? static_cast<int64_t>(x) : axis.in - 1;
}

// to[i] = from[index[i] * stride] for elements as large as T.
template <typename T>
void gather(const void* from, int64_t stride, const int64_t* index, int64_t count, void* to,
            int64_t to_stride) {
  for (int64_t i = 0; i < count; ++i) {
    static_cast<T*>(to)[i * to_stride] = static_cast<const T*>(from)[index[i] * stride];
  }
}

using Gather = void (*)(const void*, int64_t, const int64_t*, int64_t, void*, int64_t);
Gather gather_of(size_t bytes) {
  switch (bytes) {
    case 1:
      return gather<uint8_t>;
    case 2:
      return gather<uint16_t>;
    case 4:
      return gather<uint32_t>;
    default:
      return gather<uint64_t>;
  }
}

// Computes up to kLanes pixels of output row `y` from `x` on, in all images and channels.
void resample_row(const Resampling& r, int64_t y, int64_t x, Gather gather) {
  const int64_t count = std::min(kLanes, r.columns.out - x);
  int64_t index[kLanes];
  for (int64_t i = 0; i < count; ++i) index[i] = nearest(r.columns, x + i);
  const int64_t row = nearest(r.rows, y);
  for (int64_t n = 0; n < r.out.batch; ++n) {
    if (r.out.is_channels_last() && r.in.channel_stride == 1) {
      const size_t bytes = static_cast<size_t>(r.out.channels) * element_size(r.out.type);
      for (int64_t i = 0; i < count; ++i) {
        std::memmove(r.out.at(n, 0, y, x + i), r.in.at(n, 0, row, index[i]), bytes);
      }
      continue;
    }
    for (int64_t c = 0; c < r.out.channels; ++c) {
      gather(r.in.at(n, c, row, 0), r.in.column_stride, index, count, r.out.at(n, c, y, x),
             r.out.column_stride);
    }
  }
}

Status upsample_nearest2d_out(KernelContext&, const Tensor& input,
                              std::optional<IntList> output_size,
                              std::optional<DoubleList> scale_factors, Tensor& out) {
  Resampling resampling;
  TAPER_TRY(describe_resampling(input, output_size, scale_factors, out, &resampling));
  const Gather gather = gather_of(element_size(out.scalar_type()));
  for (int64_t y = 0; y < resampling.rows.out; ++y) {
    for (int64_t x = 0; x < resampling.columns.out; x += kLanes) {
      resample_row(resampling, y, x, gather);
    }
  }
  return {};
}

}  // namespace

extern const Kernel kUpsampleNearest2dVecOut;
const Kernel kUpsampleNearest2dVecOut =
    make_kernel<upsample_nearest2d_out>("aten::upsample_nearest2d.vec_out");

}  // namespace taper::portable
