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
