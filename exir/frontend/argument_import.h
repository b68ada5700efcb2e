// Arguments of nodes: converts the file's tagged unions to Argument, and an Argument to the type
// that a schema declares.

#pragma once

#include <string_view>

#include "exir/frontend/json.h"
#include "exir/frontend/scope.h"
#include "exir/ir/graph.h"

namespace taper::exir {

// Reads one argument as the kind that the file states, which is that of the Python value that was
// passed and not necessarily the one that the operator declares. Names are looked up in `scope`.
// Throws Failure.
Argument read_argument(Json json, Scope& scope);

// Converts `arg` to `type`: an int to a float, a bool to an int, 3 to [3, 3] for int[2]. A number
// where a tensor is declared stays a number: Python allows x + 1 for add.Tensor. Throws Failure
// naming the argument `name` if there is no such conversion.
void coerce(Argument& arg, const ArgType& type, std::string_view name);

}  // namespace taper::exir
