#include "tools/backends.h"

#include "backends/xnnpack/aot/xnnpack_compiler.h"

#if TAPER_XNNPACK
#include "backends/xnnpack/runtime/xnnpack_backend.h"
#include "backends/xnnpack/runtime/xnnpack_threads.h"
#else
#include "tools/own_threads.h"
#endif

namespace taper::tools {

#if TAPER_XNNPACK

namespace {

XnnpackOptions xnnpack_options(const XnnpackThreads& threads, const std::string& cache_path) {
  XnnpackOptions result;
  result.threads = threads.count();
  result.pool = threads.pool();
  if (!cache_path.empty()) result.cache_path = cache_path.c_str();
  return result;
}

}  // namespace

struct Backends::State {
  explicit State(const BackendOptions& options)
      : cache_path(options.cache_path),
        threads(options.threads),
        xnnpack(xnnpack_options(threads, cache_path)),
        table{{kXnnpackBackendId, &xnnpack}} {}
  const std::string cache_path;
  XnnpackThreads threads;
  XnnpackBackend xnnpack;
  Backend table[1];
};

BackendTable Backends::table() const { return {state_->table, 1}; }
ThreadPool Backends::thread_pool() const { return state_->threads.thread_pool(); }

std::string Backends::save_packed(const std::string& program) {
  const XnnpackCacheReport report = state_->xnnpack.cache_report();
  std::string note;
  if (*report.program_problem != 0) {
    note = "the packed weights in '" + program + "' are not used: " + report.program_problem;
  }
  const std::string& path = state_->cache_path;
  if (path.empty()) return note;
  const Status saved = state_->xnnpack.save_packed();
  if (report.packed == 0) return note;
  if (!note.empty()) note += "; ";
  note += "packed weights: '" + path + "' ";
  if (*report.problem != 0) {
    note += std::string("is not used: ") + report.problem;
    note += saved.ok() ? "; it is made anew" : "; it is not made anew either: ";
  } else {
    note += saved.ok() ? "is written" : "cannot be written: ";
  }
  return note + saved.message();
}

bool has_xnnpack() { return true; }
const char* packed_weights_key() { return kXnnpackPackedKey; }

#else

bool has_xnnpack() { return false; }
const char* packed_weights_key() { return ""; }

struct Backends::State {
  explicit State(const BackendOptions& options) : threads(options.threads) {}
  OwnThreads threads;
};

BackendTable Backends::table() const { return {}; }
ThreadPool Backends::thread_pool() const { return state_->threads.thread_pool(); }

std::string Backends::save_packed(const std::string&) { return {}; }

#endif

Backends::Backends(const BackendOptions& options) : state_(std::make_unique<State>(options)) {}
Backends::~Backends() = default;

const exir::BackendCompiler* find_backend_compiler(const std::string& name) {
  static const xnnpack::XnnpackCompiler xnnpack;
  return name == xnnpack.name() ? &xnnpack : nullptr;
}

std::vector<std::string> backend_names() { return {"xnnpack"}; }

}  // namespace taper::tools
