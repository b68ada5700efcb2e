// aten::round.out: the nearest integer; ties round to even.
//
//   Any dtype but bool, kept; integers stay as they are.

#include "kernels_portable/engine/elementwise.h"
#include "kernels_portable/engine/vector_math.h"

namespace taper::portable {
namespace {

struct Round {
  int64_t operator()(int64_t x) const { return x; }
  template <typename C>
  C operator()(C x) const {
    return round_of(x);
  }
};

Status round_out(KernelContext&, const Tensor& self, Tensor& out) {
  TAPER_REQUIRE(self.scalar_type() != ScalarType::kBool, Error::kInvalidType,
                "round: not defined for bool");
  return unary(Round{}, self, out);
}

}  // namespace

extern const Kernel kRoundOut;
const Kernel kRoundOut = make_kernel<round_out>("aten::round.out");

}  // namespace taper::portable
