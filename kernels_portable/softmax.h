// Softmax and its logarithm along one dimension.

#pragma once

#include "taper/kernel.h"

namespace taper::portable {

// out = e^(x - max) / sum, or x - max - log(sum) if `logarithm`. self is a float; out may be
// another one. A line that holds NaN or +inf, or only -inf, becomes NaN.
Status softmax(const Tensor& self, int64_t dim, bool logarithm, Tensor& out);

}  // namespace taper::portable
