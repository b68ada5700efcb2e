// A layer over the channels of planes: each result is a sum over a few planes at the same place.
//
// For a handful of channels, a transpose to channels last, a product whose vectors are mostly empty
// and a transpose back take several times longer than this, which reads and writes whole vectors of
// places.

#pragma once

#include <cstdint>

namespace taper::optimized {

struct PlaneLayer {
  const float* in = nullptr;      // [ins, area]
  const float* filter = nullptr;  // [outs, ins]
  const float* bias = nullptr;    // One per plane of the results; null: none.
  float* out = nullptr;           // [outs, area]; may not overlap the input.
  int64_t ins = 0, outs = 0, area = 0;
  float min = 0, max = 0;  // The results are clamped to these.
};

// Computes `count` places of all planes from `first` on. REQUIRES: has_vectors()
// (kernels_optimized/cores/gemm.h). Threads: parts that do not overlap may be computed
// concurrently.
void plane_layer(const PlaneLayer& layer, int64_t first, int64_t count);

}  // namespace taper::optimized
