// The fast kernels in one table. It goes before the portable one:
//
//   static const KernelTable tables[] = {optimized::optimized_kernels(),
//                                        portable::portable_kernels()};

#pragma once

#include "taper/kernel.h"

namespace taper::optimized {

// Sorted by name, as find_kernel() wants it. The table is constant data.
KernelTable optimized_kernels();

}  // namespace taper::optimized
