// How many threads are worth having here: the fast cores that the process may use.

#pragma once

#include <cstdint>

#include "taper/span.h"

namespace taper::xnnpack {

// One core: what it can do beside the others, in a unit of the system's; 0 if the system does not
// tell.
struct Core {
  uint32_t capacity = 0;
};

// The cores that are within a quarter of the best one; all of them if nothing tells them apart.
uint32_t count_fast(Span<const Core> cores);

// The fast cores among those that this process may run on, each counted once however many threads
// it runs at a time. At least 1.
uint32_t fast_cores();

}  // namespace taper::xnnpack
