// What the delegates of a method take beside its planned memory, found by loading it here.

#pragma once

#include <cstdint>
#include <string>

namespace taper::tools {

struct DelegateMemory {
  uint64_t bytes = 0;   // Of the heap, while they are loaded; 0 if it cannot be told here.
  std::string problem;  // Why the method does not load here; empty if it does.
};

// `method` of the program at `path`, on one thread. It is loaded, not run: backends take what they
// need for the declared sizes when they are loaded.
DelegateMemory delegate_memory(const std::string& path, const std::string& method);

}  // namespace taper::tools
