// The kinds of files that are fuzzed.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "test/fuzz/random.h"

namespace taper::fuzz {

struct Kind {
  const char* name;
  uint64_t salt;  // Makes mutants of different kinds different; it must not change.
  std::vector<std::string> (*seeds)();
  std::string (*mutate)(const std::string&, Random&);  // Of any file.
  bool (*exercise)(std::string_view);
};

// Null if there is none with that name.
const Kind* find_kind(std::string_view name);
// "pte|pt2|bpte"
std::string kind_names();

}  // namespace taper::fuzz
