// The ways in which convolution.out goes about contiguous floats.

#pragma once

#include "kernels_portable/conv.h"
#include "taper/span.h"

namespace taper::optimized {

// For all: input, weight and output are contiguous floats, none is empty. False if this processor
// has no vector form, and nothing is written. The first two take no transposed convolution.

// As a matrix product per image and group, out[o, y] = sum of weight[o, k] * patch[k, y], whose
// patches are gathered panel by panel (gemm.h).
bool convolve_dense(const portable::Convolution& conv, KernelContext& context);

// One input channel for each output channel: row by row, tap by tap.
bool convolve_planes(const portable::Convolution& conv, const ThreadPool& pool);

// A transposed one: a product of all taps with a block of the input, added where each tap falls.
// False too, and nothing is done, if there is no room for products.
inline constexpr int64_t kSpreadScratchFloats = int64_t{64} << 10;
bool convolve_transposed(const portable::Convolution& conv, Span<float> products,
                         Span<float> scratch);

}  // namespace taper::optimized
