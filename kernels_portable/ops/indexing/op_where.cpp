// aten::where.self_out: out = self where condition is true, else other; all three broadcast.
//
//   Types  condition is bool or uint8; out has the promoted dtype of self and other.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Where {
  template <typename C>
  C operator()(C condition, C a, C b) const {
    return condition != 0 ? a : b;
  }
};

Status where_self_out(KernelContext&, const Tensor& condition, const Tensor& self,
                      const Tensor& other, Tensor& out) {
  TAPER_REQUIRE(
      condition.scalar_type() == ScalarType::kBool || condition.scalar_type() == ScalarType::kByte,
      Error::kInvalidType, "where: condition must be bool or uint8");
  const Operand values[] = {self, other};
  return choose(Where{}, condition, self, other, result_type(values), out);
}

}  // namespace

extern const Kernel kWhereSelfOut;
const Kernel kWhereSelfOut = make_kernel<where_self_out>("aten::where.self_out");

}  // namespace taper::portable
