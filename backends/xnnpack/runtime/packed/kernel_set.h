// Which kernels XNNPACK picks here: weights that were packed for others are of no use.

#pragma once

#include <cstdint>

namespace taper::xnnpack {

// Stands for the library that this was built with and what the processor can do. Packed weights of
// equal numbers lie in memory alike. REQUIRES: xnn_initialize() has succeeded.
uint64_t kernel_set();

}  // namespace taper::xnnpack
