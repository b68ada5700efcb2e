// What libtaper_aten.so exports: one function, which whoever opens the library looks up by name.

#pragma once

#include <cstdint>

#include "taper/kernel.h"

namespace taper::aten {

// Changes when the library and the program that opens it do not fit together.
inline constexpr uint64_t kLayout =
    2 + (uint64_t{sizeof(Kernel)} << 8) + (uint64_t{sizeof(Tensor)} << 20) +
    (uint64_t{sizeof(EValue)} << 32) + (uint64_t{sizeof(KernelContext)} << 44);

struct Kernels {
  KernelTable table;
  // The operators that the libraries registered, a line each, as exir/ops/declare.h reads them.
  const char* declarations = "";
};

// Loads libraries that register custom operators, then makes a kernel for every operator that
// PyTorch's dispatcher knows. A later call adds what was registered since; what is given lives as
// long as the process. Returns null, or why there are no kernels.
using KernelsFunction = const char* (*)(uint64_t layout, Span<const char* const> libraries,
                                        Kernels* kernels);
inline constexpr char kKernelsFunction[] = "taper_aten_kernels";

}  // namespace taper::aten
