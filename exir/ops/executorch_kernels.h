// The kernels of ExecuTorch's runtime, for programs that are compiled for it.

#pragma once

#include <string_view>

#include "exir/ir/graph.h"

namespace taper::exir {

// Whether the runtime in ExecuTorch's wheel has a kernel of that name.
bool executorch_has_kernel(std::string_view name);

// Whether its kernel takes the call's arguments: convolutions have one or two dimensions there, and
// linear takes rows, not a single vector.
bool executorch_takes(const Node& call);

}  // namespace taper::exir
