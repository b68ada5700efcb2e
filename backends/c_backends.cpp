// Backends for programs in C: each is created when it is first requested, and all models share it.

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>

#include "backends/devices.h"
#include "taper/c_tables.h"
#include "taper/taper.h"

namespace taper {
namespace {

struct Shared {
  std::unique_ptr<Device> device;
  taper_backend backend = {};
};

// The backend of device half `i`; null if there is no memory for it. It lives as long as the
// program, since models may be closed at any time.
const taper_backend* shared_backend(size_t i) {
  static std::mutex mutex;
  static Shared* const all = new Shared[backend_devices().size() + 1];
  const std::lock_guard<std::mutex> lock(mutex);
  Shared& found = all[i];
  if (found.device == nullptr) {
    const DeviceDescriptor& descriptor = *backend_devices()[i];
    found.device = descriptor.make({});
    if (found.device == nullptr) return nullptr;
    found.backend.entry = {descriptor.identity.delegate_id, &found.device->interface()};
  }
  return &found.backend;
}

const taper_backend* refuse(taper_error* error, taper_code code, const std::string& message) {
  if (error != nullptr) {
    error->code = code;
    const size_t length = std::min(message.size(), sizeof(error->message) - 1);
    std::memcpy(error->message, message.data(), length);
    error->message[length] = '\0';
    std::strcpy(error->site, "taper_find_backend");
  }
  return nullptr;
}

}  // namespace
}  // namespace taper

extern "C" {

size_t taper_backend_count(void) { return taper::backend_devices().size(); }

const char* taper_backend_name(size_t index) {
  const auto devices = taper::backend_devices();
  return index < devices.size() ? devices[index]->identity.name : nullptr;
}

const taper_backend* taper_find_backend(const char* name, taper_error* error) {
  if (name == nullptr) {
    return taper::refuse(error, TAPER_INVALID_ARGUMENT, "name is a null pointer");
  }
  std::string known;
  for (size_t i = 0; i < taper_backend_count(); ++i) {
    known += (i == 0 ? "" : ", ") + std::string(taper_backend_name(i));
    if (std::strcmp(taper_backend_name(i), name) != 0) continue;
    const taper_backend* backend = taper::shared_backend(i);
    if (backend != nullptr) return backend;
    return taper::refuse(error, TAPER_OUT_OF_MEMORY, "there is no memory for the backend");
  }
  return taper::refuse(error, TAPER_NOT_FOUND,
                       "no backend '" + std::string(name) + "'; " +
                           (known.empty() ? "this library has none" : "there are: " + known));
}

}  // extern "C"
