// Backends for programs in C: each is created when it is first requested, and all models share it.

#include "backends/c_backends.h"

#include <cstring>
#include <string>

#include "backends/devices.h"
#include "taper/c_error.h"
#include "taper/out_of_memory.h"

namespace taper {
SharedDevices::SharedDevices(Profiler* profiler)
    : profiler_(profiler), all_(backend_devices().size()) {}

const taper_backend* SharedDevices::create(size_t i) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Shared& found = all_[i];
  if (found.device == nullptr) {
    const DeviceDescriptor& descriptor = *backend_devices()[i];
    DeviceOptions options;
    options.profiler = profiler_;
    found.device = descriptor.make(options);
    if (found.device == nullptr) return nullptr;
    found.backend.entry = {descriptor.identity.delegate_id, &found.device->interface()};
  }
  return &found.backend;
}

const taper_backend* SharedDevices::find(const char* name, const char* site, taper_error* error) {
  if (name == nullptr) {
    report(error, Error::kInvalidArgument, site, "name is a null pointer");
    return nullptr;
  }
  std::string known;
  for (size_t i = 0; i < taper_backend_count(); ++i) {
    known += (i == 0 ? "" : ", ") + std::string(taper_backend_name(i));
    if (std::strcmp(taper_backend_name(i), name) != 0) continue;
    const taper_backend* backend = create(i);
    if (backend == nullptr) {
      report(error, Error::kMemoryAllocationFailed, site, "there is no memory for the backend");
    }
    return backend;
  }
  report(error, Error::kNotFound, site,
         "no backend '" + std::string(name) + "'; " +
             (known.empty() ? "this library has none" : "there are: " + known));
  return nullptr;
}

const taper_backend* find_shared(SharedDevices& (*devices)(), const char* name, const char* site,
                                 taper_error* error) {
  return with_memory([&] { return devices().find(name, site, error); },
                     [&]() -> const taper_backend* {
                       report(error, kOutOfMemory, site);
                       return nullptr;
                     });
}

}  // namespace taper

extern "C" {

size_t taper_backend_count(void) { return taper::backend_devices().size(); }

const char* taper_backend_name(size_t index) {
  const auto devices = taper::backend_devices();
  return index < devices.size() ? devices[index]->identity.name : nullptr;
}

const taper_backend* taper_find_backend(const char* name, taper_error* error) {
  // Never destroyed, since models may be closed at any time.
  const auto devices = []() -> taper::SharedDevices& {
    static auto* const kept = new taper::SharedDevices(nullptr);
    return *kept;
  };
  return taper::find_shared(devices, name, __func__, error);
}

}  // extern "C"
