// Every kernel of this folder in one table, for applications that do not use selective build.

#pragma once

#include "taper/kernel.h"

namespace taper::portable {

// All kernels, sorted by name as find_kernel() requires. The table is constant data.
KernelTable portable_kernels();

}  // namespace taper::portable
