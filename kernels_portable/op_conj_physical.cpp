// aten::_conj_physical.out: the complex conjugate, which for real numbers is the number itself.

#include "kernels_portable/elementwise.h"

namespace taper::portable {
namespace {

Status conj_physical_out(KernelContext&, const Tensor& self, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidType,
                "_conj_physical: out must have the dtype of self");
  TAPER_TRY(out.resize(self.sizes()));
  return copy_elements(self, out);
}

}  // namespace

extern const Kernel kConjPhysicalOut;
const Kernel kConjPhysicalOut = make_kernel<conj_physical_out>("aten::_conj_physical.out");

}  // namespace taper::portable
