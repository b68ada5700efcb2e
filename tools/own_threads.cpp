// Threads wait for a round of work, spinning for a while before they sleep. A round is closed when
// the calling thread finds no work left, and ends when those that joined it have finished: a thread
// that a busy machine does not run in time is not waited for.

#include "tools/own_threads.h"

#include <algorithm>

namespace taper::tools {
namespace {

constexpr int kTurns = 20'000;
constexpr uint32_t kMostByDefault = 4;

}  // namespace

OwnThreads::OwnThreads(uint32_t count) {
  if (count == 0) count = std::min(std::thread::hardware_concurrency(), kMostByDefault);
  for (uint32_t i = 1; i < count; ++i) threads_.emplace_back([this] { work(); });
}

OwnThreads::~OwnThreads() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopped_ = true;
    round_.fetch_add(1);
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

ThreadPool OwnThreads::thread_pool() {
  if (threads_.empty()) return {};
  const auto run = [](void* context, size_t count, ThreadPool::Task task, void* data) {
    static_cast<OwnThreads*>(context)->run({count, task, data});
  };
  return {run, this, static_cast<uint32_t>(threads_.size() + 1)};
}

void OwnThreads::take_all() {
  for (size_t i = next_.fetch_add(1); i < job_.count; i = next_.fetch_add(1)) {
    job_.task(job_.data, i);
  }
}

void OwnThreads::run(const Job& job) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    job_ = job;
    next_ = 0;
    open_ = true;
    round_.fetch_add(1);
  }
  wake_.notify_all();
  take_all();
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    open_ = false;
  }
  while (helpers_.load() != 0) std::this_thread::yield();
}

// Waits for a round that `seen` does not count. False: there will be none.
bool OwnThreads::join_round(uint64_t& seen) {
  for (;;) {
    for (int i = 0; i < kTurns && round_.load() == seen; ++i) std::this_thread::yield();
    std::unique_lock<std::mutex> lock(mutex_);
    wake_.wait(lock, [&] { return round_.load() != seen; });
    if (stopped_) return false;
    seen = round_.load();
    if (!open_) continue;
    helpers_.fetch_add(1);
    return true;
  }
}

void OwnThreads::work() {
  for (uint64_t seen = 0; join_round(seen);) {
    take_all();
    helpers_.fetch_sub(1);
  }
}

}  // namespace taper::tools
