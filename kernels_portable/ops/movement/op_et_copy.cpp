// et_copy::_h2d_copy.out and _d2h_copy.out: copies between the memories of a host and a device.
// Here there is only one memory, so both are plain copies.

#include "kernels_portable/engine/view.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

Status copy_across(KernelContext&, const Tensor& self, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidArgument,
                "et_copy: out must have the dtype of self");
  return write_view(view_of(self), out);
}

}  // namespace

extern const Kernel kH2dCopyOut;
const Kernel kH2dCopyOut = make_kernel<copy_across>("et_copy::_h2d_copy.out");
extern const Kernel kD2hCopyOut;
const Kernel kD2hCopyOut = make_kernel<copy_across>("et_copy::_d2h_copy.out");

}  // namespace taper::portable
