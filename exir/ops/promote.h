// PyTorch's type promotion: the dtype in which an operator computes.
//
// Operands fall into three groups: tensors with dimensions, 0-d tensors, plain numbers. A later
// group changes the result only if its category (bool < integer < float) is higher.

#pragma once

#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

// The smallest type that holds both: int8 + uint8 = int16, int64 + half = half, half + bfloat16 =
// float.
ScalarType promote_types(ScalarType a, ScalarType b);

// The common type of operands: values (tensors or symbolic numbers) and literals. Ignores None.
ScalarType result_type(const std::vector<Argument>& operands);

// Like result_type, but bool and integers become float: for division, sqrt, sigmoid, ...
ScalarType float_result_type(const std::vector<Argument>& operands);

// float for a 16-bit float, else the type itself.
ScalarType wide_type(ScalarType type);

}  // namespace taper::exir
