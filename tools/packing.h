// Packed weights: those that backends make for this processor when they load a program, kept in a
// program so that it is loaded without packing them.

#pragma once

#include <string>

#include "exir/emit/program_file.h"

namespace taper::tools {

// Loads every method of a program, which makes the backend write its packed weights, and returns
// these; nothing if the program has no weights that the backend packs. `name` is used in messages,
// `weights` is the path of its .ptd or empty, and the file at `path`, which must not exist, is left
// behind. Throws InputError.
std::string packed_weights_of(const exir::FileInMemory& program, const std::string& name,
                              const std::string& weights, const char* backend,
                              const std::string& path);

struct PackedProgram {
  std::string program;
  size_t bytes = 0;  // Size of its packed weights.
};

// Returns the program with the packed weights of each backend of this build in place of those that
// it has. Writes a temporary file beside `output`. Throws InputError if there is nothing to pack.
PackedProgram with_packed_weights(std::string program, const std::string& name,
                                  const std::string& weights, const std::string& output);

}  // namespace taper::tools
