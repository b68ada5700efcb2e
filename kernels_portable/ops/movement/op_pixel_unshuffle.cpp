// aten::pixel_unshuffle.out: [.., c, h * r, w * r] becomes [.., c * r * r, h, w]: blocks of pixels
// become blocks of channels.

#include "kernels_portable/engine/view.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

Status pixel_unshuffle_out(KernelContext&, const Tensor& self, int64_t downscale_factor,
                           Tensor& out) {
  TAPER_REQUIRE(self.dim() >= 3 && self.dim() + 2 <= static_cast<int64_t>(kMaxRank),
                Error::kInvalidArgument, "pixel_unshuffle: self has a wrong rank");
  TAPER_REQUIRE(downscale_factor > 0 && downscale_factor <= INT32_MAX, Error::kInvalidArgument,
                "pixel_unshuffle: downscale_factor must be positive");
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidType,
                "pixel_unshuffle: out must have the dtype of self");
  const int64_t r = downscale_factor;
  const size_t rank = static_cast<size_t>(self.dim());
  int64_t sizes[kMaxRank];
  for (size_t d = 0; d < rank; ++d) sizes[d] = self.sizes()[d];
  TAPER_REQUIRE(sizes[rank - 2] % r == 0 && sizes[rank - 1] % r == 0, Error::kInvalidArgument,
                "pixel_unshuffle: height and width must be multiples of downscale_factor");
  TAPER_REQUIRE(sizes[rank - 3] <= INT32_MAX / r / r, Error::kInvalidArgument,
                "pixel_unshuffle: too many channels");
  sizes[rank - 3] *= r * r;
  sizes[rank - 2] /= r;
  sizes[rank - 1] /= r;
  TAPER_TRY(resize_out(out, sizes, rank));

  const View whole = view_of(self);
  View from = whole;  // [.., c, r, r, h, w]
  from.rank = rank - 2;
  from.add_dim(r, whole.strides[rank - 2]);
  from.add_dim(r, whole.strides[rank - 1]);
  from.add_dim(sizes[rank - 2], whole.strides[rank - 2] * r);
  from.add_dim(sizes[rank - 1], whole.strides[rank - 1] * r);
  View to = view_of(out);
  const int64_t step = to.strides[rank - 3];
  to.strides[rank - 3] = step * r * r;
  to.sizes[rank - 3] = self.sizes()[rank - 3];
  to.insert_dim(rank - 2, r, step);
  to.insert_dim(rank - 2, r, step * r);
  if (out.numel() > 0) copy_view(to, from, element_size(out.scalar_type()));
  return {};
}

}  // namespace

extern const Kernel kPixelUnshuffleOut;
const Kernel kPixelUnshuffleOut = make_kernel<pixel_unshuffle_out>("aten::pixel_unshuffle.out");

}  // namespace taper::portable
