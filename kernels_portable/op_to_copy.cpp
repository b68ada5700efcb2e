// aten::_to_copy.out and dim_order_ops::_to_dim_order_copy.out: self in the dtype and dim order
// of out. Any dtype becomes any other; a float becomes an integer by dropping its fraction.
//
//   Of the arguments only dim_order is looked at, and only compared: it must be that of out.

#include "kernels_portable/dims.h"
#include "kernels_portable/elementwise.h"

namespace taper::portable {
namespace {

Status to_copy_out(KernelContext&, const Tensor& self, bool, std::optional<int64_t>, Tensor& out) {
  TAPER_TRY(out.resize(self.sizes()));
  return copy_elements(self, out);
}

Status to_dim_order_copy_out(KernelContext&, const Tensor& self, bool,
                             std::optional<IntList> dim_order, Tensor& out) {
  TAPER_TRY(check_dim_order(dim_order, out));
  TAPER_TRY(out.resize(self.sizes()));
  return copy_elements(self, out);
}

}  // namespace

extern const Kernel kToCopyOut;
extern const Kernel kToDimOrderCopyOut;
const Kernel kToCopyOut = make_kernel<to_copy_out>("aten::_to_copy.out");
const Kernel kToDimOrderCopyOut =
    make_kernel<to_dim_order_copy_out>("dim_order_ops::_to_dim_order_copy.out");

}  // namespace taper::portable
