// XNNPACK as a backend of the runtime, which an application puts into its table of backends.
//
//   XnnpackBackend xnnpack({.threads = 2});
//   const Backend backends[] = {{kXnnpackBackendId, &xnnpack}};
//   method_options.backends = backends;
//
// Options apply to one backend object; a Module that needs others uses a separate object.
//
// Threads: as documented at BackendInterface. Handles share only the thread pool, which serves one
// of them at a time, and their workspace if XnnpackOptions says so; backend objects share no lock.
// Memory: init() allocates what XNNPACK needs from the heap, for the declared sizes; execute()
// allocates nothing, unless the inputs have other sizes than in the execution before: XNNPACK may
// then plan its memory anew. Locks: execute() takes that of the workspace if delegates share one,
// and with several threads that of their pool.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "backends/xnnpack/descriptor.h"
#include "taper/backend_device.h"

struct pthreadpool;

namespace taper {

namespace xnnpack {
class PackedCache;
class WorkMemory;
}  // namespace xnnpack
class XnnpackThreads;

inline constexpr const char* kXnnpackBackendId = xnnpack::kIdentity.delegate_id;
// The name of the data in a program that holds packed weights, in the format of a file of them.
inline constexpr char kXnnpackPackedKey[] = "taper.xnncache";

struct XnnpackOptions {
  // The number of threads that a graph runs on; 0 means one for each fast core that the process may
  // use, at most four.
  uint32_t threads = 0;
  // The application's own threads, used instead of those above: xnnpack_threads.h creates a pool
  // that the kernels can use, too. It must outlive the backend; several backends may share it.
  pthreadpool* pool = nullptr;
  // How long it takes to wake the threads, in seconds. A graph whose nodes take less than that on
  // average, with its largest sizes, runs on one thread. 0: every graph has all threads.
  double wake_seconds = 2e-6;
  // All handles keep intermediate results in the same memory, which is as large as the largest one
  // needs. They then run one after another, even if called from several threads. If false, handles
  // whose files request it do so (`--backend xnnpack:share_workspace=1`).
  bool share_workspace = false;
  // A file of packed weights beside the model, "model.xnncache", which is mapped and shared between
  // processes. It need not exist: save_packed() writes it, and replaces it if it cannot be used. If
  // null, weights are packed whenever a graph is loaded, unless the program contains packed ones.
  // The text must outlive the backend.
  const char* cache_path = nullptr;
  // The most memory that one payload may request, counted before anything is built: a limit for
  // untrusted files.
  uint64_t max_bytes = uint64_t{8} << 30;
  // Which numbers graphs give that prefer float16 or bfloat16 (`--precision f16`, `bf16`): those of
  // this processor; those of float32; or the rounded ones even if they are slower here, for which
  // init() fails on a processor that has no kernels for them.
  Numbers numbers = Numbers::kOwn;
  // Is told how long the nodes of a graph take, in every execution; must outlive the backend. Null:
  // nobody asks.
  Profiler* profiler = nullptr;
};

class XnnpackBackend final : public BackendInterface {
 public:
  explicit XnnpackBackend(const XnnpackOptions& options = {});
  ~XnnpackBackend();
  XnnpackBackend(const XnnpackBackend&) = delete;
  XnnpackBackend& operator=(const XnnpackBackend&) = delete;

  // False on processors for which XNNPACK has no kernels.
  bool is_available() const override;
  Result<void*> init(BackendInitContext& context, Span<const uint8_t> payload,
                     CompileSpecs specs) override;
  Status execute(BackendExecutionContext& context, void* handle, Span<EValue* const> args) override;
  void destroy(void* handle) override;

  // Writes the packed weights of all existing handles to XnnpackOptions::cache_path, if the file
  // lacks any of them. Call it when everything is loaded. The file is replaced as a whole, so
  // several processes may do so at once. Returns kAccessFailed with the reason if it cannot be
  // written; nothing else is affected.
  Status save_packed();
  PackedReport cache_report() const;
  // As Device::tell_memory().
  static void tell_memory(const void* handle, MemoryListener& listener);

 private:
  // Whether a graph that prefers other numbers than float32 is computed in them: `computes` says
  // which processors can; `problem` is what is wrong if this one has to.
  Result<bool> chooses(bool prefers, bool (*computes)(Numbers), const char* problem) const;
  // Creates what handles share when the first handle is created.
  Status prepare(bool shares_workspace);

  const XnnpackOptions options_;
  const std::unique_ptr<xnnpack::PackedCache> cache_;  // Null if there is no memory for it.
  std::mutex mutex_;  // Guards the next two members; never held while anything runs.
  std::unique_ptr<XnnpackThreads> own_threads_;
  std::unique_ptr<xnnpack::WorkMemory> workspace_;  // Exists if handles share it.
  std::mutex workspace_mutex_;                      // Held while a handle uses it.
};

}  // namespace taper
