// Weights in 8-bit floats, which are read as wider floats that hold the same numbers.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "taper/scalar_type.h"

namespace taper::exir {

// The dtype that holds every number of the 8-bit floats with this code in the file: float16, or
// bfloat16 for powers of two; nullopt if the code is that of another dtype.
std::optional<ScalarType> float8_holder(int64_t code);

// The elements in the dtype of their holder. REQUIRES that the code has one.
std::vector<uint8_t> widen_float8(int64_t code, const std::vector<uint8_t>& elements);

// Whether the results of the operator consist of elements of its arguments, as those of a view or a
// concatenation do, so that it gives PyTorch's numbers in any dtype that holds them.
bool only_moves_elements(std::string_view target);

}  // namespace taper::exir
