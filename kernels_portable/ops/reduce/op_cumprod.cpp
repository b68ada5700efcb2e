// taper::cumprod.out: running products along dim, as aten::cumprod computes them.
//
//   Types  any, kept: aten::cumprod's dtype argument and the int64 of integers and bool are casts
//          before it. Floats accumulate in double; integers wrap around.

#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/scan.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

struct Multiply {
  template <typename A>
  A operator()(A a, A b) const {
    return wrap_mul(a, b);
  }
};

Status cumprod_out(KernelContext&, const Tensor& self, int64_t dim, Tensor& out) {
  TAPER_REQUIRE(self.scalar_type() == out.scalar_type(), Error::kInvalidType,
                "cumprod: out has another dtype than the input");
  TAPER_TRY(wrap_dim(dim, self.dim(), &dim));
  TAPER_TRY(out.resize(self.sizes()));
  scan<Multiply>(self, dim, self.scalar_type(), 1, out);
  return {};
}

}  // namespace

extern const Kernel kCumprodOut;
const Kernel kCumprodOut = make_kernel<cumprod_out>("taper::cumprod.out");

}  // namespace taper::portable
