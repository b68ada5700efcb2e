// aten::pixel_shuffle.out: [.., c * r * r, h, w] becomes [.., c, h * r, w * r]: blocks of channels
// become blocks of pixels.

#include "kernels_portable/engine/view.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

// Splits dimension d into two, of sizes `count` and size / count.
void split(View& view, size_t d, int64_t count) {
  const int64_t rest = view.sizes[d] / count;
  view.insert_dim(d, count, view.strides[d] * rest);
  view.sizes[d + 1] = rest;
}

Status pixel_shuffle_out(KernelContext&, const Tensor& self, int64_t upscale_factor, Tensor& out) {
  TAPER_REQUIRE(self.dim() >= 3 && self.dim() + 2 <= static_cast<int64_t>(kMaxRank),
                Error::kInvalidArgument, "pixel_shuffle: self has a wrong rank");
  TAPER_REQUIRE(upscale_factor > 0 && upscale_factor <= INT32_MAX, Error::kInvalidArgument,
                "pixel_shuffle: upscale_factor must be positive");
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidType,
                "pixel_shuffle: out must have the dtype of self");
  const int64_t r = upscale_factor;
  const size_t rank = static_cast<size_t>(self.dim());
  int64_t sizes[kMaxRank];
  for (size_t d = 0; d < rank; ++d) sizes[d] = self.sizes()[d];
  TAPER_REQUIRE(sizes[rank - 3] % (r * r) == 0, Error::kInvalidArgument,
                "pixel_shuffle: channels must be a multiple of the squared upscale_factor");
  sizes[rank - 3] /= r * r;
  sizes[rank - 2] *= r;
  sizes[rank - 1] *= r;
  TAPER_TRY(resize_out(out, sizes, rank));

  View from = view_of(self);  // [.., c, r, r, h, w]
  split(from, rank - 3, sizes[rank - 3] > 0 ? sizes[rank - 3] : 1);
  split(from, rank - 2, r);
  View to = view_of(out);  // [.., c, h, r, w, r], to be permuted to the order of `from`.
  const View whole = to;
  to.rank = rank - 2;
  to.add_dim(r, whole.strides[rank - 2]);
  to.add_dim(r, whole.strides[rank - 1]);
  to.add_dim(self.sizes()[rank - 2], whole.strides[rank - 2] * r);
  to.add_dim(self.sizes()[rank - 1], whole.strides[rank - 1] * r);
  if (out.numel() > 0) copy_view(to, from, element_size(out.scalar_type()));
  return {};
}

}  // namespace

extern const Kernel kPixelShuffleOut;
const Kernel kPixelShuffleOut = make_kernel<pixel_shuffle_out>("aten::pixel_shuffle.out");

}  // namespace taper::portable
