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
#include <mutex>

#include "taper/backend.h"

struct pthreadpool;
struct xnn_workspace;

namespace taper {

inline constexpr char kXnnpackBackendId[] = "XnnpackBackend";

struct XnnpackOptions {
  // Threads that a graph runs on; 0: as many as the process may use fast cores, four at most.
  uint32_t threads = 0;
  // The application's own threads, in place of those above. It outlives the backend, and may be
  // that of several.
  pthreadpool* pool = nullptr;
  // All handles keep what they compute on the way in the same memory, as much as the largest one
  // needs. They then run one after another, also when called from several threads.
  bool share_workspace = false;
  // The most that one payload may ask for, counted before anything is built: a bound for files that
  // are not trusted.
  uint64_t max_bytes = uint64_t{8} << 30;
};

class XnnpackBackend final : public BackendInterface {
 public:
  explicit XnnpackBackend(const XnnpackOptions& options = {}) : options_(options) {}
  ~XnnpackBackend();
  XnnpackBackend(const XnnpackBackend&) = delete;
  XnnpackBackend& operator=(const XnnpackBackend&) = delete;

  // False on processors that XNNPACK has no kernels for.
  bool is_available() const override;
  Result<void*> init(BackendInitContext& context, Span<const uint8_t> payload,
                     CompileSpecs specs) override;
  Status execute(BackendExecutionContext& context, void* handle, Span<EValue* const> args) override;
  void destroy(void* handle) override;

 private:
  // Make what all handles share when the first one is made.
  Status prepare();

  const XnnpackOptions options_;
  std::mutex mutex_;  // Of the two below; never held while anything runs.
  pthreadpool* own_pool_ = nullptr;
  xnn_workspace* workspace_ = nullptr;
  std::mutex workspace_mutex_;  // Held while a handle uses the workspace; only if it is shared.
};

}  // namespace taper
