// The backends linked into this program: compilers selected by --backend, and all devices.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "backends/devices.h"
#include "exir/delegate/compiler_descriptor.h"

namespace taper::tools {

struct BackendOptions {
  uint32_t threads = 0;  // 0: one per fast core, at most four.
  // Files of packed weights, by backend name. A backend without an entry neither reads nor writes
  // one.
  std::map<std::string, std::string> packed_paths = {};
  Profiler* profiler = nullptr;  // Receives the steps of executions; must outlive the Backends.
  Numbers numbers = Numbers::kOwn;
};

// The device halves of all backends linked into this program.
class Backends {
 public:
  explicit Backends(const BackendOptions& options);
  ~Backends();

  BackendTable table() const;
  // Threads for kernels: those of a backend that offers its own, else OwnThreads.
  ThreadPool thread_pool() const;
  // Call this once everything is loaded: writes the packed weights if a file lacks some. Returns a
  // note for the user: that a file was written, or why one was not used or not written; empty if
  // there is nothing to report. `program` is named if the packed weights in it cannot be used.
  std::string save_packed(const std::string& program);
  // Tells `listener` what a payload keeps in memory whose handle `backend` of table() gave.
  void tell_memory(const BackendInterface* backend, const void* handle,
                   MemoryListener& listener) const;
  // What the devices say of how the payloads loaded so far run; empty if nothing.
  std::string device_notes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Parses --backend, such as "xnnpack:min_elements=0", into compilers in order of preference. Throws
// a UsageError that names every problem. Those that can compute in `numerals` do.
exir::BackendCompilers compilers_of(const std::string& text,
                                    exir::Numerals numerals = exir::Numerals::kFloat32,
                                    const char* option = "--backend");

// "portable, xnnpack"
std::string backend_names();

// The first backend that this program can run; "portable" if there is none.
std::string first_backend();

// Lists every backend, whether this program can run it, and its options, one per line.
std::string list_backends();

// A hint for a program whose delegates with that id cannot run, in the form "; this taper was built
// without xnnpack: run ..."; empty if they can, or if the id is unknown.
std::string remedy_for(const std::string& delegate_id);

}  // namespace taper::tools
