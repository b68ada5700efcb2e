// aten::any: whether some element is nonzero; NaN counts as nonzero.
//
//   Types     any dtype; the result is a bool, which out of any dtype may hold.
//   Overloads all_out (all elements), out (one dim), dims_out (some dims, or all).

#include "kernels_portable/engine/reduce.h"

namespace taper::portable {
namespace {

struct Any {
  template <typename C>
  static constexpr C start() {
    return 0;
  }
  template <typename C>
  C operator()(C found, C value) const {
    return found != 0 || value != 0 ? C{1} : C{0};
  }
};

Status any_dims_out(KernelContext&, const Tensor& self, std::optional<IntList> dims, bool keepdim,
                    Tensor& out) {
  DimMask mask = 0;
  // Unlike in the other reductions, an empty list of dims reduces none of them.
  if (!dims.has_value() || !dims->empty()) TAPER_TRY(make_dim_mask(dims, self.dim(), &mask));
  return reduce(reduction<Any>(), self, mask, keepdim, self.scalar_type(), ScalarType::kBool, 1,
                out);
}

Status any_all_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return any_dims_out(context, self, std::nullopt, false, out);
}

Status any_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, Tensor& out) {
  return any_dims_out(context, self, IntList(&dim, 1), keepdim, out);
}

}  // namespace

extern const Kernel kAnyAllOut;
extern const Kernel kAnyOut;
extern const Kernel kAnyDimsOut;
const Kernel kAnyAllOut = make_kernel<any_all_out>("aten::any.all_out");
const Kernel kAnyOut = make_kernel<any_out>("aten::any.out");
const Kernel kAnyDimsOut = make_kernel<any_dims_out>("aten::any.dims_out");

}  // namespace taper::portable
