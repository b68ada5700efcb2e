// The C++ definitions of the opaque types in taper/taper.h, for code that creates them.

#pragma once

#include "taper/backend.h"
#include "taper/kernel.h"

// NOLINTBEGIN(readability-identifier-naming): C's names.
struct taper_kernels {
  taper::KernelTable table;
};

struct taper_backend {
  taper::Backend entry;
};
// NOLINTEND(readability-identifier-naming)

namespace taper {

class Profiler;

// Passes steps on to the recording that this thread is in, if any (taper::devtools). It lives as
// long as the program.
Profiler& profiler_of_this_thread();

}  // namespace taper
