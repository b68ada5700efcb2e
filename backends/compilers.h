// The compiler halves of all backends. They need no libraries, so programs are compiled for any
// device.

#pragma once

#include "exir/delegate/compiler_descriptor.h"

namespace taper {

// In the order of backends/backends.cmake. Constant.
exir::CompilerTable backend_compilers();

}  // namespace taper
