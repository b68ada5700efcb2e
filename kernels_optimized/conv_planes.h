// The two ways in which convolution.out goes about contiguous floats.

#pragma once

#include "kernels_portable/conv.h"
#include "taper/span.h"

namespace taper::optimized {

// For both: `conv` is plain (not transposed), its input, weight and output are contiguous floats.
// False if this processor has no vector form, and nothing is written.

// As a matrix product per image and group, out[o, y] = sum of weight[o, k] * patch[k, y], whose
// patches are gathered panel by panel (gemm.h).
bool convolve_dense(const portable::Convolution& conv, Span<float> scratch);

// One input channel for each output channel: row by row, tap by tap.
bool convolve_planes(const portable::Convolution& conv);

}  // namespace taper::optimized
