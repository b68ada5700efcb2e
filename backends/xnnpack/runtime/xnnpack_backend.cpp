// The backend: handles are Delegates, and the pool of threads is made when it is first needed.

#include "backends/xnnpack/runtime/xnnpack_backend.h"

#include <pthreadpool.h>
#include <sched.h>

#include <algorithm>
#include <new>

#include "backends/xnnpack/runtime/delegate.h"

namespace taper {
namespace {

constexpr uint32_t kMostThreads = 4;

uint32_t usable_cores() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) return 1;
  return static_cast<uint32_t>(std::max(1, CPU_COUNT(&cores)));
}

}  // namespace

XnnpackBackend::~XnnpackBackend() {
  if (own_pool_ != nullptr) pthreadpool_destroy(own_pool_);
}

bool XnnpackBackend::is_available() const { return xnn_initialize(nullptr) == xnn_status_success; }

pthreadpool* XnnpackBackend::threads() {
  if (options_.pool != nullptr) return options_.pool;
  const uint32_t wanted =
      options_.threads != 0 ? options_.threads : std::min(usable_cores(), kMostThreads);
  if (wanted == 1) return nullptr;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (own_pool_ == nullptr) own_pool_ = pthreadpool_create(wanted);
  return own_pool_;
}

Result<void*> XnnpackBackend::init(BackendInitContext& context, Span<const uint8_t> payload,
                                   CompileSpecs) {
  TAPER_REQUIRE(is_available(), Error::kNotSupported, "XNNPACK has no kernels for this processor");
  auto* delegate = new (std::nothrow) xnnpack::Delegate();
  TAPER_REQUIRE(delegate != nullptr, Error::kDelegateMemoryAllocationFailed,
                "there is no memory for the XNNPACK graph");
  const Status status = delegate->load(payload, context, options_.max_bytes, threads());
  if (!status.ok()) {
    delete delegate;
    return status;
  }
  return static_cast<void*>(delegate);
}

Status XnnpackBackend::execute(BackendExecutionContext&, void* handle, Span<EValue* const> args) {
  return static_cast<xnnpack::Delegate*>(handle)->execute(args);
}

void XnnpackBackend::destroy(void* handle) { delete static_cast<xnnpack::Delegate*>(handle); }

}  // namespace taper
