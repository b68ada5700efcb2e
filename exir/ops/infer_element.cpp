// Types of element-wise operators, conversions and reductions.

#include <algorithm>

#include "exir/ops/promote.h"
#include "exir/ops/type_rules.h"

namespace taper::exir::rules {

// ---- element-wise ----

Types same(const Call& c) { return {TensorType(c.tensor(0).dtype, c.tensor(0).sizes)}; }
Types same_bool(const Call& c) { return {TensorType(ScalarType::kBool, c.tensor(0).sizes)}; }
Types same_long(const Call& c) { return {TensorType(ScalarType::kLong, c.tensor(0).sizes)}; }
Types same_float(const Call& c) {
  return {TensorType(float_result_type({c.args[0]}), c.tensor(0).sizes)};
}

static Sizes broadcast_all(const std::vector<Argument>& args) {
  Sizes sizes;
  for (const Argument& arg : args) {
    if (arg.is_value() && arg.value()->kind == ValueKind::kTensor) {
      sizes = broadcast(sizes, arg.value()->type.sizes);
    }
  }
  return sizes;
}

static std::vector<Argument> first_two(const Call& c) { return {c.args[0], c.args[1]}; }
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
// Dequantisation: to float32, or to the dtype that the call asks for.
Types dequantized(const Call& c) {
  const Argument& dtype = c.arg("out_dtype");
  return {TensorType(dtype.is_none() ? ScalarType::kFloat : std::get<ScalarType>(dtype.v),
                     c.tensor(0).sizes)};
}
Types dequantized_groups(const Call& c) {
  return {TensorType(std::get<ScalarType>(c.arg("output_dtype").v), c.tensor(0).sizes)};
}

// Two elements in a byte.
Types dequantized_int4(const Call& c) {
  const Sizes& sizes = c.tensor(0).sizes;
  return {TensorType(std::get<ScalarType>(c.arg("output_dtype").v),
                     {sizes.at(0), sizes.at(1) * Sym(2)})};
}
// Blocks of 256 elements.
Types dequantized_gguf(const Call& c) {
  const std::string& type = c.arg("ggml_type").text();
  const int64_t bytes = type == "q4_k" ? 144 : type == "q5_k" ? 176 : type == "q6_k" ? 210 : 0;
  if (bytes == 0) throw Failure("weights of the GGUF type " + type + " are not supported");
  const Sizes& sizes = c.tensor(0).sizes;
  return {TensorType(std::get<ScalarType>(c.arg("output_dtype").v),
                     {sizes.at(0), floor_div(sizes.at(1), Sym(bytes)) * Sym(256)})};
}

// ---- reductions ----

static Sizes reduced_sizes(const Call& c, const Argument& dims, bool keepdim) {
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

static Sizes reduced_sizes(const Call& c) {
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
  const ScalarType out = in == ScalarType::kByte ? in : ScalarType::kBool;
  const bool none = c.has("dim") && c.arg("dim").is_list() && c.arg("dim").list().empty();
  return {TensorType(out, none ? Sizes(c.tensor(0).sizes) : reduced_sizes(c))};
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

}  // namespace taper::exir::rules
