// The table of fast kernels. It goes before the portable one:
//
//   static const KernelTable tables[] = {optimized::optimized_kernels(),
//                                        portable::portable_kernels()};

#pragma once

#include "taper/kernel.h"

namespace taper::optimized {

// All fast kernels, sorted by name as find_kernel() requires. The table is constant data.
KernelTable optimized_kernels();

}  // namespace taper::optimized
