// The text of a program, changed to what a graph says.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

// A tensor that the program's signature names.
struct SavedWeight {
  const Value* value = nullptr;
  std::string fqn;
  bool parameter = false;
  bool with_weights = true;  // Not a constant or a buffer that is not persistent.
  int64_t float8 = 0;        // The code of the dtype if the bytes are 8-bit floats.
};

struct ProgramText {
  std::string text;
  std::vector<SavedWeight> saved;
};

// `original` is the text that `graph` was imported from, `imported` is that graph without its
// changes. Throws Failure.
ProgramText changed_program(std::string_view original, const Graph& imported, const Graph& graph);

}  // namespace taper::exir
