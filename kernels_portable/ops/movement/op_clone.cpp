// aten::clone.out and other operators that only copy: out = self.
//
//   These are clone, dim_order_ops::_clone_dim_order, lift_fresh_copy, detach_copy, alias_copy and
//   llama::fallback. The dtype is kept; the dim order is that of out, and a dim_order argument must
//   agree with it.

#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

Status copy_of(KernelContext&, const Tensor& self, Tensor& out) {
  TAPER_REQUIRE(out.scalar_type() == self.scalar_type(), Error::kInvalidType,
                "clone: out must have the dtype of self");
  TAPER_TRY(out.resize(self.sizes()));
  return copy_elements(self, out);
}

Status clone_out(KernelContext& context, const Tensor& self, std::optional<int64_t>, Tensor& out) {
  return copy_of(context, self, out);
}

Status clone_dim_order_out(KernelContext& context, const Tensor& self, bool,
                           std::optional<IntList> dim_order, Tensor& out) {
  TAPER_TRY(copy_of(context, self, out));
  return check_dim_order(dim_order, out);  // Which sizes are 1 is known by now.
}

}  // namespace

extern const Kernel kCloneOut;
extern const Kernel kCloneDimOrderOut;
extern const Kernel kLiftFreshCopyOut;
extern const Kernel kDetachCopyOut;
extern const Kernel kAliasCopyOut;
extern const Kernel kFallbackOut;
const Kernel kCloneOut = make_kernel<clone_out, Takes::kComplexToo>("aten::clone.out");
const Kernel kCloneDimOrderOut =
    make_kernel<clone_dim_order_out, Takes::kComplexToo>("dim_order_ops::_clone_dim_order.out");
const Kernel kLiftFreshCopyOut =
    make_kernel<copy_of, Takes::kComplexToo>("aten::lift_fresh_copy.out");
const Kernel kDetachCopyOut = make_kernel<copy_of, Takes::kComplexToo>("aten::detach_copy.out");
const Kernel kAliasCopyOut = make_kernel<copy_of, Takes::kComplexToo>("aten::alias_copy.out");
const Kernel kFallbackOut = make_kernel<copy_of>("llama::fallback.out");

}  // namespace taper::portable
