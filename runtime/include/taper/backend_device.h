// The device half of a backend's descriptor, with which a program can create any backend by name. A
// program that knows at compile time which backend it uses can include that backend's header
// instead.

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "taper/backend.h"
#include "taper/thread_pool.h"

namespace taper {

struct BackendIdentity {
  const char* name;         // The name for users: "xnnpack".
  const char* delegate_id;  // The delegate id in files: "XnnpackBackend".
};

// A step of what a backend computed in a delegate call, such as a shader that ran on a GPU.
struct ProfiledStep {
  const void* delegate;     // Tells the delegates of a program apart.
  uint32_t index;           // Of the step in its call, from 0 on.
  std::string_view op;      // The operator in the payload: "aten.add.Tensor".
  std::string_view kernel;  // What computed it.
  std::string_view sizes;   // Of what it computed.
  double seconds;
  double begin = -1;  // In seconds since the call began; negative if it is not known.
  // The node that it computes, counted from 0 in the order of the compiler's report; negative if it
  // is not one node, or not known.
  int64_t node = -1;
  // How much it computes, in additions and multiplications of products, and how much it reads and
  // writes at least; 0 if it is not known.
  double operations = 0, bytes = 0;
};

// Receives the steps of each execution, for an application that looks where time goes. The views
// are valid during the call.
class Profiler {
 public:
  virtual void add(const ProfiledStep& step) = 0;

 protected:
  ~Profiler() = default;
};

// A block of memory that a loaded payload keeps, besides what its Method plans.
struct MemoryBlock {
  // kShared: several payloads use it in turns; each tells how much of it it needs. kFile: pages of
  // a file, which processes share and the system may drop. kDevice: not the processor's memory.
  enum class Kind : uint8_t { kOwn, kShared, kFile, kDevice };

  const char* what = "";  // "packed weights"
  uint64_t bytes = 0;
  Kind kind = Kind::kOwn;
};

// Where an intermediate result lies in a block, and for which steps of the payload.
struct PlacedResult {
  uint64_t offset = 0, bytes = 0;
  uint32_t first = 0, last = 0;  // Steps, inclusive.
  // The node that it is the result of, as in ProfiledStep. With `last_node` it is scratch memory of
  // the nodes from one to the other.
  int64_t node = -1, last_node = -1;
};

// Receives what a loaded payload keeps in memory, for an application that looks where memory goes.
class MemoryListener {
 public:
  virtual void add(const MemoryBlock& block) = 0;
  // Of the last block that was added.
  virtual void add(const PlacedResult& result) = 0;

 protected:
  ~MemoryListener() = default;
};

// Which numbers a backend gives, for tools that compare: its own; those of float32, for which that
// of a GPU takes the application's kernels; or the same with values rounded where its device rounds
// them.
enum class Numbers : uint8_t { kOwn, kExact, kRounded };

// Options for all backends; each ignores those that do not apply to it.
struct DeviceOptions {
  // The number of threads that it may use. 0: one for each fast core of the process, at most four.
  uint32_t threads = 0;
  // A file besides the model for what the backend prepares when it loads payloads, such as packed
  // weights or compiled shaders. It need not exist: Device::save_packed() creates it. Null means
  // none. The string must outlive the device.
  const char* packed_path = nullptr;
  // Receives the steps of every execution of a delegate, from the thread that executes. A backend
  // that cannot tell them apart adds none; one that can may run them one after another, which
  // takes longer than without. Null: none. It must outlive the device.
  Profiler* profiler = nullptr;
  // The limit on the memory that one payload may need, in bytes, for files that are not trusted. 0:
  // the backend's default.
  uint64_t max_bytes = 0;
  // Backends that have only one kind of numbers ignore it.
  Numbers numbers = Numbers::kOwn;
};

// Where the packed weights of all payloads loaded so far came from, or what else the backend keeps.
struct PackedReport {
  const char* what = "packed weights";
  uint32_t found = 0;   // How many were found in the file or the program.
  uint32_t packed = 0;  // How many were packed, without those that are never stored.
  // Why the file, or the data in the program, was not used for all of them; empty if it was, or if
  // there is none. Whatever cannot be used is packed again, so results are right in any case.
  const char* problem = "";
  const char* program_problem = "";
};

// A backend and the resources that it owns. It must outlive every Method that uses it.
// Threads: for interface() see BackendInterface; all else is used by one thread at a time.
class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  virtual BackendInterface& interface() = 0;

  // Whether the backend has threads that kernels may use too, and these threads. Sharing them
  // avoids more threads than cores. With only one thread the pool is empty.
  virtual bool has_threads() const { return false; }
  virtual ThreadPool thread_pool() { return {}; }

  // Writes what is kept in DeviceOptions::packed_path unless it is all there. Call it when
  // everything is loaded. Returns kAccessFailed with the reason if the file cannot be written,
  // which affects nothing else.
  virtual Status save_packed() { return {}; }
  virtual PackedReport packed_report() const { return {}; }

  // Tells what the payload keeps whose handle BackendInterface::init() returned. Memory that is not
  // told of, such as that of a driver, may come on top.
  virtual void tell_memory(const void*, MemoryListener&) const {}

  // What a user should know of how the payloads loaded so far run, such as that there is no GPU;
  // empty if there is nothing to say.
  virtual const char* note() const { return ""; }
};

struct DeviceDescriptor {
  BackendIdentity identity;
  // The key of the named data in which a program has packed weights, and the suffix of a file with
  // them: "taper.xnncache", "xnncache". Null if the backend keeps nothing there.
  const char* packed_key;
  const char* packed_suffix;
  // Whether such a file holds code, which nobody should run who has not asked for it.
  bool packed_is_code;
  // Creates the device; null if there is not enough memory.
  std::unique_ptr<Device> (*make)(const DeviceOptions& options);
};

}  // namespace taper
