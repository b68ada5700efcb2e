// aten::copy.out: out has the sizes of self and receives the elements of src, broadcast to them.
//
//   src is converted to the dtype of out. non_blocking is ignored.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

Status copy_out(KernelContext&, const Tensor& self, const Tensor& src, bool, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidType,
                "copy: out must have the dtype of self");
  TAPER_TRY(out.resize(self.sizes()));
  return copy_elements(src, out);
}

}  // namespace

extern const Kernel kCopyOut;
const Kernel kCopyOut = make_kernel<copy_out>("aten::copy.out");

}  // namespace taper::portable
