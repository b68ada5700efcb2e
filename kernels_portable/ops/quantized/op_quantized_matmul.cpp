// quantized_decomposed::mixed_mm.out and mixed_linear.out: products of a float matrix and int8
// weights, which are dequantized block by block while they are multiplied.
//
//   mixed_mm      input [m, k] x weight [k, n], with a scale for each row of weight
//   mixed_linear  input [m, k] x weight [n, k]^T, with a scale for each row of weight, [n], or for
//                 each of several equal groups of a row, [n, groups]

#include <algorithm>

#include "kernels_portable/cores/gemm.h"
#include "kernels_portable/cores/quantized/row_sizes.h"
#include "kernels_portable/engine/compute.h"
#include "kernels_portable/engine/view.h"
#include "taper/kernel.h"

namespace taper::portable {
namespace {

float element_of(const Tensor& tensor, int64_t index) {
  return load_one<float>(element(tensor.const_data(), index, tensor.scalar_type()),
                         tensor.scalar_type());
}

// The weight as a [k, n] matrix, with the strides that lead to the scale of each element.
struct Weight {
  const Tensor& values;
  const Tensor& scales;
  const Tensor* zero_points;
  int64_t depth_stride;
  int64_t column_stride;
  int64_t group_length;        // Elements along k that share a scale.
  int64_t scale_depth_stride;  // The distance from one group's scale to the next.
  int64_t scale_column_stride;

  // Dequantizes elements [k, k + count) of column n, which share a scale, to floats `stride` apart.
  void read(int64_t k, int64_t n, int64_t count, int64_t stride, float* to) const {
    const int64_t param = k / group_length * scale_depth_stride + n * scale_column_stride;
    const float scale = element_of(scales, param);
    const float zero_point = zero_points == nullptr ? 0.0f : element_of(*zero_points, param);
    const int8_t* from = values.const_data_ptr<int8_t>() + k * depth_stride + n * column_stride;
    for (int64_t i = 0; i < count; ++i) {
      to[i * stride] = (static_cast<float>(from[i * depth_stride]) - zero_point) * scale;
    }
  }
};

class MixedProduct final : public Product<float> {
 public:
  MixedProduct(const Tensor& input, const Weight& weight, const Tensor& out, int64_t columns,
               int64_t depth)
      : Product<float>(depth == 0 ? 0 : input.numel() / depth, columns, depth),
        input_(input),
        weight_(weight),
        out_(out) {}

  Block<const float> left(int64_t m, int64_t rows, int64_t k, int64_t depth,
                          float* buffer) override {
    const ScalarType type = input_.scalar_type();
    for (int64_t i = 0; i < rows; ++i) {
      loader<float>(type)(element(input_.const_data(), (m + i) * this->depth() + k, type), 1, depth,
                          buffer + i * depth);
    }
    return {buffer, depth};
  }
  Block<const float> right(int64_t k, int64_t depth, int64_t n, int64_t columns,
                           float* buffer) override {
    for (int64_t i = 0; i < depth;) {
      const int64_t count =
          std::min(weight_.group_length - (k + i) % weight_.group_length, depth - i);
      for (int64_t j = 0; j < columns; ++j) {
        weight_.read(k + i, n + j, count, kBlockColumns<float>,
                     buffer + i * kBlockColumns<float> + j);
      }
      i += count;
    }
    return {buffer, kBlockColumns<float>};
  }
  Block<float> target(int64_t, int64_t) override { return {nullptr, 0}; }
  void finish(int64_t m, int64_t n, int64_t columns, float* sums) override {
    const ScalarType type = out_.scalar_type();
    storer<float>(type)(sums, columns, element(out_.mutable_data(), m * this->columns() + n, type),
                        1);
  }

 private:
  const Tensor& input_;
  const Weight& weight_;
  const Tensor& out_;
};

Status check_mixed(const Tensor& input, const Tensor& weight, const Tensor& scales,
                   const Tensor* zero_points, const Tensor& out) {
  TAPER_REQUIRE(weight.scalar_type() == ScalarType::kChar && weight.dim() == 2,
                Error::kInvalidArgument, "mixed product: weight must be an int8 matrix");
  TAPER_REQUIRE(is_floating(input.scalar_type()) && is_floating(scales.scalar_type()) &&
                    is_floating(out.scalar_type()),
                Error::kInvalidType, "mixed product: input, scales and out must be floating point");
  TAPER_REQUIRE((scales.dim() == 1 || scales.dim() == 2) && scales.size(0) == weight.size(0),
                Error::kInvalidArgument, "mixed product: there must be scales for each row");
  TAPER_REQUIRE(zero_points == nullptr || zero_points->numel() == scales.numel(),
                Error::kInvalidArgument,
                "mixed product: there must be a zero point for each scale");
  TAPER_REQUIRE(input.is_contiguous() && weight.is_contiguous() && scales.is_contiguous() &&
                    out.is_contiguous() && (zero_points == nullptr || zero_points->is_contiguous()),
                Error::kNotSupported, "mixed product: tensors must be contiguous");
  return {};
}

Status mixed_mm_out(KernelContext&, const Tensor& input, const Tensor& weight,
                    const Tensor& weight_scales, const Tensor* weight_zero_points, Tensor& out) {
  TAPER_TRY(check_mixed(input, weight, weight_scales, weight_zero_points, out));
  TAPER_REQUIRE(input.dim() == 2 && input.size(1) == weight.size(0) && weight_scales.dim() == 1,
                Error::kInvalidArgument, "mixed_mm: input, weight and scales do not fit");
  TAPER_REQUIRE(input.size(1) > 0, Error::kInvalidArgument, "mixed_mm: weight is empty");
  const int64_t sizes[] = {input.size(0), weight.size(1)};
  TAPER_TRY(resize_out(out, sizes, 2));
  const Weight view = {weight, weight_scales, weight_zero_points, sizes[1], 1, 1, 1, 0};
  MixedProduct product(input, view, out, sizes[1], input.size(1));
  multiply(product);
  return {};
}

Status mixed_linear_out(KernelContext&, const Tensor& input, const Tensor& weight,
                        const Tensor& weight_scales, const Tensor* weight_zero_points,
                        std::optional<int64_t> dtype, Tensor& out) {
  TAPER_TRY(check_mixed(input, weight, weight_scales, weight_zero_points, out));
  TAPER_REQUIRE(!dtype.has_value() || *dtype == static_cast<int64_t>(out.scalar_type()),
                Error::kInvalidType, "mixed_linear: the argument dtype must be the dtype of out");
  TAPER_REQUIRE(input.dim() >= 1 && input.size(input.dim() - 1) == weight.size(1),
                Error::kInvalidArgument, "mixed_linear: input and weight do not fit");
  const int64_t depth = weight.size(1);
  const int64_t groups = weight_scales.dim() == 2 ? weight_scales.size(1) : 1;
  TAPER_REQUIRE(depth > 0 && groups > 0 && depth % groups == 0, Error::kInvalidArgument,
                "mixed_linear: groups must divide the rows of weight evenly");
  TAPER_TRY(resize_rows(out, input, static_cast<size_t>(input.dim()) - 1, weight.size(0)));
  const Weight view = {weight, weight_scales, weight_zero_points, 1, depth, depth / groups,
                       1,      groups};
  MixedProduct product(input, view, out, weight.size(0), depth);
  multiply(product);
  return {};
}

}  // namespace

extern const Kernel kMixedMmOut;
const Kernel kMixedMmOut = make_kernel<mixed_mm_out>("quantized_decomposed::mixed_mm.out");
extern const Kernel kMixedLinearOut;
const Kernel kMixedLinearOut =
    make_kernel<mixed_linear_out>("quantized_decomposed::mixed_linear.out");

}  // namespace taper::portable
