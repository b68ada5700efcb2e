#include "backends/vulkan/planner/operators.h"

namespace taper::vulkan {

const Operator* find_operator(std::string_view name) {
  const Span<const Operator> families[] = {
      kElementwiseOperators, kMovementOperators,  kMatrixOperators,   kConvolutionOperators,
      kPoolOperators,        kReductionOperators, kOrderOperators,    kNormOperators,
      kIndexOperators,       kPartOperators,      kResampleOperators, kAttentionOperators,
      kSymbolicOperators,
  };
  for (const Span<const Operator> family : families) {
    for (const Operator& each : family) {
      if (each.name == name) return &each;
    }
  }
  return nullptr;
}

}  // namespace taper::vulkan
