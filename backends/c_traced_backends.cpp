// Backends for programs in C that tell recordings of their steps. They are other devices than those
// of taper_find_backend(), since a device tells somebody of its steps always or never.

#include "backends/c_backends.h"

extern "C" const taper_backend* taper_find_traced_backend(const char* name, taper_error* error) {
  // Never destroyed, since models may be closed at any time.
  const auto devices = []() -> taper::SharedDevices& {
    static auto* const kept = new taper::SharedDevices(&taper::profiler_of_this_thread());
    return *kept;
  };
  return taper::find_shared(devices, name, __func__, error);
}
