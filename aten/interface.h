// What libtaper_aten.so exports: one function, which whoever opens the library looks up by name.

#pragma once

#include <cstdint>

#include "taper/kernel.h"

namespace taper::aten {

// Changes when the library and the program that opens it do not fit together.
inline constexpr uint64_t kLayout =
    1 + (uint64_t{sizeof(Kernel)} << 8) + (uint64_t{sizeof(Tensor)} << 20) +
    (uint64_t{sizeof(EValue)} << 32) + (uint64_t{sizeof(KernelContext)} << 44);

// Sets *table to a kernel for every operator that PyTorch's dispatcher knows at the first call; it
// lives as long as the process. Returns null, or why there is no table.
using KernelsFunction = const char* (*)(uint64_t layout, KernelTable* table);
inline constexpr char kKernelsFunction[] = "taper_aten_kernels";

}  // namespace taper::aten
