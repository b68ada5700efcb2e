// The backends that there are: their compiler halves by name, and their device halves where this
// build has them.

#pragma once

#include <cstdint>
#include <memory>

#include <string>
#include <vector>

#include "exir/delegate/backend_compiler.h"
#include "taper/backend.h"
#include "taper/thread_pool.h"

namespace taper::tools {

struct BackendOptions {
  uint32_t threads = 0;    // 0: one for each fast core, four at most.
  std::string cache_path;  // Of packed weights; empty: none are read or written.
};

class Backends {
 public:
  explicit Backends(const BackendOptions& options);
  ~Backends();

  BackendTable table() const;
  // Threads for kernels: those of the backends where there are some.
  ThreadPool thread_pool() const;
  // When everything is loaded: writes the packed weights if the file lacks some. Returns what a
  // person should know: that a file was made, or why what there is was not used, or not written;
  // empty if there is nothing to tell. `program` is named if what it holds is of no use.
  std::string save_packed(const std::string& program);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Whether this build runs delegates of XNNPACK.
bool has_xnnpack();
// The named data of a program that holds packed weights.
const char* packed_weights_key();

// The compiler half of that name; null if there is none.
const exir::BackendCompiler* find_backend_compiler(const std::string& name);
// Their names, sorted.
std::vector<std::string> backend_names();

}  // namespace taper::tools
