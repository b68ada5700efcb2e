// The largest or smallest element and where it is: max, min, argmax, argmin.
//
// NaN counts as more extreme than any number; of equal elements the first one is found.

#pragma once

#include <optional>

#include "kernels_portable/engine/dims.h"
#include "taper/kernel.h"

namespace taper::portable {

enum class Extreme { kMax, kMin };

// Writes the extreme element along `dim` to values and its index to indices (int64), either of
// which may be null. Without `dim` it is the extreme of all elements, and its index is that in the
// tensor flattened in row-major order.
Status find_extreme(Extreme extreme, const Tensor& self, std::optional<int64_t> dim, bool keepdim,
                    Tensor* values, Tensor* indices);

}  // namespace taper::portable
