// Memory that the delegates of a method use besides its planned memory, found by loading it.

#pragma once

#include <cstdint>
#include <string>

namespace taper::tools {

struct DelegateMemory {
  uint64_t bytes = 0;   // Heap bytes while they are loaded; 0 if this system cannot tell.
  std::string problem;  // Why the method cannot be loaded; empty if it can.
};

// Loads `method` of the program at `path` with one thread. It is not run: backends allocate memory
// for the declared sizes when they are loaded.
DelegateMemory delegate_memory(const std::string& path, const std::string& method);

}  // namespace taper::tools
