// preprocess::tile_crop.out: an image [c, h, w] cut into square tiles [n, c, size, size], in
// row-major order.

#include "kernels_portable/engine/view.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

Status tile_crop_out(KernelContext&, const Tensor& input, int64_t tile_size, Tensor& out) {
  TAPER_REQUIRE(input.dim() == 3 && out.dim() == 4, Error::kInvalidArgument,
                "tile_crop: input must have three dimensions and out four");
  TAPER_REQUIRE(out.scalar_type() == input.scalar_type(), Error::kInvalidType,
                "tile_crop: out must have the dtype of input");
  TAPER_REQUIRE(tile_size > 0 && input.size(1) % tile_size == 0 && input.size(2) % tile_size == 0,
                Error::kInvalidArgument,
                "tile_crop: height and width must be multiples of tile_size");
  const int64_t rows = input.size(1) / tile_size, columns = input.size(2) / tile_size;
  const int64_t sizes[] = {rows * columns, input.size(0), tile_size, tile_size};
  TAPER_TRY(resize_out(out, sizes, 4));
  if (out.numel() == 0) return {};

  const View image = view_of(input);
  View from;  // [rows, columns, c, size, size]
  from.data = image.data;
  from.add_dim(rows, image.strides[1] * tile_size);
  from.add_dim(columns, image.strides[2] * tile_size);
  from.add_dim(input.size(0), image.strides[0]);
  from.add_dim(tile_size, image.strides[1]);
  from.add_dim(tile_size, image.strides[2]);
  View to = view_of(out);
  const int64_t step = to.strides[0];
  to.sizes[0] = columns;
  to.insert_dim(0, rows, step * columns);
  copy_view(to, from, element_size(out.scalar_type()));
  return {};
}

}  // namespace

extern const Kernel kTileCropOut;
const Kernel kTileCropOut = make_kernel<tile_crop_out>("preprocess::tile_crop.out");

}  // namespace taper::portable
