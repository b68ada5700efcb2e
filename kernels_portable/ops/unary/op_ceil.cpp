// aten::ceil.out: the smallest integer that is not below self.
//
//   Any dtype but bool, kept; integers stay as they are.

#include "kernels_portable/engine/elementwise.h"
#include "kernels_portable/engine/vector_math.h"

namespace taper::portable {
namespace {

struct Ceil {
  int64_t operator()(int64_t x) const { return x; }
  template <typename C>
  C operator()(C x) const {
    return ceil_of(x);
  }
};

Status ceil_out(KernelContext&, const Tensor& self, Tensor& out) {
  TAPER_REQUIRE(self.scalar_type() != ScalarType::kBool, Error::kInvalidType,
                "ceil: not defined for bool");
  return unary(Ceil{}, self, out);
}

}  // namespace

extern const Kernel kCeilOut;
const Kernel kCeilOut = make_kernel<ceil_out>("aten::ceil.out");

}  // namespace taper::portable
