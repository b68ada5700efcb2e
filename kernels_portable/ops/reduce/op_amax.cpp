// aten::amax.out: the largest element over dims, all of them if none is given.
//
//   Any dtype, kept. NaN if any element is NaN. A reduction of no elements is refused.

#include <limits>

#include "kernels_portable/engine/reduce.h"

namespace taper::portable {
namespace {

struct Amax {
  template <typename C>
  static constexpr C start() {
    if constexpr (std::is_integral_v<C>) return std::numeric_limits<C>::min();
    return -std::numeric_limits<C>::infinity();
  }
  template <typename C>
  C operator()(C best, C value) const {
    const C chosen = value > best ? value : best;  // If `best` is NaN, `chosen` is too.
    return value != value ? value : chosen;
  }
};

Status amax_out(KernelContext&, const Tensor& self, IntList dims, bool keepdim, Tensor& out) {
  DimMask mask = 0;
  TAPER_TRY(make_dim_mask(dims, self.dim(), &mask));
  TAPER_REQUIRE(folded_elements(self, mask) > 0, Error::kInvalidArgument,
                "amax: a reduced dim must have at least one element");
  const ScalarType type = self.scalar_type();
  return reduce(fast_reduction<Amax>(), self, mask, keepdim, type, type, 1, out);
}

}  // namespace

extern const Kernel kAmaxOut;
const Kernel kAmaxOut = make_kernel<amax_out>("aten::amax.out");

}  // namespace taper::portable
