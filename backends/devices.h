// The device halves of all backends that a program is linked with, for programs that take any. Who
// wants a certain one links that and includes its header instead.

#pragma once

#include <string_view>

#include "taper/backend_device.h"

namespace taper {

// In the order of backends/backends.cmake. Constant.
Span<const DeviceDescriptor* const> backend_devices();

// Null if none has that name.
const DeviceDescriptor* find_device(std::string_view name);

}  // namespace taper
