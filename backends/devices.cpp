// Finds device halves by name.

#include "backends/devices.h"

namespace taper {

const DeviceDescriptor* find_device(std::string_view name) {
  for (const DeviceDescriptor* each : backend_devices()) {
    if (name == each->identity.name) return each;
  }
  return nullptr;
}

}  // namespace taper
