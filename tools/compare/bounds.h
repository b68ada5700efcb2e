// How much two computations of a tensor may differ, by what it was computed in.

#pragma once

#include <vector>

#include "tools/compare/reference.h"

namespace taper::tools {

// The bound on the relative error of numbers in that dtype: 0 for integers.
double bound_of(ScalarType dtype);

// Of tensors that were computed from numbers of few bits.
inline constexpr double kQuantisedBound = 0.1;

// Whether the operator makes integers of few bits of floats, or floats of them.
bool is_quantising(const std::string& op);

// For each tensor: the loosest bound of all that it is computed from. `dtypes` are those that the
// other program has it in.
std::vector<double> bounds_of(const std::vector<ReferenceTensor>& tensors,
                              const std::vector<ScalarType>& dtypes);

}  // namespace taper::tools
