// The algorithms with which convolution.out computes contiguous floats.

#pragma once

#include "kernels_optimized/cores/bounds.h"
#include "kernels_portable/cores/conv.h"
#include "taper/span.h"

namespace taper::optimized {

// REQUIRES of all: input, weight and output are contiguous floats, and none is empty. They return
// false, having written nothing, if this processor has no vector form. The first three do not take
// transposed convolutions, and clamp their results.

// One matrix product per block of output rows, whose right operand is the input itself. Also
// returns false if the rows are short, if they have steps, or if there is too little temp memory.
bool convolve_direct(const portable::Convolution& conv, const Bounds& bounds,
                     KernelContext& context);

// One matrix product per image and group, out[o, y] = sum of weight[o, k] * patch[k, y], whose
// patches are gathered panel by panel (gemm.h).
bool convolve_dense(const portable::Convolution& conv, const Bounds& bounds,
                    KernelContext& context);

// Convolution with one input channel per group, computed row by row and tap by tap.
bool convolve_planes(const portable::Convolution& conv, const Bounds& bounds,
                     const ThreadPool& pool);

// Transposed convolution: multiplies all taps by a block of the input and adds each product to the
// output position that its tap reaches. Also returns false if there is too little temp memory.
bool convolve_transposed(const portable::Convolution& conv, KernelContext& context);

// The same on one thread, in this memory: `products` have at most kSpreadScratchFloats, and at
// least as many as a window has taps.
inline constexpr int64_t kSpreadScratchFloats = int64_t{64} << 10;
struct SpreadMemory {
  Span<float> products, scratch;
};
bool convolve_transposed(const portable::Convolution& conv, const SpreadMemory& memory);

// Transposed convolution, or one with one input channel per group, of contiguous 16-bit floats, by
// the two functions above. Also returns false if there is too little temp memory.
bool convolve_widened(const portable::Convolution& conv, KernelContext& context);

}  // namespace taper::optimized
