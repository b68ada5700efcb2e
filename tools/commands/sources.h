// A compiled program as sources for firmware: --format=c.

#pragma once

#include <string>
#include <utility>
#include <vector>

namespace taper::tools {

using SourceFiles = std::vector<std::pair<std::string, std::string>>;  // Names and texts.

// See selective_build/firmware.h. With `own_ops`, operators that have no portable kernel are left
// to the application. Throws InputError if the program cannot be firmware.
SourceFiles sources_of(const std::string& pte, bool own_ops);

}  // namespace taper::tools
