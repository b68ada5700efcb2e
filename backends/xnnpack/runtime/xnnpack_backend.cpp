// The backend: a handle is a SubgraphExecutor, and the thread pool is created when it is first
// needed.

#include "backends/xnnpack/runtime/xnnpack_backend.h"

#include "backends/xnnpack/runtime/packed/packed_cache.h"
#include "backends/xnnpack/runtime/stages/half_parts.h"
#include "backends/xnnpack/runtime/stages/own_stage.h"
#include "backends/xnnpack/runtime/stages/pages.h"
#include "backends/xnnpack/runtime/stages/work_memory.h"
#include "backends/xnnpack/runtime/subgraph_executor.h"
#include "backends/xnnpack/runtime/xnnpack_threads.h"
#include "taper/out_of_memory.h"

namespace taper {
namespace {

// Locks the mutex of a workspace if the workspace is shared.
std::unique_lock<std::mutex> hold(std::mutex& mutex, bool shared) {
  return shared ? std::unique_lock<std::mutex>(mutex) : std::unique_lock<std::mutex>();
}

// What the compile specs request. Other keys, such as those that ExecuTorch's exporter leaves in
// its files, are ignored.
struct Requests {
  bool share_workspace = false;
  bool prefer_half = false;
  bool prefer_bfloat = false;
};

struct Flag {
  const char* key;
  bool Requests::*requested;
  const char* problem;
};
constexpr Flag kFlags[] = {
    {xnnpack::kShareWorkspace, &Requests::share_workspace,
     "the compile spec share_workspace is not one byte that is 0 or 1"},
    {xnnpack::kPreferHalf, &Requests::prefer_half,
     "the compile spec prefer_float16 is not one byte that is 0 or 1"},
    {xnnpack::kPreferBfloat, &Requests::prefer_bfloat,
     "the compile spec prefer_bfloat16 is not one byte that is 0 or 1"},
};

Result<Requests> read_requests(CompileSpecs specs) {
  Requests requests;
  for (size_t i = 0; i < specs.size(); ++i) {
    const auto& value = specs[i].value;
    for (const Flag& flag : kFlags) {
      if (specs[i].key != flag.key) continue;
      TAPER_REQUIRE(value.size() == 1 && value[0] <= 1, Error::kDelegateInvalidCompatibility,
                    flag.problem);
      requests.*flag.requested = value[0] == 1;
    }
  }
  return requests;
}

}  // namespace

XnnpackBackend::XnnpackBackend(const XnnpackOptions& options)
    : options_(options), cache_(make_or_null<xnnpack::PackedCache>(options.cache_path)) {}

XnnpackBackend::~XnnpackBackend() = default;

bool XnnpackBackend::is_available() const { return xnnpack::start_library(); }

Result<bool> XnnpackBackend::chooses(bool prefers, bool (*computes)(Numbers),
                                     const char* problem) const {
  if (!prefers) return false;
  const bool does = computes(options_.numbers);
  TAPER_REQUIRE(does || options_.numbers != Numbers::kRounded, Error::kNotSupported, problem);
  return does;
}

Status XnnpackBackend::prepare(bool shares_workspace) {
  TAPER_REQUIRE(cache_ != nullptr, Error::kDelegateMemoryAllocationFailed,
                "there is no memory for the XNNPACK backend");
  const std::lock_guard<std::mutex> lock(mutex_);
  if (shares_workspace && workspace_ == nullptr) {
    workspace_ = make_or_null<xnnpack::WorkMemory>();
    TAPER_REQUIRE(workspace_ != nullptr, Error::kDelegateMemoryAllocationFailed,
                  "there is no memory for the workspace");
  }
  if (options_.pool != nullptr || own_threads_ != nullptr) return {};
  own_threads_ = make_or_null<XnnpackThreads>(options_.threads);
  TAPER_REQUIRE(own_threads_ != nullptr, Error::kDelegateMemoryAllocationFailed,
                "there is no memory for the threads of XNNPACK");
  return {};
}

Result<void*> XnnpackBackend::init(BackendInitContext& context, Span<const uint8_t> payload,
                                   CompileSpecs specs) {
  TAPER_REQUIRE(is_available(), Error::kNotSupported, "XNNPACK has no kernels for this processor");
  const Result<Requests> requests = read_requests(specs);
  TAPER_TRY(requests.status());
  const Result<bool> in_half = chooses(requests->prefer_half, xnnpack::computes_in_half,
                                       "XNNPACK has no float16 kernels for this processor");
  TAPER_TRY(in_half.status());
  const Result<bool> in_bfloat = chooses(requests->prefer_bfloat, xnnpack::computes_in_bfloat,
                                         "there are no bfloat16 products for this processor");
  TAPER_TRY(in_bfloat.status());
  const bool shares = requests->share_workspace || options_.share_workspace;
  TAPER_TRY(prepare(shares));
  const auto lock = hold(workspace_mutex_, shares);
  return with_memory([&]() -> Result<void*> {
    auto delegate = std::make_unique<xnnpack::SubgraphExecutor>();
    TAPER_TRY(delegate->load(payload, context, options_.max_bytes,
                             {options_.pool != nullptr ? options_.pool : own_threads_->pool(),
                              shares ? workspace_.get() : nullptr, /*weights=*/nullptr,
                              options_.profiler, options_.wake_seconds, *in_half, *in_bfloat},
                             *cache_));
    return static_cast<void*>(delegate.release());
  });
}

Status XnnpackBackend::execute(BackendExecutionContext&, void* handle, Span<EValue* const> args) {
  auto* delegate = static_cast<xnnpack::SubgraphExecutor*>(handle);
  const auto lock = hold(workspace_mutex_, delegate->shares_memory());
  return with_memory([&] { return delegate->execute(args); });
}

void XnnpackBackend::destroy(void* handle) {
  auto* delegate = static_cast<xnnpack::SubgraphExecutor*>(handle);
  const auto lock = hold(workspace_mutex_, delegate->shares_memory());
  delete delegate;
}

Status XnnpackBackend::save_packed() {
  return with_memory([&] { return cache_ != nullptr ? cache_->save() : Status(); });
}

PackedReport XnnpackBackend::cache_report() const {
  return cache_ != nullptr ? cache_->report() : PackedReport();
}

void XnnpackBackend::tell_memory(const void* handle, MemoryListener& listener) {
  static_cast<const xnnpack::SubgraphExecutor*>(handle)->tell_memory(listener);
}

}  // namespace taper
