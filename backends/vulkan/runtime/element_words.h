// Elements as the GPU has them, four bytes each, and as tensors of the host have them.

#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/vulkan/planner/payload_graph.h"
#include "taper/scalar_type.h"
#include "taper/status.h"

namespace taper::vulkan {

// Whether tensors of that dtype can be arguments and constants.
bool has_words(ScalarType dtype);

// `count` elements become words. Returns kNotSupported for an int64 that 32 bits do not hold,
// and for a float64 that is not a float32.
// REQUIRES: has_words(dtype).
Status to_words(ScalarType dtype, const void* elements, size_t count, uint32_t* words);
// The other way; nothing is lost, since shaders keep integers within their dtype, but that floats
// are rounded to float16.
void from_words(ScalarType dtype, const uint32_t* words, size_t count, void* elements);

// Makes float32 of the data of float16 constants.
void widen_constants(PayloadGraph& graph);

}  // namespace taper::vulkan
