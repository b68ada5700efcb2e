// Conversions between dtypes on vectors.

#pragma once

#include <cstdint>

#include "taper/scalar_type.h"

namespace taper::optimized {

// Converts elements [begin, end) of `source` to those of `target`. Returns false, having written
// nothing, if the pair of dtypes is not supported.
using Convert = bool (*)(ScalarType from, ScalarType to, const void* source, void* target,
                         int64_t begin, int64_t end);

// Null if this processor has no vector form.
Convert find_convert();
// The same for a dtype of 16-bit floats, which it converts to float32 and back. Null for others.
Convert find_narrow_convert(ScalarType narrow);

}  // namespace taper::optimized
