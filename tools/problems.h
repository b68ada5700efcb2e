// Prints the compiler's diagnostics as text and as JSON.

#pragma once

#include <cstdio>
#include <vector>

#include "exir/ir/failure.h"
#include "tools/text/json_writer.h"

namespace taper::tools {

// Prints one block per problem: the message, where it is, the line of the user's source and a
// remedy. Problems that `said` contains already are not repeated.
void print_problems(std::FILE* to, const std::vector<exir::Diagnostic>& problems,
                    const std::string& said = "");

// Adds an array of objects with id, stage, node, message, source, expected, actual and remedy.
void add_problems(JsonWriter& json, const std::vector<exir::Diagnostic>& problems);

}  // namespace taper::tools
