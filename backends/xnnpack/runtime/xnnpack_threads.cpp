// Wraps pthreadpool, which XNNPACK uses.

#include "backends/xnnpack/runtime/xnnpack_threads.h"

#include <pthreadpool.h>

#include <algorithm>

#include "backends/xnnpack/runtime/fast_cores.h"

namespace taper {
namespace {

constexpr uint32_t kMostThreads = 4;

void run(void* context, size_t count, ThreadPool::Task task, void* data) {
  pthreadpool_parallelize_1d(static_cast<pthreadpool_t>(context), task, data, count, 0);
}

}  // namespace

ThreadPool thread_pool_of(pthreadpool* pool) {
  if (pool == nullptr) return {};
  return {run, pool, static_cast<uint32_t>(pthreadpool_get_threads_count(pool))};
}

XnnpackThreads::XnnpackThreads(uint32_t count) {
  const uint32_t wanted = count != 0 ? count : std::min(xnnpack::fast_cores(), kMostThreads);
  if (wanted > 1) pool_ = pthreadpool_create(wanted);
}

XnnpackThreads::~XnnpackThreads() {
  if (pool_ != nullptr) pthreadpool_destroy(pool_);
}

uint32_t XnnpackThreads::count() const {
  return pool_ != nullptr ? static_cast<uint32_t>(pthreadpool_get_threads_count(pool_)) : 1;
}

}  // namespace taper
