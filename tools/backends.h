// The backends that this build has, for the commands that run programs.

#pragma once

#include <cstdint>
#include <memory>

#include "taper/backend.h"

namespace taper::tools {

class Backends {
 public:
  // Their threads; 0: as they see fit.
  explicit Backends(uint32_t threads);
  ~Backends();

  BackendTable table() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace taper::tools
