// All decomposition tables as one map.

#include "exir/decompose/rules.h"

#include <string>
#include <unordered_map>

namespace taper::exir {

namespace {

// A node without results is what a rule that gave up has left.
bool applies(const Decomposition& entry, const Node& node) {
  return !node.outputs.empty() && (entry.applies == nullptr || entry.applies(node));
}

}  // namespace

const Decomposition* find_decomposition(std::string_view target) {
  static const std::unordered_map<std::string, const Decomposition*> map = [] {
    std::unordered_map<std::string, const Decomposition*> out;
    for (const Decompositions* table :
         {&bessel_rules(),     &segment_rules(),    &gamma_rules(),   &lu_rules(),
          &number_rules(),     &polynomial_rules(), &alias_rules(),   &activation_rules(),
          &arithmetic_rules(), &attention_rules(),  &random_rules(),  &convolution_rules(),
          &encoder_rules(),    &factor_rules(),     &factory_rules(), &grid_rules(),
          &index_rules(),      &linalg_rules(),     &linear_rules(),  &loss_rules(),
          &matrix_rules(),     &norm_rules(),       &order_rules(),   &piece_rules(),
          &pool_rules(),       &quantized_rules(),  &affine_rules(),  &recurrent_rules(),
          &reduce_rules(),     &resample_rules(),   &shape_rules(),   &special_rules(),
          &bag_rules(),        &float8_rules(),     &prim_rules()}) {
      for (const Decomposition& entry : *table) {
        const std::string name = entry.target;
        out.emplace(name.find("::") == name.npos ? "aten::" + name : name, &entry);
      }
    }
    return out;
  }();
  const auto found = map.find(std::string(target));
  return found == map.end() ? nullptr : found->second;
}

const Decomposition* find_decomposition(const Node& node) {
  const Decomposition* entry = find_decomposition(node.target());
  return entry != nullptr && applies(*entry, node) ? entry : nullptr;
}

const Decomposition* find_decomposition(const Decompositions& table, const Node& node) {
  std::string_view name = node.target();
  if (name.starts_with("aten::")) name.remove_prefix(6);
  for (const Decomposition& entry : table) {
    if (name == entry.target) return applies(entry, node) ? &entry : nullptr;
  }
  return nullptr;
}

}  // namespace taper::exir
