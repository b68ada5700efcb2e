// Each node is checked by itself, then that they belong together; see row_quantisation.h.

#include "exir/passes/kernels/row_quantisation.h"

#include <limits>

#include "exir/ir/blocks.h"

namespace taper::exir {
namespace {

constexpr char kChoose[] = "torchao::choose_qparams_affine";
constexpr char kQuantize[] = "torchao::quantize_affine";
constexpr char kDequantize[] = "torchao::dequantize_affine";

// Kernels compute scales in float32.
constexpr double kLeastEps = std::numeric_limits<float>::min();

bool is_or_none(const Argument& arg, int64_t expected) {
  return arg.is_none() || (arg.is_int() && arg.to_int() == expected);
}
bool is_or_none(const Argument& arg, ScalarType expected) {
  return arg.is_none() || std::get<ScalarType>(arg.v) == expected;
}

bool fits(const Node& node, const char* dtype, const Value* floats) {
  const Argument& block = node.arg("block_size");
  return (are_rows(*floats, block) || is_one_block(*floats, block)) &&
         floats->type.dtype == ScalarType::kFloat &&
         std::get<ScalarType>(node.arg(dtype).v) == ScalarType::kChar &&
         is_or_none(node.arg("quant_min"), -128) && is_or_none(node.arg("quant_max"), 127);
}

bool is_choice(const Node& node) {
  if (!node.is(kChoose) || !node.arg("input").is_value()) return false;
  const std::string& mapping = node.arg("mapping_type").text();
  return fits(node, "target_dtype", node.arg("input").value()) &&
         (mapping == "ASYMMETRIC" || mapping == "SYMMETRIC") &&
         is_or_none(node.arg("scale_dtype"), ScalarType::kFloat) &&
         node.outputs[1]->type.dtype != ScalarType::kByte;  // Others hold what is chosen.
}
bool is_there(const Node& node) {
  return node.is(kQuantize) && fits(node, "output_dtype", node.arg("input").value());
}
bool is_back(const Node& node) {
  // Weights are constants.
  return node.is(kDequantize) && node.arg("input").value()->role != ValueRole::kConstant &&
         fits(node, "input_dtype", node.outputs[0]);
}

// Whether a node of PT2E takes all integers of 8 bits, with a sign or without: the same scales, and
// zero points that differ by 128.
bool has_all_bytes(const Node& node) {
  const int64_t least = node.arg("quant_min").to_int(), most = node.arg("quant_max").to_int();
  const auto dtype = std::get<ScalarType>(node.arg("dtype").v);
  return (dtype == ScalarType::kChar && least == -128 && most == 127) ||
         (dtype == ScalarType::kByte && least == 0 && most == 255);
}

bool uses(const Node& node, const Node& choice) {
  return node.arg("scale").value() == choice.outputs[0] && node.arg("zero_point").is_value() &&
         node.arg("zero_point").value() == choice.outputs[1];
}

std::optional<RowQuantisation> tensor_quantisation_of(const Value* x) {
  const Node* back = x->producer;
  if (back == nullptr || !back->is("quantized_decomposed::dequantize_per_tensor.tensor")) {
    return std::nullopt;
  }
  const Node* there = back->arg("input").value()->producer;
  if (there == nullptr || !there->is("quantized_decomposed::quantize_per_tensor.tensor")) {
    return std::nullopt;
  }
  const Node* choice = there->arg("scale").value()->producer;
  if (choice == nullptr || !choice->is("quantized_decomposed::choose_qparams.tensor")) {
    return std::nullopt;
  }
  Value* input = choice->arg("input").value();
  const auto dtype = [](const Node& node) { return std::get<ScalarType>(node.arg("dtype").v); };
  const double eps = choice->arg("eps").to_double();
  const bool fits =
      there->arg("input").value() == input && uses(*there, *choice) && uses(*back, *choice) &&
      has_all_bytes(*choice) && has_all_bytes(*there) && dtype(*choice) == dtype(*there) &&
      dtype(*there) == dtype(*back) && input->type.dtype == ScalarType::kFloat &&
      x->type.dtype == ScalarType::kFloat && input->type.rank() >= 1 && eps >= kLeastEps;
  return fits ? std::optional(RowQuantisation{input, true, false, eps}) : std::nullopt;
}

std::optional<RowQuantisation> affine_quantisation_of(const Value* x) {
  const Node* back = x->producer;
  if (back == nullptr || !is_back(*back)) return std::nullopt;
  const Node* there = back->arg("input").value()->producer;
  if (there == nullptr || !is_there(*there)) return std::nullopt;
  const Node* choice = there->arg("scale").value()->producer;
  if (choice == nullptr || !is_choice(*choice)) return std::nullopt;
  Value* input = choice->arg("input").value();
  if (there->arg("input").value() != input || !uses(*there, *choice) || !uses(*back, *choice)) {
    return std::nullopt;
  }
  const bool is_whole = !are_rows(*input, choice->arg("block_size"));
  if (is_whole == are_rows(*input, there->arg("block_size")) ||
      is_whole == are_rows(*input, back->arg("block_size"))) {
    return std::nullopt;
  }
  const Argument& eps = choice->arg("eps");
  const double given = eps.is_none() ? kLeastEps : eps.to_double();
  if (!(given >= kLeastEps)) return std::nullopt;
  return RowQuantisation{input, is_whole, choice->arg("mapping_type").text() == "SYMMETRIC", given};
}

}  // namespace

bool is_row_quantisation(const Node& node) {
  return is_choice(node) || is_there(node) || is_back(node);
}

std::optional<RowQuantisation> row_quantisation_of(const Value* x) {
  const auto of_tensor = tensor_quantisation_of(x);
  return of_tensor ? of_tensor : affine_quantisation_of(x);
}

}  // namespace taper::exir
