// The tensors of floats that tests hand to the C API.

#pragma once

#include <vector>

#include "taper/taper.h"

namespace taper::test {

// The tensor of one dimension that these numbers are. They must outlive it.
inline taper_value value_of(const std::vector<float>& data) {
  taper_value value = {};
  value.kind = TAPER_TENSOR;
  value.dtype = TAPER_FLOAT32;
  value.rank = 1;
  value.sizes[0] = static_cast<int32_t>(data.size());
  value.data = data.data();
  value.bytes = data.size() * sizeof(float);
  return value;
}

}  // namespace taper::test
