// aten::nonzero.out: the coordinates of the nonzero elements, one row for each, in row-major order.
// NaN counts as nonzero, -0.0 as zero.

#include "kernels_portable/cores/indexing.h"
#include "kernels_portable/engine/convert.h"

namespace taper::portable {
namespace {

Status nonzero(KernelContext&, const Tensor& self, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == ScalarType::kLong, Error::kInvalidArgument,
                "nonzero: out must be int64");
  const int64_t sizes[] = {count_nonzero(self), self.dim()};
  TAPER_TRY(resize_out(out, sizes, 2));
  const ScalarType type = self.scalar_type();
  int64_t* row = out.mutable_data_ptr<int64_t>();
  Cursor cursor(view_of(self));
  int64_t found = 0;
  for (int64_t i = 0; i < self.numel() && found < sizes[0]; ++i, cursor.advance(1)) {
    if (!is_nonzero(element(self.const_data(), cursor.offset(), type), type)) continue;
    for (int64_t d = 0; d < self.dim(); ++d) {
      row[d * out.strides()[1]] = cursor.index(static_cast<size_t>(d));
    }
    row += out.strides()[0];
    ++found;
  }
  return {};
}

}  // namespace

extern const Kernel kNonzeroOut;
const Kernel kNonzeroOut = make_kernel<nonzero>("aten::nonzero.out");

}  // namespace taper::portable
