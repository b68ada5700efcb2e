// The backends that there are: their compiler halves by name, and their device halves where this
// build has them.

#pragma once

#include <cstdint>
#include <memory>

#include <string>
#include <vector>

#include "exir/delegate/backend_compiler.h"
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

// The compiler half of that name; null if there is none.
const exir::BackendCompiler* find_backend_compiler(const std::string& name);
// Their names, sorted.
std::vector<std::string> backend_names();

}  // namespace taper::tools
