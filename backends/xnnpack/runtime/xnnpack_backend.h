// XNNPACK as a backend of the runtime: what an application puts into its table of backends.
//
//   XnnpackBackend xnnpack({.threads = 2});
//   const Backend backends[] = {{kXnnpackBackendId, &xnnpack}};
//   method_options.backends = backends;
//
// Options are those of one backend object; a Module that wants others has one of its own.
//
// Threads: as BackendInterface says. Handles share nothing but the pool of threads, which serves
// one of them at a time, and their workspace if XnnpackOptions says so; no lock is shared between
// backend objects. Memory: init() takes what XNNPACK needs from the heap; execute() takes none,
// unless XNNPACK needs more than before because an input has grown.

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
// The named data of a program that holds packed weights, as a file of them does.
inline constexpr char kXnnpackPackedKey[] = "taper.xnncache";

struct XnnpackOptions {
  // Threads that a graph runs on; 0: as many as the process may use fast cores, four at most.
  uint32_t threads = 0;
  // The application's own threads, in place of those above: xnnpack_threads.h makes some that serve
  // kernels too. It outlives the backend, and may be that of several.
  pthreadpool* pool = nullptr;
  // All handles keep what they compute on the way in the same memory, as much as the largest one
  // needs. They then run one after another, also when called from several threads. Without it those
  // do whose files say so (`--backend xnnpack:share_workspace=1`).
  bool share_workspace = false;
  // A file of packed weights beside the model, "model.xnncache", mapped and shared between
  // processes. It need not be there: save_packed() makes it, and makes it anew where it is of no
  // use. Null: weights are packed whenever a graph is loaded, unless the program holds packed ones.
  // The text outlives the backend.
  const char* cache_path = nullptr;
  // The most that one payload may ask for, counted before anything is built: a bound for files that
  // are not trusted.
  uint64_t max_bytes = uint64_t{8} << 30;
};

class XnnpackBackend final : public BackendInterface {
 public:
  explicit XnnpackBackend(const XnnpackOptions& options = {});
  ~XnnpackBackend();
  XnnpackBackend(const XnnpackBackend&) = delete;
  XnnpackBackend& operator=(const XnnpackBackend&) = delete;

  // False on processors that XNNPACK has no kernels for.
  bool is_available() const override;
  Result<void*> init(BackendInitContext& context, Span<const uint8_t> payload,
                     CompileSpecs specs) override;
  Status execute(BackendExecutionContext& context, void* handle, Span<EValue* const> args) override;
  void destroy(void* handle) override;

  // Writes the packed weights of all handles that there are to XnnpackOptions::cache_path, if some
  // of them are not there yet. To be called when everything is loaded. The file is replaced whole:
  // several processes may do so at once. Returns kAccessFailed with the reason if it cannot be
  // written; nothing else is affected.
  Status save_packed();
  PackedReport cache_report() const;

 private:
  // Makes what handles share when the first one is made.
  Status prepare(bool shares_workspace);

  const XnnpackOptions options_;
  const std::unique_ptr<xnnpack::PackedCache> cache_;  // Null if there is no memory for it.
  std::mutex mutex_;  // Guards the two below; never held while anything runs.
  std::unique_ptr<XnnpackThreads> own_threads_;
  std::unique_ptr<xnnpack::WorkMemory> workspace_;  // If some handles share it.
  std::mutex workspace_mutex_;                      // Held while one of them uses it.
};

}  // namespace taper
