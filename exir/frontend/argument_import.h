// Arguments of nodes: from the file's tagged unions to ours, and to the type that a schema wants.

#pragma once

#include <string_view>

#include "exir/frontend/json.h"
#include "exir/frontend/scope.h"
#include "exir/ir/graph.h"

namespace taper::exir {

// The variant reflects the Python value that was passed, not what the operator declares. Names are
// looked up in `scope`. Throws Failure.
Argument read_argument(Json json, Scope& scope);

// Makes `arg` fit `type`: an int for a float becomes one, 3 for int[2] becomes [3, 3], a bool for
// an int becomes one. A number where a tensor is declared stays: Python allows x + 1 for
// add.Tensor. `name` is for the Failure that it throws if nothing fits.
void coerce(Argument& arg, const ArgType& type, std::string_view name);

}  // namespace taper::exir
