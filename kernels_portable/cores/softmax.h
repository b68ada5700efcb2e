// Softmax and its logarithm along one dimension.

#pragma once

#include "taper/kernel.h"

namespace taper::portable {

// out = e^(x - max) / sum, or x - max - log(sum) if `logarithm`. Both are floats, not necessarily
// of the same dtype. A line that holds NaN or +inf, or only -inf, becomes NaN.
Status softmax(const Tensor& self, int64_t dim, bool logarithm, Tensor& out);

}  // namespace taper::portable
