// What ExecuTorch's runtime can run, for programs that are made for it.

#pragma once

#include <string_view>

namespace taper::exir {

// Whether the runtime in ExecuTorch's wheel has a kernel of that name.
bool executorch_has_kernel(std::string_view name);

}  // namespace taper::exir
