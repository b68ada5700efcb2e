// taper::packed_linear.out: a linear layer whose weights are integers with scales (packed_matrix.h
// says how they lie). They become floats block by block while they are multiplied.
//
//   out = input [..., k] x weight [n, k]^T + bias [n]      in float32

#include "kernels_portable/cores/gemm.h"
#include "kernels_portable/cores/quantized/packed_matrix.h"

namespace taper::portable {
namespace {

class PackedProduct final : public Product<float> {
 public:
  explicit PackedProduct(const PackedLinear& layer)
      : Product<float>(layer.input.numel() / layer.matrix.columns, layer.matrix.rows,
                       layer.matrix.columns),
        layer_(layer) {}

  Block<const float> left(int64_t m, int64_t, int64_t k, int64_t, float*) override {
    return {layer_.input.const_data_ptr<float>() + m * depth() + k, depth()};
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

Status packed_linear_out(KernelContext&, const Tensor& input, const Tensor& weight,
                         const Tensor& scales, const Tensor* zero_points, const Tensor* bias,
                         int64_t bits, Tensor& out) {
  PackedLinear layer = {input, {&weight, &scales, zero_points, bits, 0, 0}, bias, out};
  TAPER_TRY(prepare_packed_linear(layer));
  PackedProduct product(layer);
  multiply(product);
  return {};
}

}  // namespace

extern const Kernel kPackedLinearOut;
const Kernel kPackedLinearOut = make_kernel<packed_linear_out>("taper::packed_linear.out");

}  // namespace taper::portable
