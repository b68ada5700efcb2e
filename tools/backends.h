// The backends of this program: compilers by what --backend says, and all device halves at once.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "backends/devices.h"
#include "exir/delegate/backend_compiler.h"

namespace taper::tools {

struct BackendOptions {
  uint32_t threads = 0;  // 0: one for each fast core, four at most.
  // Files of packed weights by the name of the backend; where there is none, none are read or
  // written.
  std::map<std::string, std::string> packed_paths = {};
};

// All device halves that this program is linked with.
class Backends {
 public:
  explicit Backends(const BackendOptions& options);
  ~Backends();

  BackendTable table() const;
  // Threads for kernels: those of a backend where one has some that serve them.
  ThreadPool thread_pool() const;
  // When everything is loaded: writes the packed weights if a file lacks some. Returns what a
  // person should know: that a file was made, or why what there is was not used, or not written;
  // empty if there is nothing to tell. `program` is named if what it holds is of no use.
  std::string save_packed(const std::string& program);
  // What the devices say of how the payloads loaded so far run; empty if nothing.
  std::string device_notes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// "xnnpack:min_elements=0": the compilers that --backend names, in order of preference. Throws
// UsageError; the text names everything that is wrong.
exir::BackendCompilers compilers_of(const std::string& text);

// "portable, xnnpack"
std::string backend_names();

// Every backend, whether this program runs it, and its options: a line each.
std::string list_backends();

// What would help if a program's delegates of that id cannot run, in the form "; this taper was
// built without xnnpack: run ..."; empty if they can, or nobody knows the id.
std::string remedy_for(const std::string& delegate_id);

}  // namespace taper::tools
