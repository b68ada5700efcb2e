// --json of the commands that print text without it.

#pragma once

#include <string>

#include "tools/options.h"

namespace taper::tools {

// "--json" prints JSON in place of the text; "--json=FILE" writes it besides. `what` says what JSON
// has beyond the text; may be empty.
Option json_option(const std::string& what);

// Prints or writes the JSON if it was asked for. Returns whether the text is to be printed.
bool give_json(const CommandLine& line, const std::string& json);

}  // namespace taper::tools
