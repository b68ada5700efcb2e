// The compiler halves of all backends. They need no libraries, so any program can compile for any
// backend.

#pragma once

#include "exir/delegate/compiler_descriptor.h"

namespace taper {

// The table is constant, in the order of backends/backends.cmake.
exir::CompilerTable backend_compilers();

}  // namespace taper
