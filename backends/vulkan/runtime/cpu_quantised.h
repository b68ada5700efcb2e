// Kernels for products and tables with weights of 4 and 8 bits: for the processor, and what GPUs are
// compared with.

#pragma once

#include "taper/kernel.h"

namespace taper::vulkan {

KernelTable cpu_quantised_kernels();

}  // namespace taper::vulkan
