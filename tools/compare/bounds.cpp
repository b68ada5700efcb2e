// Bounds spread from a tensor to all that is computed from it.

#include "tools/compare/bounds.h"

#include <algorithm>

namespace taper::tools {

double bound_of(ScalarType dtype) {
  switch (part_type(dtype)) {
    case ScalarType::kDouble:
    case ScalarType::kFloat:
      return 1e-4;
    case ScalarType::kHalf:
      return 1e-2;
    case ScalarType::kBFloat16:
      return 3e-2;
    default:
      return 0;
  }
}

bool is_quantising(const std::string& op) {
  return op.find("quantize") != op.npos || op.find("choose_qparams") != op.npos;
}

std::vector<double> bounds_of(const std::vector<ReferenceTensor>& tensors,
                              const std::vector<ScalarType>& dtypes) {
  std::vector<double> bounds;
  std::vector<bool> quantised;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const ReferenceTensor& tensor = tensors[i];
    // Dequantised weights are exact.
    bool is_quantised = is_quantising(tensor.op) && tensor.op.find("dequantize") == tensor.op.npos;
    double bound = std::max(bound_of(tensor.dtype), bound_of(dtypes[i]));
    for (const size_t read : tensor.reads) {
      is_quantised = is_quantised || quantised[read];
      if (bound > 0) bound = std::max(bound, bounds[read]);
    }
    const bool is_number = is_floating(part_type(tensor.dtype)) || element_size(tensor.dtype) == 1;
    if (is_quantised && is_number && tensor.dtype != ScalarType::kBool) {
      bound = std::max(bound, kQuantisedBound);
    }
    quantised.push_back(is_quantised);
    bounds.push_back(bound);
  }
  return bounds;
}

}  // namespace taper::tools
