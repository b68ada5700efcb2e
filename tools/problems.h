// What the compiler found wrong, as text and as JSON.

#pragma once

#include <cstdio>
#include <vector>

#include "exir/ir/failure.h"
#include "tools/json_writer.h"

namespace taper::tools {

// One block per problem: what, where, the user's line, what would help. What `said` holds already
// is not repeated.
void print_problems(std::FILE* to, const std::vector<exir::Diagnostic>& problems,
                    const std::string& said = "");

// An array of objects with id, stage, node, message, source, expected, actual and remedy.
void add_problems(JsonWriter& json, const std::vector<exir::Diagnostic>& problems);

}  // namespace taper::tools
