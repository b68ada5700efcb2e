// The mean and the spread of each channel of an image whose channels lie side by side, on which
// group norms of such images are built.

#pragma once

#include <cstdint>

namespace taper::optimized {

// Of `pixels` pixels of `channels` elements each: the mean of every channel, and the sum of the
// squared differences from it. The pixels are read twice, so they should fit into the cache.
//
// REQUIRES: has_vectors() (kernels_optimized/cores/gemm.h), pixels > 0. Threads: accesses only the
// memory that is passed.
void channel_moments(const float* in, int64_t pixels, int64_t channels, float* means,
                     float* squares);

}  // namespace taper::optimized
