// All decomposition tables as one map.

#include "exir/decompose/rules.h"

#include <string>
#include <unordered_map>

namespace taper::exir {

const Decomposition* find_decomposition(const Decompositions& table, std::string_view target) {
  if (target.substr(0, 6) != "aten::") return nullptr;
  for (const Decomposition& entry : table) {
    if (target.substr(6) == entry.target) return &entry;
  }
  return nullptr;
}

const Decomposition* find_decomposition(std::string_view target) {
  static const std::unordered_map<std::string, const Decomposition*> map = [] {
    std::unordered_map<std::string, const Decomposition*> out;
    for (const Decompositions* table :
         {&bessel_rules(),     &segment_rules(),    &gamma_rules(),   &lu_rules(),
          &number_rules(),     &polynomial_rules(), &alias_rules(),   &activation_rules(),
          &arithmetic_rules(), &attention_rules(),  &chance_rules(),  &convolution_rules(),
          &encoder_rules(),    &factor_rules(),     &factory_rules(), &grid_rules(),
          &index_rules(),      &linalg_rules(),     &linear_rules(),  &loss_rules(),
          &matrix_rules(),     &norm_rules(),       &order_rules(),   &piece_rules(),
          &pool_rules(),       &quantized_rules(),  &affine_rules(),  &recurrent_rules(),
          &reduce_rules(),     &resample_rules(),   &shape_rules(),   &special_rules()}) {
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

}  // namespace taper::exir
