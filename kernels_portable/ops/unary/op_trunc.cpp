// aten::trunc.out: self without its fraction.
//
//   Any dtype but bool, kept; integers stay as they are.

#include "kernels_portable/engine/elementwise.h"
#include "kernels_portable/engine/vector_math.h"

namespace taper::portable {
namespace {

struct Trunc {
  int64_t operator()(int64_t x) const { return x; }
  template <typename C>
  C operator()(C x) const {
    return trunc_of(x);
  }
};

Status trunc_out(KernelContext&, const Tensor& self, Tensor& out) {
  TAPER_REQUIRE(self.scalar_type() != ScalarType::kBool, Error::kInvalidType,
                "trunc: not defined for bool");
  return unary(Trunc{}, self, out);
}

}  // namespace

extern const Kernel kTruncOut;
const Kernel kTruncOut = make_kernel<trunc_out>("aten::trunc.out");

}  // namespace taper::portable
