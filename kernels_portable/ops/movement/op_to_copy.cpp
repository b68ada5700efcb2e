// aten::_to_copy.out and dim_order_ops::_to_dim_order_copy.out: self in the dtype and dim order of
// out. Any real dtype converts to any other; a float converts to an integer by truncation.
//
//   Arguments  dim_order must be that of out; the others are ignored.

#include "kernels_portable/engine/complex.h"
#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/elementwise.h"

namespace taper::portable {
namespace {

// Converts complex to complex and real to complex, but not complex to real.
Status convert(const Tensor& self, Tensor& out) {
  TAPER_TRY(out.resize(self.sizes()));
  const bool same = self.scalar_type() == out.scalar_type();
  if (same || !(is_complex(self.scalar_type()) || is_complex(out.scalar_type()))) {
    return copy_elements(self, out);
  }
  return complex_binary(ComplexOp::kAdd, self, Scalar(int64_t{0}), 1, out);
}

Status to_copy_out(KernelContext&, const Tensor& self, bool, std::optional<int64_t>, Tensor& out) {
  return convert(self, out);
}

Status to_dim_order_copy_out(KernelContext&, const Tensor& self, bool,
                             std::optional<IntList> dim_order, Tensor& out) {
  TAPER_TRY(convert(self, out));
  return check_dim_order(dim_order, out);  // Which sizes are 1 is known by now.
}

}  // namespace

extern const Kernel kToCopyOut;
extern const Kernel kToDimOrderCopyOut;
const Kernel kToCopyOut = make_kernel<to_copy_out, Takes::kComplexToo>("aten::_to_copy.out");
const Kernel kToDimOrderCopyOut =
    make_kernel<to_dim_order_copy_out, Takes::kComplexToo>("dim_order_ops::_to_dim_order_copy.out");

}  // namespace taper::portable
