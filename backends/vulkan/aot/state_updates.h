// Which buffers of the program a payload writes in place.

#pragma once

#include "exir/delegate/backend_compiler.h"

namespace taper::vulkan {

// Whether the node whose result a state holds afterwards may write it where the state lies: it
// replaces a part of the state, and no later node reads what the state held before, be it through a
// view.
bool is_written_in_place(const exir::Part& part, const exir::Mutation& state);

}  // namespace taper::vulkan
