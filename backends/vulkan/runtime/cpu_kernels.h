// Kernels for what the compiler half keeps whole, and for operators of ExecuTorch's payloads, for
// which no application has a kernel. Plain loops: they serve where there is no GPU.

#pragma once

#include "taper/kernel.h"

namespace taper::vulkan {

// By name, "vulkan::mish", with the arguments of the operator whose row names them, then the
// result.
KernelTable cpu_kernels();
// The same for operators that nobody but ExecuTorch's exporter writes.
KernelTable exporter_kernels();

}  // namespace taper::vulkan
