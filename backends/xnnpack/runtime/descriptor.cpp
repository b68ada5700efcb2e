// The device half of the backend's descriptor. It creates a backend with its own threads, which the
// kernels use, too.

#include "backends/xnnpack/descriptor.h"

#include "backends/xnnpack/runtime/xnnpack_backend.h"
#include "backends/xnnpack/runtime/xnnpack_threads.h"
#include "taper/out_of_memory.h"

namespace taper::xnnpack {
namespace {

XnnpackOptions backend_options(const DeviceOptions& options, const XnnpackThreads& threads) {
  XnnpackOptions result;
  result.threads = threads.count();
  result.pool = threads.pool();
  result.cache_path = options.packed_path;
  result.profiler = options.profiler;
  result.numbers = options.numbers;
  if (options.max_bytes != 0) result.max_bytes = options.max_bytes;
  return result;
}

class XnnpackDevice final : public Device {
 public:
  explicit XnnpackDevice(const DeviceOptions& options)
      : threads_(options.threads), backend_(backend_options(options, threads_)) {}

  BackendInterface& interface() override { return backend_; }
  bool has_threads() const override { return true; }
  ThreadPool thread_pool() override { return threads_.thread_pool(); }
  Status save_packed() override { return backend_.save_packed(); }
  PackedReport packed_report() const override { return backend_.cache_report(); }
  void tell_memory(const void* handle, MemoryListener& listener) const override {
    XnnpackBackend::tell_memory(handle, listener);
  }

 private:
  XnnpackThreads threads_;
  XnnpackBackend backend_;
};

std::unique_ptr<Device> make(const DeviceOptions& options) {
  return make_or_null<XnnpackDevice>(options);
}

}  // namespace

extern const DeviceDescriptor kDevice;
const DeviceDescriptor kDevice = {kIdentity, kXnnpackPackedKey, "xnncache", false, make};

}  // namespace taper::xnnpack
