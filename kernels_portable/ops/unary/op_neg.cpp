// aten::neg.out: -self.
//
//   Any dtype but bool, kept; integers wrap around.

#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Neg {
  template <typename C>
  C operator()(C x) const {
    return wrap_neg(x);
  }
};

Status neg_out(KernelContext&, const Tensor& self, Tensor& out) {
  TAPER_REQUIRE(self.scalar_type() != ScalarType::kBool, Error::kInvalidType,
                "neg: not defined for bool");
  return unary(Neg{}, self, out);
}

}  // namespace

extern const Kernel kNegOut;
const Kernel kNegOut = make_kernel<neg_out>("aten::neg.out");

}  // namespace taper::portable
