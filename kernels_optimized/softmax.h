// Softmax over plain memory, for kernels that need it inside.

#pragma once

#include "kernels_portable/dims.h"

namespace taper::optimized {

// Lines of [outer, size, inner] along the middle; out may be x. False if this processor has no
// vector form, and nothing is written.
bool softmax(const float* x, const portable::AroundDim& around, bool logarithm, float* out);

// The same of lines [first, last) of each `inner`.
bool softmax_part(const float* x, const portable::AroundDim& around, int64_t first, int64_t last,
                  float* out);

}  // namespace taper::optimized
