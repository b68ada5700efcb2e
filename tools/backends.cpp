#include "tools/backends.h"

#include "backends/xnnpack/aot/xnnpack_compiler.h"

#if TAPER_XNNPACK
#include "backends/xnnpack/runtime/xnnpack_backend.h"
#endif

namespace taper::tools {

#if TAPER_XNNPACK

namespace {
XnnpackOptions xnnpack_options(uint32_t threads) {
  XnnpackOptions options;
  options.threads = threads;
  return options;
}
}  // namespace

struct Backends::State {
  explicit State(uint32_t threads)
      : xnnpack(xnnpack_options(threads)), table{{kXnnpackBackendId, &xnnpack}} {}
  XnnpackBackend xnnpack;
  Backend table[1];
};

BackendTable Backends::table() const { return {state_->table, 1}; }

#else

struct Backends::State {
  explicit State(uint32_t) {}
};

BackendTable Backends::table() const { return {}; }

#endif

Backends::Backends(uint32_t threads) : state_(std::make_unique<State>(threads)) {}
Backends::~Backends() = default;

const exir::BackendCompiler* find_backend_compiler(const std::string& name) {
  static const xnnpack::XnnpackCompiler xnnpack;
  return name == xnnpack.name() ? &xnnpack : nullptr;
}

std::vector<std::string> backend_names() { return {"xnnpack"}; }

}  // namespace taper::tools
