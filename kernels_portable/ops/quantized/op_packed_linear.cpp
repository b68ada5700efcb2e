// taper::packed_linear.out and packed_linear_rows.out: a linear layer whose weights are integers
// with scales (packed_matrix.h says how they lie), and whose input is floats, or int8 with a scale
// for each row. They become floats block by block while they are multiplied.
//
//   out = input [..., k] x weight [n, k]^T + bias [n]      in float32

#include "kernels_portable/cores/gemm.h"
#include "kernels_portable/cores/quantized/packed_matrix.h"

namespace taper::portable {
namespace {

class PackedProduct final : public Product<float> {
 public:
  explicit PackedProduct(const PackedLinear& layer)
      : Product<float>(layer.rows(), layer.matrix.rows, layer.matrix.columns), layer_(layer) {}

  Block<const float> left(int64_t m, int64_t rows, int64_t k, int64_t depth,
                          float* buffer) override {
    if (layer_.input_scales == nullptr) {
      return {layer_.input.const_data_ptr<float>() + m * this->depth() + k, this->depth()};
    }
    for (int64_t i = 0; i < rows; ++i) layer_.read_input(m + i, k, depth, buffer + i * depth);
    return {buffer, depth};
  }
  Block<const float> right(int64_t k, int64_t depth, int64_t n, int64_t columns,
                           float* buffer) override {
    for (int64_t j = 0; j < columns; ++j) {
      layer_.matrix.read(n + j, k, depth, buffer + j, kBlockColumns<float>);
    }
    return {buffer, kBlockColumns<float>};
  }
  Block<float> target(int64_t m, int64_t n) override {
    return {layer_.out.mutable_data_ptr<float>() + m * columns() + n, columns()};
  }
  void finish(int64_t, int64_t n, int64_t columns, float* sums) override {
    if (layer_.bias == nullptr) return;
    const float* bias = layer_.bias->const_data_ptr<float>() + n;
    for (int64_t j = 0; j < columns; ++j) sums[j] += bias[j];
  }

 private:
  const PackedLinear& layer_;
};

Status multiply_packed(PackedLinear layer) {
  TAPER_TRY(prepare_packed_linear(layer));
  PackedProduct product(layer);
  multiply(product);
  return {};
}

Status packed_linear_out(KernelContext&, const Tensor& input, const Tensor& weight,
                         const Tensor& scales, const Tensor* zero_points, const Tensor* bias,
                         int64_t bits, Tensor& out) {
  return multiply_packed({input, {&weight, &scales, zero_points, bits, 0, 0}, bias, out});
}

Status packed_linear_rows_out(KernelContext&, const Tensor& input, const Tensor& input_scales,
                              const Tensor& input_zero_points, const Tensor& weight,
                              const Tensor& scales, const Tensor* zero_points, const Tensor* bias,
                              int64_t bits, Tensor& out) {
  return multiply_packed({input,
                          {&weight, &scales, zero_points, bits, 0, 0},
                          bias,
                          out,
                          &input_scales,
                          &input_zero_points});
}

}  // namespace

extern const Kernel kPackedLinearOut, kPackedLinearRowsOut;
const Kernel kPackedLinearOut = make_kernel<packed_linear_out>("taper::packed_linear.out");
const Kernel kPackedLinearRowsOut =
    make_kernel<packed_linear_rows_out>("taper::packed_linear_rows.out");

}  // namespace taper::portable
