// The factories: full, full_like, zeros, ones, empty, their _like forms, scalar_tensor, and
// dim_order_ops::_empty_dim_order. The value is converted to the dtype of out.

#include "kernels_portable/engine/dims.h"
#include "kernels_portable/engine/fill.h"

namespace taper::portable {
namespace {

Status full(KernelContext&, IntList size, Scalar value, Tensor& out) {
  TAPER_TRY(resize_out(out, size.data(), size.size()));
  fill_elements(out, value);
  return {};
}

Status full_like(KernelContext&, const Tensor& self, Scalar value, std::optional<int64_t>,
                 Tensor& out) {
  TAPER_TRY(out.resize(self.sizes()));
  fill_elements(out, value);
  return {};
}

Status zeros(KernelContext& context, IntList size, Tensor& out) {
  return full(context, size, int64_t{0}, out);
}

Status zeros_like(KernelContext& context, const Tensor& self, std::optional<int64_t> format,
                  Tensor& out) {
  return full_like(context, self, int64_t{0}, format, out);
}

Status ones(KernelContext& context, IntList size, Tensor& out) {
  return full(context, size, int64_t{1}, out);
}

Status ones_like(KernelContext& context, const Tensor& self, std::optional<int64_t> format,
                 Tensor& out) {
  return full_like(context, self, int64_t{1}, format, out);
}

Status empty(KernelContext&, IntList size, std::optional<int64_t>, Tensor& out) {
  return resize_out(out, size.data(), size.size());
}

Status empty_like(KernelContext&, const Tensor& self, std::optional<int64_t>, Tensor& out) {
  return out.resize(self.sizes());
}

// The dim order of out is declared by the program; the argument must agree with it.
Status empty_dim_order(KernelContext&, IntList size, std::optional<IntList> dim_order,
                       Tensor& out) {
  TAPER_TRY(resize_out(out, size.data(), size.size()));
  return check_dim_order(dim_order, out);
}

Status scalar_tensor(KernelContext&, Scalar value, Tensor& out) {
  TAPER_TRY(resize_out(out, nullptr, 0));
  fill_elements(out, value);
  return {};
}

}  // namespace

extern const Kernel kFullOut;
const Kernel kFullOut = make_kernel<full>("aten::full.out");
extern const Kernel kFullLikeOut;
const Kernel kFullLikeOut = make_kernel<full_like>("aten::full_like.out");
extern const Kernel kZerosOut;
const Kernel kZerosOut = make_kernel<zeros>("aten::zeros.out");
extern const Kernel kZerosLikeOut;
const Kernel kZerosLikeOut = make_kernel<zeros_like>("aten::zeros_like.out");
extern const Kernel kOnesOut;
const Kernel kOnesOut = make_kernel<ones>("aten::ones.out");
extern const Kernel kOnesLikeOut;
const Kernel kOnesLikeOut = make_kernel<ones_like>("aten::ones_like.out");
extern const Kernel kEmptyOut;
const Kernel kEmptyOut = make_kernel<empty>("aten::empty.out");
extern const Kernel kEmptyLikeOut;
const Kernel kEmptyLikeOut = make_kernel<empty_like>("aten::empty_like.out");
extern const Kernel kEmptyDimOrderOut;
const Kernel kEmptyDimOrderOut =
    make_kernel<empty_dim_order>("dim_order_ops::_empty_dim_order.out");
extern const Kernel kScalarTensorOut;
const Kernel kScalarTensorOut = make_kernel<scalar_tensor>("aten::scalar_tensor.out");

}  // namespace taper::portable
