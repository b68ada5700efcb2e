// aten::floor.out: the largest integer that is not above self.
//
//   Any dtype but bool, kept; integers stay as they are.

#include "kernels_portable/engine/elementwise.h"
#include "kernels_portable/engine/vector_math.h"

namespace taper::portable {
namespace {

struct Floor {
  int64_t operator()(int64_t x) const { return x; }
  template <typename C>
  C operator()(C x) const {
    return floor_of(x);
  }
};

Status floor_out(KernelContext&, const Tensor& self, Tensor& out) {
  TAPER_REQUIRE(self.scalar_type() != ScalarType::kBool, Error::kInvalidType,
                "floor: not defined for bool");
  return unary(Floor{}, self, out);
}

}  // namespace

extern const Kernel kFloorOut;
const Kernel kFloorOut = make_kernel<floor_out>("aten::floor.out");

}  // namespace taper::portable
