// aten::bitwise_not.out: every bit of self inverted; for bool, logical not.

#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

struct Flip {
  int64_t operator()(int64_t x) const { return ~x; }
};

struct Not {
  int64_t operator()(int64_t x) const { return x == 0 ? 1 : 0; }
};

template <typename Op>
Status run(const Op& op, const Tensor& self, Tensor& out) {
  const Operand in[] = {self};
  const Loops loops = {nullptr, nullptr, unary_loop<Op, int64_t>};
  return elementwise(self.scalar_type(), self.scalar_type(), loops, &op, in, out);
}

Status bitwise_not_out(KernelContext&, const Tensor& self, Tensor& out) {
  if (self.scalar_type() == ScalarType::kBool) return run(Not{}, self, out);
  return run(Flip{}, self, out);
}

}  // namespace

extern const Kernel kBitwiseNotOut;
const Kernel kBitwiseNotOut = make_kernel<bitwise_not_out>("aten::bitwise_not.out");

}  // namespace taper::portable
