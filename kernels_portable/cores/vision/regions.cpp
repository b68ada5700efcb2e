// Checks and sizes of operators on regions; see regions.h.

#include "kernels_portable/cores/vision/regions.h"

#include "kernels_portable/engine/view.h"

namespace taper::portable {

Status prepare_regions(const Tensor& input, const Tensor& rois, const Bins& bins, Tensor& out,
                       Tensor* second) {
  const ScalarType type = input.scalar_type();
  TAPER_REQUIRE(is_floating(type) && rois.scalar_type() == type && out.scalar_type() == type,
                Error::kInvalidType, "regions: tensors must share one floating dtype");
  TAPER_REQUIRE(second == nullptr || second->scalar_type() == ScalarType::kInt, Error::kInvalidType,
                "regions: the second result must be int32");
  TAPER_REQUIRE(input.dim() == 4 && rois.dim() == 2 && rois.size(1) == 5, Error::kInvalidArgument,
                "regions: input must be [n, c, height, width] and rois [k, 5]");
  constexpr int64_t kMost = int64_t{1} << 15;
  TAPER_REQUIRE(bins.rows > 0 && bins.columns > 0 && bins.rows <= kMost && bins.columns <= kMost,
                Error::kInvalidArgument,
                "regions: there must be 1 to 32768 rows and columns of bins");
  TAPER_REQUIRE(input.size(1) % bins.channel_step() == 0, Error::kInvalidArgument,
                "regions: the channels must be a multiple of the bins");
  const int64_t sizes[] = {rois.size(0), input.size(1) / bins.channel_step(), bins.rows,
                           bins.columns};
  TAPER_TRY(resize_out(out, sizes, 4));
  if (second != nullptr) TAPER_TRY(resize_out(*second, sizes, 4));
  TAPER_REQUIRE(out.numel() == 0 || input.numel() > 0, Error::kInvalidArgument,
                "regions: input has no pixels");
  return {};
}

void write_channels(const Bins& bins, Tensor& mapping) {
  const Images to = images_of(mapping);
  for (int64_t n = 0; n < to.batch; ++n) {
    for (int64_t c = 0; c < to.channels; ++c) {
      for (int64_t bin = 0; bin < bins.count(); ++bin) {
        void* at = to.at(n, c, bin / bins.columns, bin % bins.columns);
        *static_cast<int32_t*>(at) = static_cast<int32_t>(c * bins.count() + bin);
      }
    }
  }
}

}  // namespace taper::portable
