// aten::linear.out: input x weight^T + bias over the last dimension of input; weight is
// [features, k], or [k] for a single feature whose dimension is dropped.
//
// If there are few rows, the weight is read once, in memory order.

#include "kernels_portable/cores/matmul.h"
#include "kernels_portable/engine/view.h"

namespace taper::portable {
namespace {

Status check_linear(const Tensor& input, const Tensor& weight, const Tensor* bias,
                    const Tensor& out) {
  TAPER_REQUIRE(input.dim() >= 1 && (weight.dim() == 1 || weight.dim() == 2),
                Error::kInvalidArgument, "linear: input or weight has a wrong rank");
  TAPER_REQUIRE(input.size(input.dim() - 1) == weight.size(weight.dim() - 1),
                Error::kInvalidArgument, "linear: the last sizes of input and weight differ");
  TAPER_TRY(check_product_types(input, weight, out));
  TAPER_REQUIRE(input.is_contiguous() && out.is_contiguous(), Error::kNotSupported,
                "linear: input and out must be contiguous");
  if (bias == nullptr) return {};
  const int64_t features = weight.dim() == 2 ? weight.size(0) : 1;
  TAPER_REQUIRE(bias->dim() <= 1 && (bias->numel() == features || bias->numel() == 1),
                Error::kInvalidArgument, "linear: bias must have one element for each feature");
  TAPER_REQUIRE(bias->scalar_type() == input.scalar_type(), Error::kInvalidType,
                "linear: bias must have the dtype of input");
  return {};
}

Status linear_out(KernelContext&, const Tensor& input, const Tensor& weight, const Tensor* bias,
                  Tensor& out) {
  TAPER_TRY(check_linear(input, weight, bias, out));
  int64_t sizes[kMaxRank];
  size_t rank = static_cast<size_t>(input.dim()) - 1;
  int64_t rows = 1;
  for (size_t d = 0; d < rank; ++d) rows *= sizes[d] = input.sizes()[d];
  const int64_t depth = weight.size(weight.dim() - 1);
  const int64_t features = weight.dim() == 2 ? weight.size(0) : 1;
  if (weight.dim() == 2) sizes[rank++] = features;
  TAPER_TRY(resize_out(out, sizes, rank));
  const ScalarType type = input.scalar_type();
  const MatrixView left = {input.mutable_data(), type, 0, depth, 1};
  const MatrixView right = weight.dim() == 2 ? transposed(matrix_of(weight))
                                             : MatrixView{weight.mutable_data(), type, 0, 1, depth};
  const MatrixView to = {out.mutable_data(), type, 0, features, 1};
  const MatrixView added = bias != nullptr ? broadcast_matrix(*bias) : MatrixView{};
  matmul({rows, features, depth, left, right, to, bias != nullptr ? &added : nullptr});
  return {};
}

}  // namespace

extern const Kernel kLinearOut;
const Kernel kLinearOut = make_kernel<linear_out>("aten::linear.out");

}  // namespace taper::portable
