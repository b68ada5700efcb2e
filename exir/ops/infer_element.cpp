// Types of element-wise operators and reductions.

#include <algorithm>

#include "exir/ops/infer_call.h"
#include "exir/ops/promote.h"

namespace taper::exir {
namespace {

// ---- element-wise ----

Types same(const Call& c) { return {TensorType(c.tensor(0).dtype, c.tensor(0).sizes)}; }
Types same_bool(const Call& c) { return {TensorType(ScalarType::kBool, c.tensor(0).sizes)}; }
Types same_float(const Call& c) {
  return {TensorType(float_result_type({c.args[0]}), c.tensor(0).sizes)};
}

Sizes broadcast_all(const std::vector<Argument>& args) {
  Sizes sizes;
  for (const Argument& arg : args) {
    if (arg.is_value() && arg.value()->kind == ValueKind::kTensor) {
      sizes = broadcast(sizes, arg.value()->type.sizes);
    }
  }
  return sizes;
}

std::vector<Argument> first_two(const Call& c) { return {c.args[0], c.args[1]}; }
Types binary(const Call& c) {
  return {TensorType(result_type(first_two(c)), broadcast_all(first_two(c)))};
}
Types binary_bool(const Call& c) {
  return {TensorType(ScalarType::kBool, broadcast_all(first_two(c)))};
}
Types binary_float(const Call& c) {
  return {TensorType(float_result_type(first_two(c)), broadcast_all(first_two(c)))};
}
Types divide_mode(const Call& c) { return c.has("rounding_mode") ? binary(c) : binary_float(c); }
Types clamp(const Call& c) {
  return {TensorType(result_type({c.args.begin(), c.args.begin() + 3}),
                     broadcast_all({c.args.begin(), c.args.begin() + 3}))};
}
Types lerp(const Call& c) { return {TensorType(result_type(first_two(c)), broadcast_all(c.args))}; }
Types where(const Call& c) {
  return {TensorType(result_type({c.args[1], c.args[2]}), broadcast_all(c.args))};
}
Types masked_fill(const Call& c) {
  return {TensorType(c.tensor(0).dtype, broadcast_all({c.args[0], c.args[1]}))};
}
Types to_copy(const Call& c) {
  return {TensorType(c.dtype_or(c.tensor(0).dtype), c.tensor(0).sizes)};
}

// ---- reductions ----

Sizes reduced_sizes(const Call& c, const Argument& dims, bool keepdim) {
  const Sizes& in = c.tensor(0).sizes;
  const auto rank = static_cast<int64_t>(in.size());
  std::vector<bool> gone(in.size(), false);
  std::vector<int64_t> list;
  if (dims.is_list()) list = to_ints(dims);
  if (dims.is_int()) list = {dims.to_int()};
  if (list.empty()) std::fill(gone.begin(), gone.end(), true);
  for (int64_t d : list) {
    if (rank > 0) gone[static_cast<size_t>(wrap_dim(d, rank))] = true;
  }
  Sizes out;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!gone[i])
      out.push_back(in[i]);
    else if (keepdim)
      out.push_back(1);
  }
  return out;
}

Sizes reduced_sizes(const Call& c) {
  if (c.schema.find("dim") < 0) return {};
  return reduced_sizes(c, c.arg("dim"), c.flag("keepdim"));
}

Types reduce_same(const Call& c) { return {TensorType(c.tensor(0).dtype, reduced_sizes(c))}; }
Types reduce_float(const Call& c) {
  return {TensorType(c.dtype_or(c.tensor(0).dtype), reduced_sizes(c))};
}
Types reduce_sum(const Call& c) {
  const ScalarType in = c.tensor(0).dtype;
  return {TensorType(c.dtype_or(is_floating(in) ? in : ScalarType::kLong), reduced_sizes(c))};
}
Types reduce_bool(const Call& c) {
  const ScalarType in = c.tensor(0).dtype;
  return {TensorType(in == ScalarType::kByte ? in : ScalarType::kBool, reduced_sizes(c))};
}
Types reduce_index(const Call& c) { return {TensorType(ScalarType::kLong, reduced_sizes(c))}; }
Types reduce_with_index(const Call& c) {
  return {TensorType(c.tensor(0).dtype, reduced_sizes(c)),
          TensorType(ScalarType::kLong, reduced_sizes(c))};
}
Types scan_sum(const Call& c) {
  const ScalarType in = c.tensor(0).dtype;
  return {TensorType(c.dtype_or(is_floating(in) ? in : ScalarType::kLong), c.tensor(0).sizes)};
}

}  // namespace

Types same_type(const Call& c) { return same(c); }
Types converted_type(const Call& c) { return to_copy(c); }

const std::vector<Family>& element_families() {  // NOLINT(readability-function-size): a table
  static const std::vector<Family> table = {
      {same,
       {"abs",
        "neg",
        "relu",
        "floor",
        "ceil",
        "round",
        "trunc",
        "sign",
        "clone",
        "alias",
        "hardtanh",
        "leaky_relu",
        "elu",
        "gelu",
        "bitwise_not",
        "flip",
        "roll",
        "tril",
        "triu",
        "silu",
        "hardswish",
        "hardsigmoid",
        "_softmax",
        "_log_softmax",
        "slice_scatter",
        "select_scatter",
        "index_put",
        "scatter.src",
        "scatter.value",
        "scatter_add",
        "scatter_reduce.two",
        "fill.Scalar",
        "fill.Tensor",
        "copy",
        "detach",
        "lift_fresh_copy",
        "contiguous",
        "relu6",
        "softmax.int",
        "log_softmax.int",
        "cumprod",
        "diagonal_scatter",
        "masked_scatter",
        "_safe_softmax",
        "log_sigmoid"}},
      {same_bool, {"isnan", "isinf", "logical_not", "isfinite", "signbit"}},
      {same_float,
       {"exp",   "log",   "log2",  "log10", "log1p",      "expm1", "sqrt", "rsqrt", "sigmoid",
        "tanh",  "sin",   "cos",   "tan",   "sinh",       "cosh",  "asin", "acos",  "atan",
        "asinh", "acosh", "atanh", "erf",   "reciprocal", "logit", "exp2", "erfc"}},
      {binary,
       {"add.Tensor",
        "add.Scalar",
        "sub.Tensor",
        "sub.Scalar",
        "mul.Tensor",
        "mul.Scalar",
        "rsub.Scalar",
        "rsub.Tensor",
        "maximum",
        "minimum",
        "remainder.Tensor",
        "remainder.Scalar",
        "fmod.Tensor",
        "fmod.Scalar",
        "pow.Tensor_Tensor",
        "pow.Tensor_Scalar",
        "pow.Scalar",
        "floor_divide",
        "floor_divide.Scalar",
        "bitwise_and.Tensor",
        "bitwise_or.Tensor",
        "bitwise_xor.Tensor",
        "bitwise_and.Scalar",
        "bitwise_and.Scalar_Tensor",
        "bitwise_or.Scalar_Tensor",
        "bitwise_xor.Scalar_Tensor",
        "bitwise_or.Scalar",
        "bitwise_xor.Scalar",
        "bitwise_left_shift.Tensor",
        "bitwise_right_shift.Tensor",
        "bitwise_left_shift.Tensor_Scalar",
        "bitwise_right_shift.Tensor_Scalar",
        "prelu",
        "logaddexp",
        "clamp_min",
        "clamp_max",
        "clamp_min.Tensor",
        "clamp_max.Tensor"}},
      {binary_bool,
       {"eq.Tensor", "eq.Scalar", "ne.Tensor", "ne.Scalar", "lt.Tensor", "lt.Scalar", "le.Tensor",
        "le.Scalar", "gt.Tensor", "gt.Scalar", "ge.Tensor", "ge.Scalar", "logical_and",
        "logical_or", "logical_xor"}},
      {binary_float, {"div.Tensor", "div.Scalar", "atan2", "xlogy.Tensor"}},
      {divide_mode, {"div.Tensor_mode", "div.Scalar_mode"}},
      {clamp, {"clamp", "clamp.Tensor"}},
      {lerp, {"lerp.Tensor", "lerp.Scalar"}},
      {where, {"where.self", "where.ScalarSelf", "where.ScalarOther", "where.Scalar"}},
      {masked_fill, {"masked_fill.Scalar", "masked_fill.Tensor"}},
      {to_copy, {"_to_copy"}},
      {reduce_same, {"amax", "amin", "max", "min", "var.correction"}},
      {reduce_float, {"mean.dim", "mean", "linalg_vector_norm"}},
      {reduce_sum, {"sum.dim_IntList", "sum", "prod.dim_int", "prod"}},
      {reduce_bool, {"any", "any.dim", "any.dims", "all", "all.dim", "all.dims"}},
      {reduce_index, {"argmax", "argmin"}},
      {reduce_with_index, {"max.dim", "min.dim"}},
      {scan_sum, {"cumsum"}},
  };
  return table;
}

}  // namespace taper::exir
