// Kernels for what the compiler half keeps whole, and for operators of ExecuTorch's payloads, for
// which no application has a kernel. Plain loops: they serve where there is no GPU.

#pragma once

#include "taper/kernel.h"

namespace taper::vulkan {

// By name, "vulkan::mish", with the arguments of the operator whose row names them, then the
// result. Null if there is none.
const Kernel* find_cpu_kernel(std::string_view name);

// Where they are found: those of several files.
KernelTable exporter_kernels();  // For operators that nobody but ExecuTorch's exporter writes.
KernelTable cpu_quantised_kernels();
KernelTable cpu_rotary_kernels();
KernelTable cpu_window_kernels();

}  // namespace taper::vulkan
