// See infer.h. The rules lie in infer_element.cpp, infer_shape.cpp and infer_layer.cpp.

#include "exir/ops/infer.h"

#include <stdexcept>
#include <unordered_map>

#include "exir/ops/infer_call.h"
#include "exir/ops/registry.h"

namespace taper::exir {
namespace {

// From bytes to float32, or to what is asked for.
std::vector<TensorType> dequantized_type(const Call& c) {
  const Argument& dtype = c.arg("out_dtype");
  return {TensorType(dtype.is_none() ? ScalarType::kFloat : std::get<ScalarType>(dtype.v),
                     c.tensor(0).sizes)};
}

std::vector<TensorType> dequantized_groups_type(const Call& c) {
  return {TensorType(std::get<ScalarType>(c.arg("output_dtype").v), c.tensor(0).sizes)};
}

const std::unordered_map<std::string, TypeRule>& rules() {
  static const std::unordered_map<std::string, TypeRule> map = [] {
    std::unordered_map<std::string, TypeRule> out;
    for (const auto* families : {&element_families(), &shape_families(), &layer_families()}) {
      for (const Family& family : *families) {
        for (const char* name : family.names) {
          out.emplace(std::string("aten::") + name, family.rule);
        }
      }
    }
    out.emplace("dim_order_ops::_clone_dim_order", same_type);
    out.emplace("dim_order_ops::_to_dim_order_copy", converted_type);
    out.emplace("quantized_decomposed::dequantize_per_channel", dequantized_type);
    out.emplace("quantized_decomposed::dequantize_per_channel_group", dequantized_groups_type);
    out.emplace("taper::lstm", lstm_types);
    out.emplace("taper::gru", gru_types);
    return out;
  }();
  return map;
}

}  // namespace

std::vector<TensorType> infer_types(const Schema& schema, const std::vector<Argument>& args) {
  const auto found = rules().find(schema.name);
  if (found == rules().end()) {
    if (auto declared = declared_types(schema, args)) return *std::move(declared);
    throw Failure("no type rule for " + schema.name);
  }
  try {
    return found->second({schema, args});
  } catch (const std::out_of_range&) {
    throw Failure(schema.name + ": an argument has too few dimensions or entries");
  }
}

bool has_type_rule(std::string_view target) { return rules().count(std::string(target)) != 0; }

}  // namespace taper::exir
