// What a backend provides for the fuzzer in its folder fuzz/: seeds with its delegates, and
// functions that corrupt their payloads and packed weights.

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
  // Makes the hashes in packed weights, which may be damaged, fit their bytes, as somebody would
  // who means harm. Null if the backend packs none.
  void (*seal_packed)(std::string& packed);
};

// The hooks of all backends whose device halves are built, as a constant table.
std::span<const BackendHooks* const> backend_hooks();

}  // namespace taper::fuzz
