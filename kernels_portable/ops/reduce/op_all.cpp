// aten::all: whether every element is nonzero; NaN counts as nonzero.
//
//   Types     any dtype; the result is a bool, which out of any dtype may hold.
//   Overloads all_out (all elements), out (one dim), dims_out (some dims, or all).

#include "kernels_portable/engine/reduce.h"

namespace taper::portable {
namespace {

struct All {
  template <typename C>
  static constexpr C start() {
    return 1;
  }
  template <typename C>
  C operator()(C found, C value) const {
    return found != 0 && value != 0 ? C{1} : C{0};
  }
};

Status all_dims_out(KernelContext&, const Tensor& self, std::optional<IntList> dims, bool keepdim,
                    Tensor& out) {
  DimMask mask = 0;
  // Unlike in the other reductions, an empty list of dims reduces none of them.
  if (!dims.has_value() || !dims->empty()) TAPER_TRY(make_dim_mask(dims, self.dim(), &mask));
  return reduce(reduction<All>(), self, mask, keepdim, self.scalar_type(), ScalarType::kBool, 1,
                out);
}

Status all_all_out(KernelContext& context, const Tensor& self, Tensor& out) {
  return all_dims_out(context, self, std::nullopt, false, out);
}

Status all_out(KernelContext& context, const Tensor& self, int64_t dim, bool keepdim, Tensor& out) {
  return all_dims_out(context, self, IntList(&dim, 1), keepdim, out);
}

}  // namespace

extern const Kernel kAllAllOut;
extern const Kernel kAllOut;
extern const Kernel kAllDimsOut;
const Kernel kAllAllOut = make_kernel<all_all_out>("aten::all.all_out");
const Kernel kAllOut = make_kernel<all_out>("aten::all.out");
const Kernel kAllDimsOut = make_kernel<all_dims_out>("aten::all.dims_out");

}  // namespace taper::portable
