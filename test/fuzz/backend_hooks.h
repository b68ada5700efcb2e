// What a backend brings for the fuzzer, in its folder fuzz/: seeds with delegates of its own, and a
// way to damage their payloads where it hurts.

#pragma once

#include <span>
#include <string>

#include "test/fuzz/random.h"

namespace taper::fuzz {

struct BackendHooks {
  const char* name;                       // As --backend has it.
  std::span<const char* const> models;    // Of test/models/data, to be exported for it.
  std::span<const char* const> programs;  // Of test/compat/data, with delegates of it.
  // Damages the first payload of the backend in a program; false if there is none.
  bool (*mutate)(std::string& file, Random& random);
};

// Of all backends whose device halves are built. Constant.
std::span<const BackendHooks* const> backend_hooks();

}  // namespace taper::fuzz
