// How many threads are worth using: the number of fast cores that the process may use.

#pragma once

#include <cstdint>

#include "taper/span.h"

namespace taper::xnnpack {

// A core.
struct Core {
  uint32_t capacity = 0;  // Relative to other cores, in a unit of the system; 0 if unknown.
};

// Counts the cores whose capacity is at least three quarters of the largest, and at least 1. If no
// capacity is known, these are all cores.
uint32_t count_fast(Span<const Core> cores);

// Counts the fast cores among those that this process may run on, each once even if it runs several
// threads at a time. At least 1.
uint32_t fast_cores();

}  // namespace taper::xnnpack
