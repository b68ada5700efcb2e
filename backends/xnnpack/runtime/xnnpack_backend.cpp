// The backend: handles are Delegates, and the pool of threads is made when it is first needed.

#include "backends/xnnpack/runtime/xnnpack_backend.h"

#include <new>

#include "backends/xnnpack/runtime/delegate.h"
#include "backends/xnnpack/runtime/packed_cache.h"
#include "backends/xnnpack/runtime/pages.h"
#include "backends/xnnpack/runtime/work_memory.h"
#include "backends/xnnpack/runtime/xnnpack_threads.h"

namespace taper {
namespace {

// Holds the mutex of a workspace if there is one to hold.
std::unique_lock<std::mutex> hold(std::mutex& mutex, bool shared) {
  return shared ? std::unique_lock<std::mutex>(mutex) : std::unique_lock<std::mutex>();
}

}  // namespace

XnnpackBackend::XnnpackBackend(const XnnpackOptions& options)
    : options_(options), cache_(new (std::nothrow) xnnpack::PackedCache(options.cache_path)) {}

XnnpackBackend::~XnnpackBackend() = default;

bool XnnpackBackend::is_available() const { return xnnpack::start_library(); }

Status XnnpackBackend::prepare() {
  TAPER_REQUIRE(cache_ != nullptr, Error::kDelegateMemoryAllocationFailed,
                "there is no memory for the XNNPACK backend");
  const std::lock_guard<std::mutex> lock(mutex_);
  if (options_.share_workspace && workspace_ == nullptr) {
    workspace_.reset(new (std::nothrow) xnnpack::WorkMemory());
    TAPER_REQUIRE(workspace_ != nullptr, Error::kDelegateMemoryAllocationFailed,
                  "there is no memory for the workspace");
  }
  if (options_.pool != nullptr || own_threads_ != nullptr) return {};
  own_threads_.reset(new (std::nothrow) XnnpackThreads(options_.threads));
  TAPER_REQUIRE(own_threads_ != nullptr, Error::kDelegateMemoryAllocationFailed,
                "there is no memory for the threads of XNNPACK");
  return {};
}

Result<void*> XnnpackBackend::init(BackendInitContext& context, Span<const uint8_t> payload,
                                   CompileSpecs) {
  TAPER_REQUIRE(is_available(), Error::kNotSupported, "XNNPACK has no kernels for this processor");
  TAPER_TRY(prepare());
  auto* delegate = new (std::nothrow) xnnpack::Delegate();
  TAPER_REQUIRE(delegate != nullptr, Error::kDelegateMemoryAllocationFailed,
                "there is no memory for the XNNPACK graph");
  const auto lock = hold(workspace_mutex_, options_.share_workspace);
  const Status status = delegate->load(
      payload, context, options_.max_bytes,
      {options_.pool != nullptr ? options_.pool : own_threads_->pool(), workspace_.get()}, *cache_);
  if (!status.ok()) {
    delete delegate;
    return status;
  }
  return static_cast<void*>(delegate);
}

Status XnnpackBackend::execute(BackendExecutionContext&, void* handle, Span<EValue* const> args) {
  const auto lock = hold(workspace_mutex_, options_.share_workspace);
  return static_cast<xnnpack::Delegate*>(handle)->execute(args);
}

void XnnpackBackend::destroy(void* handle) {
  const auto lock = hold(workspace_mutex_, options_.share_workspace);
  delete static_cast<xnnpack::Delegate*>(handle);
}

Status XnnpackBackend::save_packed() { return cache_ != nullptr ? cache_->save() : Status(); }

XnnpackCacheReport XnnpackBackend::cache_report() const {
  return cache_ != nullptr ? cache_->report() : XnnpackCacheReport();
}

}  // namespace taper
