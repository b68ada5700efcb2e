// The rules that compute the types of a call's results, and the call as a rule sees it.
//
// facts.def names the rule of each operator. A rule throws Failure if the arguments violate it.

#pragma once

#include <string_view>
#include <vector>

#include "exir/ops/infer.h"

namespace taper::exir {

using Sizes = std::vector<Sym>;
using Types = std::vector<TensorType>;

// A call with its arguments by name.
struct Call {
  const Schema& schema;
  const std::vector<Argument>& args;

  const Argument& arg(std::string_view name) const {
    const int index = schema.find(name);
    if (index < 0) throw Failure(schema.name + " has no argument '" + std::string(name) + "'");
    return args[static_cast<size_t>(index)];
  }
  bool has(std::string_view name) const {
    const int index = schema.find(name);
    return index >= 0 && !args[static_cast<size_t>(index)].is_none();
  }
  const TensorType& tensor(size_t i) const { return args[i].value()->type; }
  const TensorType& tensor(std::string_view name) const { return arg(name).value()->type; }
  int64_t integer(std::string_view name) const { return arg(name).to_int(); }
  bool flag(std::string_view name) const { return has(name) && arg(name).to_bool(); }
  // The explicit dtype argument, or `otherwise`.
  ScalarType dtype_or(ScalarType otherwise) const {
    if (!has("dtype")) return otherwise;
    return std::get<ScalarType>(arg("dtype").v);
  }
};

namespace rules {

// Element-wise operators and reductions: infer_element.cpp.
Types binary(const Call& c);
Types binary_bool(const Call& c);
Types binary_float(const Call& c);
Types clamp(const Call& c);
Types dequantized(const Call& c);
Types dequantized_groups(const Call& c);
Types dequantized_int4(const Call& c);
Types dequantized_gguf(const Call& c);
Types divide_mode(const Call& c);
Types lerp(const Call& c);
Types masked_fill(const Call& c);
Types reduce_bool(const Call& c);
Types reduce_float(const Call& c);
Types reduce_index(const Call& c);
Types reduce_same(const Call& c);
Types reduce_sum(const Call& c);
Types reduce_with_index(const Call& c);
Types same(const Call& c);
Types same_bool(const Call& c);
Types same_long(const Call& c);
Types same_float(const Call& c);
Types scan_sum(const Call& c);
Types to_copy(const Call& c);
Types where(const Call& c);

// Operators that move or select elements, and factories: infer_shape.cpp.
Types arange(const Call& c);
Types cat(const Call& c);
Types constant_pad(const Call& c);
Types expand(const Call& c);
Types flatten(const Call& c);
Types full(const Call& c);
Types full_like(const Call& c);
Types index(const Call& c);
Types index_select(const Call& c);
Types like_index(const Call& c);
Types permute(const Call& c);
Types random(const Call& c);
Types repeat(const Call& c);
Types scalar_tensor(const Call& c);
Types select(const Call& c);
Types slice(const Call& c);
Types sort(const Call& c);
Types split_sizes(const Call& c);
Types squeeze_dims(const Call& c);
Types swap_dims(const Call& c);
Types topk(const Call& c);
Types unsqueeze(const Call& c);
Types view(const Call& c);
Types view_dtype(const Call& c);

// Products, convolution, pooling, normalisation, linear algebra: infer_layer.cpp.
Types adaptive_pool(const Call& c);
Types addmm(const Call& c);
Types attention(const Call& c);
Types batch_norm(const Call& c);
Types bmm(const Call& c);
Types convolution(const Call& c);
Types diagonal(const Call& c);
Types embedding(const Call& c);
Types group_norm(const Call& c);
Types fft_c2r(const Call& c);
Types fft_r2c(const Call& c);
Types gru(const Call& c);
Types layer_norm(const Call& c);
Types linalg_cholesky(const Call& c);
Types linalg_det(const Call& c);
Types linalg_eigh(const Call& c);
Types linalg_qr(const Call& c);
Types linalg_slogdet(const Call& c);
Types linalg_solve(const Call& c);
Types linalg_svd(const Call& c);
Types linalg_triangular(const Call& c);
Types linear(const Call& c);
Types packed_linear_rows(const Call& c);
Types looked_up(const Call& c);
Types quantized_rows(const Call& c);
Types lstm(const Call& c);
Types matmul(const Call& c);
Types mm(const Call& c);
Types pool(const Call& c);
Types pool_with_index(const Call& c);
Types upsample(const Call& c);

}  // namespace rules
}  // namespace taper::exir
