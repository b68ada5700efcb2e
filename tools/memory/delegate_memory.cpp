// Wraps each backend in one that compares heap usage before and after building a delegate.

#include "tools/memory/delegate_memory.h"

#include <deque>
#include <vector>

#include "taper/module.h"
#include "tools/backends.h"
#include "tools/program_runner.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace taper::tools {
namespace {

uint64_t heap_bytes() {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}

class Metered final : public BackendInterface {
 public:
  Metered(BackendInterface* inner, uint64_t* bytes) : inner_(inner), bytes_(*bytes) {}

  bool is_available() const override { return inner_->is_available(); }
  Result<void*> init(BackendInitContext& context, Span<const uint8_t> payload,
                     CompileSpecs specs) override {
    const uint64_t before = heap_bytes();
    Result<void*> handle = inner_->init(context, payload, specs);
    const uint64_t after = heap_bytes();
    if (after > before) bytes_ += after - before;
    return handle;
  }
  Status execute(BackendExecutionContext& context, void* handle,
                 Span<EValue* const> args) override {
    return inner_->execute(context, handle, args);
  }
  Status reset(void* handle) override { return inner_->reset(handle); }
  void destroy(void* handle) override { inner_->destroy(handle); }

 private:
  BackendInterface* inner_;
  uint64_t& bytes_;
};

}  // namespace

DelegateMemory delegate_memory(const std::string& path, const std::string& method) {
  DelegateMemory found;
  const Backends backends({.threads = 1});
  std::deque<Metered> metered;
  std::vector<Backend> table;
  for (const Backend& each : backends.table()) {
    metered.emplace_back(each.interface, &found.bytes);
    table.push_back({each.name, &metered.back()});
  }
  ModuleOptions options;
  options.kernels = kernel_tables(true);
  options.backends = table;
  Module module(path, options);
  if (!module.load_method(method).ok()) found.problem = module.last_error_text();
  return found;
}

}  // namespace taper::tools
