// Softmax over plain memory, for kernels that contain a softmax.

#pragma once

#include "kernels_portable/engine/dims.h"

namespace taper::optimized {

// Softmax along the middle dimension of [outer, size, inner]; out may be x. Returns false, having
// written nothing, if this processor has no vector form.
bool softmax(const float* x, const portable::AroundDim& around, bool logarithm, float* out);

// The same, not logarithmic, for lines [first, last) of the `inner` lines of each outer index.
bool softmax_part(const float* x, const portable::AroundDim& around, int64_t first, int64_t last,
                  float* out);

// Replaces a line by the terms of its softmax, e^(x - max), and returns their sum, by which they
// are yet to be divided. REQUIRES: this processor has a vector form.
float softmax_terms(float* x, int64_t count);

}  // namespace taper::optimized
