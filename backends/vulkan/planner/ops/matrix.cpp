// Products of matrices: linear, mm, bmm, addmm. Semantics: PyTorch, float32 with float32 sums.

#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/ops/product.h"
#include "backends/vulkan/planner/ops/strided.h"

namespace taper::vulkan {
namespace {

void require_floats(Call& call, const Operand& a, const Operand& b) {
  call.require(a.dtype == ScalarType::kFloat && b.dtype == ScalarType::kFloat,
               "it multiplies a dtype other than float32");
}

// linear(x, weight, bias?): rows of x times rows of weight.
void plan_linear(Call& call, int) {
  const Operand x = call.tensor(0), weight = call.tensor(1);
  Product p;
  p.has_bias = !call.is_none(2);
  if (p.has_bias) p.bias = call.tensor(2);
  require_floats(call, x, weight);
  const size_t rank = x.dims.rank;
  const bool fits = rank >= 1 && weight.dims.rank == 2 && weight.dims[1] == x.dims[rank - 1];
  if (!call.require(fits, "its sizes do not fit together")) return;
  call.require(!p.has_bias || (p.bias.dims.numel() == weight.dims[0] && p.bias.dims.rank <= 1 &&
                               p.bias.dtype == ScalarType::kFloat),
               "its bias does not have an element for each column");
  p.m = x.dims.product(0, rank - 1);
  p.n = weight.dims[0];
  p.k = weight.dims[1];
  p.a = x;
  p.a_m = p.k;
  p.a_k = 1;
  p.b = weight;
  p.b_k = 1;
  p.b_n = p.k;
  p.second = SecondMatrix::kByRow;
  Dims dims = x.dims;
  dims[rank - 1] = p.n;
  p.epilogue = call.epilogue();
  p.out = call.half_result(dims, p.epilogue.dtype());
  multiply(call, p);
}

// linear_dW(d_out, x): the gradient of a linear layer's weight, which is the product of the columns
// of d_out with those of x.
void plan_weight_gradient(Call& call, int) {
  const Operand slope = call.tensor(0), x = call.tensor(1);
  require_floats(call, slope, x);
  const size_t rank = x.dims.rank;
  const bool has_rows = rank >= 1 && slope.dims.rank >= 1;
  if (!call.require(has_rows, "its sizes do not fit together")) return;
  Product p;
  p.m = slope.dims[slope.dims.rank - 1];
  p.n = x.dims[rank - 1];
  p.k = x.dims.product(0, rank - 1);
  call.require(slope.dims.product(0, slope.dims.rank - 1) == p.k, "its sizes do not fit together");
  p.a = slope;
  p.a_m = 1;
  p.a_k = p.m;
  p.b = x;
  p.b_k = p.n;
  p.b_n = 1;
  p.out = call.half_result({2, {p.m, p.n}}, ScalarType::kFloat);
  multiply(call, p);
}

// a: [batch, m, k], b: [batch, k, n], both dense.
Product dense_product(Call& call, const Operand& a, const Operand& b) {
  require_floats(call, a, b);
  Product p;
  const size_t rank = a.dims.rank;
  bool fits = (rank == 2 || rank == 3) && b.dims.rank == rank;
  fits = fits && a.dims[rank - 1] == b.dims[rank - 2] && (rank == 2 || a.dims[0] == b.dims[0]);
  if (!call.require(fits, "its sizes do not fit together")) return p;
  p.batch = rank == 3 ? a.dims[0] : 1;
  p.m = a.dims[rank - 2];
  p.k = a.dims[rank - 1];
  p.n = b.dims[rank - 1];
  p.a = a;
  p.a_m = p.k;
  p.a_k = 1;
  p.a_outer = p.m * p.k;
  p.b = b;
  p.b_k = p.n;
  p.b_n = 1;
  p.b_outer = p.k * p.n;
  return p;
}

Dims product_dims(const Operand& a, const Product& p) {
  Dims dims = a.dims;
  if (dims.rank > 0) dims[dims.rank - 1] = p.n;
  return dims;
}

// mm(a, b), bmm(a, b): `rank` of both
void plan_mm(Call& call, int rank) {
  const Operand a = call.tensor(0), b = call.tensor(1);
  call.require(a.dims.rank == static_cast<size_t>(rank), "its operands have another rank");
  Product p = dense_product(call, a, b);
  p.epilogue = call.epilogue();
  p.out = call.half_result(product_dims(a, p), p.epilogue.dtype());
  multiply(call, p);
}

// What is added to a product, and the product, are multiplied by numbers, of which one must be 1.
// The sum is computed as one + p * other.
struct Sum {
  Operand one, other;
  float p;
};
Sum scaled_sum(Call& call, const Operand& product, const Operand& bias) {
  const double beta = call.number(3, 1), alpha = call.number(4, 1);
  call.require(beta != 0 && (alpha == 1 || beta == 1), "it scales what it adds and the product");
  if (beta == 1) return {bias, product, static_cast<float>(alpha)};
  return {product, bias, static_cast<float>(beta)};
}

// addmm(bias, a, b, Scalar beta, Scalar alpha), baddbmm: `rank` of a and b
void plan_addmm(Call& call, int rank) {
  const Operand bias = call.tensor(0), a = call.tensor(1), b = call.tensor(2);
  const bool is_plain = call.number(3, 1) == 1 && call.number(4, 1) == 1;
  call.require(a.dims.rank == static_cast<size_t>(rank) && bias.dtype == ScalarType::kFloat,
               "its operands have another rank or dtype");
  Product p = dense_product(call, a, b);
  const Dims dims = product_dims(a, p);
  call.require(broadcast(call, bias.dims, dims) == dims, "its bias does not broadcast");
  if (!call.ok()) return;
  p.has_bias = is_plain && bias.dims.rank >= 1 && bias.dims[bias.dims.rank - 1] == p.n &&
               bias.dims.numel() == p.n;
  p.bias = bias;
  Operand product = call.temporary(p.has_bias ? 0 : dims.numel());
  product.dims = dims;
  const Operand out = call.half_result(dims, ScalarType::kFloat);
  p.out = p.has_bias ? out : product;
  multiply(call, p);
  if (p.has_bias) return;
  const Sum sum = scaled_sum(call, product, bias);
  elementwise(call, ADD, out, {sum.one, sum.other}, {sum.p, 0});
}

constexpr Operator kOperators[] = {
    {"aten.linear.default", "aten::linear.out", 3, plan_linear, 0, true},
    {"aten.mm.default", "aten::mm.out", 2, plan_mm, 2, true},
    {"aten.bmm.default", "aten::bmm.out", 2, plan_mm, 3, true},
    with_factors({"aten.addmm.default", "aten::addmm.out", 5, plan_addmm, 2}, 1),
    with_factors({"aten.baddbmm.default", "aten::baddbmm.out", 5, plan_addmm, 3}, 1),
    {"et_vk.linear_dW.default", "vulkan::linear_dw", 2, plan_weight_gradient},
};

}  // namespace

const Span<const Operator> kMatrixOperators = kOperators;

}  // namespace taper::vulkan
