// What the opaque tables of taper/taper.h are in C++, for whoever makes one.

#pragma once

#include "taper/backend.h"
#include "taper/kernel.h"

// NOLINTBEGIN(readability-identifier-naming): C's names.
struct taper_kernels {
  taper::KernelTable table;
};

struct taper_backends {
  taper::BackendTable table;
};
// NOLINTEND(readability-identifier-naming)
