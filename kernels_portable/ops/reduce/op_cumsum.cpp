// aten::cumsum.out: running sums along dim.
//
//   Types     floats keep their dtype and accumulate in double; integers and bool become int64. The
//             argument dtype overrides that.

#include "kernels_portable/engine/arith.h"
#include "kernels_portable/engine/promote.h"
#include "kernels_portable/engine/reduce.h"
#include "kernels_portable/engine/scan.h"

namespace taper::portable {
namespace {

struct Add {
  template <typename A>
  A operator()(A a, A b) const {
    return wrap_add(a, b);
  }
};

Status cumsum_out(KernelContext&, const Tensor& self, int64_t dim, std::optional<int64_t> dtype,
                  Tensor& out) {
  ScalarType type;
  TAPER_TRY(dtype_or(dtype, sum_type(self.scalar_type()), &type));
  TAPER_TRY(wrap_dim(dim, self.dim(), &dim));
  TAPER_REQUIRE(can_cast(type, out.scalar_type()), Error::kInvalidType,
                "cumsum: the result cannot be cast to the dtype of out");
  TAPER_TRY(out.resize(self.sizes()));
  scan<Add>(self, dim, type, 0, out);
  return {};
}

}  // namespace

extern const Kernel kCumsumOut;
const Kernel kCumsumOut = make_kernel<cumsum_out>("aten::cumsum.out");

}  // namespace taper::portable
