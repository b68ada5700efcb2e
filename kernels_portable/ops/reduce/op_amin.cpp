// aten::amin.out: the smallest element over dims, all of them if none is given.
//
//   Any dtype, kept. NaN if any element is NaN. A reduction of no elements is refused.

#include <limits>

#include "kernels_portable/engine/reduce.h"

namespace taper::portable {
namespace {

struct Amin {
  template <typename C>
  static constexpr C start() {
    if constexpr (std::is_integral_v<C>) return std::numeric_limits<C>::max();
    return std::numeric_limits<C>::infinity();
  }
  template <typename C>
  C operator()(C best, C value) const {
    const C chosen = value < best ? value : best;  // If `best` is NaN, `chosen` is too.
    return value != value ? value : chosen;
  }
};

Status amin_out(KernelContext&, const Tensor& self, IntList dims, bool keepdim, Tensor& out) {
  DimMask mask = 0;
  TAPER_TRY(make_dim_mask(dims, self.dim(), &mask));
  TAPER_REQUIRE(folded_elements(self, mask) > 0, Error::kInvalidArgument,
                "amin: a reduced dim must have at least one element");
  const ScalarType type = self.scalar_type();
  return reduce(fast_reduction<Amin>(), self, mask, keepdim, type, type, 1, out);
}

}  // namespace

extern const Kernel kAminOut;
const Kernel kAminOut = make_kernel<amin_out>("aten::amin.out");

}  // namespace taper::portable
