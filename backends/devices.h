// The device halves of all backends that a program is linked with, for programs that use any. A
// program that needs a certain backend links that one and includes its header instead.

#pragma once

#include <string_view>

#include "taper/backend_device.h"

namespace taper {

// The table is constant, in the order of backends/backends.cmake.
Span<const DeviceDescriptor* const> backend_devices();

// The device half with a name; null if there is none.
const DeviceDescriptor* find_device(std::string_view name);

}  // namespace taper
