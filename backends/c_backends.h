// The device halves of backends that models in C share.

#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "taper/backend_device.h"
#include "taper/c_tables.h"
#include "taper/taper.h"

namespace taper {

// One device of each kind, each created when it is first requested. They live as long as this
// object, which must outlive every model.
class SharedDevices {
 public:
  // `profiler` receives the steps of all of them; null: none.
  explicit SharedDevices(Profiler* profiler);

  // The backend of that name. Null, and what is wrong in `error`, if there is none; `site` is the
  // function that asks.
  const taper_backend* find(const char* name, const char* site, taper_error* error);

 private:
  struct Shared {
    std::unique_ptr<Device> device;
    taper_backend backend = {};
  };

  // Null if there is no memory for it.
  const taper_backend* create(size_t i);

  std::mutex mutex_;
  Profiler* const profiler_;
  std::vector<Shared> all_;
};

// find() of the object that `devices` makes when it is first called; null, and an error, without
// enough memory.
const taper_backend* find_shared(SharedDevices& (*devices)(), const char* name, const char* site,
                                 taper_error* error);

}  // namespace taper
