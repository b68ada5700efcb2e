// What a backend provides for the fuzzer in its folder fuzz/: seeds with its delegates, and a
// function that corrupts their payloads.

#pragma once

#include <span>
#include <string>

#include "test/fuzz/random.h"

namespace taper::fuzz {

struct BackendHooks {
  const char* name;                       // The name that --backend accepts.
  std::span<const char* const> models;    // In test/models/data, to be exported for it.
  std::span<const char* const> programs;  // In test/compat/data, with its delegates.
  // Corrupts the backend's first payload in a program; returns false if there is none.
  bool (*mutate)(std::string& file, Random& random);
};

// The hooks of all backends whose device halves are built, as a constant table.
std::span<const BackendHooks* const> backend_hooks();

}  // namespace taper::fuzz
