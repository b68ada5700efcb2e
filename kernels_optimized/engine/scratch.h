// Temp memory of a kernel call, as floats.

#pragma once

#include "taper/kernel.h"

namespace taper::optimized {

// `count` floats aligned to 64 bytes, or an empty span if the application provides too little.
inline Span<float> scratch_floats(KernelContext& context, int64_t count) {
  const size_t size = static_cast<size_t>(count);
  float* data = static_cast<float*>(context.allocate_temp(size * sizeof(float)));
  return {data, data != nullptr ? size : 0};
}

}  // namespace taper::optimized
