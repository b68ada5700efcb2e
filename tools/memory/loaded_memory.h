// What a method takes of this machine's memory besides what its file plans: found by loading it and
// running it once, on inputs of ones.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "taper/backend_device.h"

namespace taper::tools {

// A block of memory of a delegate, with what lies in it.
struct DelegateBlock {
  std::string what;
  uint64_t bytes = 0;
  MemoryBlock::Kind kind = MemoryBlock::Kind::kOwn;
  std::vector<PlacedResult> results;
};

struct DelegateMemory {
  std::vector<DelegateBlock> blocks;  // What the backend tells.
  uint64_t heap_bytes = 0;            // By how much the heap grew; 0 if this system cannot tell.
};

// Resident memory, pages of mapped files included, beyond what there was before the program was
// opened.
struct MeasuredLoad {
  double seconds = 0;
  uint64_t peak_while_loading = 0, peak_while_running = 0;
};

struct LoadedMemory {
  std::string problem;  // Why the method cannot be loaded or run; empty if it can.
  std::vector<DelegateMemory> delegates;  // In the program's order.
  std::optional<MeasuredLoad> measured;   // None if this system cannot tell.
  // The same with files of what backends prepare when they load, such as packed weights, and the
  // size of these; none if they prepare nothing that can be kept.
  std::optional<MeasuredLoad> with_prepared;
  uint64_t prepared_bytes = 0;
};

// Measures `method` of the program at `path`, with one thread. `weights` is its .ptd, or empty.
LoadedMemory loaded_memory(const std::string& path, const std::string& weights,
                           const std::string& method);

}  // namespace taper::tools
