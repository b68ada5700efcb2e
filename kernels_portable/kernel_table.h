// Every kernel of this folder in one table, for applications that do not select.

#pragma once

#include "taper/kernel.h"

namespace taper::portable {

// Sorted by name, as find_kernel() wants it. The table is constant data.
KernelTable portable_kernels();

}  // namespace taper::portable
