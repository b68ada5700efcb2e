// The kernels of ExecuTorch's runtime, for programs that are compiled for it.

#pragma once

#include <string_view>

namespace taper::exir {

// Whether the runtime in ExecuTorch's wheel has a kernel of that name.
bool executorch_has_kernel(std::string_view name);

}  // namespace taper::exir
