#include "backends/vulkan/planner/operators.h"

namespace taper::vulkan {

Span<const Span<const Operator>> operator_families() {
  static const Span<const Operator> families[] = {
      kElementwiseOperators, kMovementOperators,      kMatrixOperators,    kConvolutionOperators,
      kPoolOperators,        kReductionOperators,     kOrderOperators,     kNormOperators,
      kIndexOperators,       kPartOperators,          kResampleOperators,  kAttentionOperators,
      kRecurrentOperators,   kSymbolicOperators,      kQuantisedOperators, kRotaryOperators,
      kQuantiseOperators,    kIntegerTensorOperators, kCacheOperators,
  };
  return families;
}

const Operator* find_operator(std::string_view name) {
  for (const Span<const Operator> family : operator_families()) {
    for (const Operator& each : family) {
      if (each.name == name) return &each;
    }
  }
  return nullptr;
}

}  // namespace taper::vulkan
