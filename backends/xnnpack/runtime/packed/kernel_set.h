// Identifies the kernels that XNNPACK selects: weights packed for other kernels cannot be used.

#pragma once

#include <cstdint>

namespace taper::xnnpack {

// A hash of the library that this was built with and the features of the processor. Packed weights
// have the same layout if the hash is the same. REQUIRES: xnn_initialize() has succeeded.
uint64_t kernel_set();

}  // namespace taper::xnnpack
