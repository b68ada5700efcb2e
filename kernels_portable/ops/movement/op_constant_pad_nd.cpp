// aten::constant_pad_nd.out: self padded with `value`, or cropped where a padding is negative.
//
//   pad  two numbers, before and after, for each dimension, from the last dimension backwards.

#include "kernels_portable/engine/fill.h"

namespace taper::portable {
namespace {

Status constant_pad_nd(KernelContext&, const Tensor& self, IntList pad, Scalar value, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "constant_pad_nd: out must have the dtype of self");
  View from = view_of(self);
  TAPER_REQUIRE(pad.size() % 2 == 0 && pad.size() / 2 <= from.rank, Error::kInvalidArgument,
                "constant_pad_nd: pad needs two numbers for each of the last dimensions");
  constexpr int64_t kLimit = INT32_MAX;
  int64_t sizes[kMaxRank] = {};
  for (size_t d = 0; d < from.rank; ++d) sizes[d] = from.sizes[d];
  for (size_t i = 0; i < pad.size(); i += 2) {
    const bool small =
        pad[i] >= -kLimit && pad[i] <= kLimit && pad[i + 1] >= -kLimit && pad[i + 1] <= kLimit;
    TAPER_REQUIRE(small, Error::kInvalidArgument, "constant_pad_nd: a padding is too large");
    sizes[from.rank - 1 - i / 2] += pad[i] + pad[i + 1];
  }
  TAPER_TRY(resize_out(out, sizes, from.rank));
  fill_elements(out, value);
  View to = view_of(out);
  const size_t element = element_size(self.scalar_type());
  for (size_t i = 0; i < pad.size(); i += 2) {  // Narrows both views to the part they share.
    const size_t d = from.rank - 1 - i / 2;
    const int64_t before = pad[i];
    const int64_t skipped = before < 0 ? -before : 0;
    const int64_t start = before > 0 ? before : 0;
    const int64_t left = from.sizes[d] - skipped;
    const int64_t room = to.sizes[d] - start;
    const int64_t count = left < room ? left : room;
    if (count <= 0) return {};
    from.advance(d, skipped, element);
    to.advance(d, start, element);
    from.sizes[d] = to.sizes[d] = count;
  }
  copy_view(to, from, element);
  return {};
}

}  // namespace

extern const Kernel kConstantPadNdOut;
const Kernel kConstantPadNdOut = make_kernel<constant_pad_nd>("aten::constant_pad_nd.out");

}  // namespace taper::portable
