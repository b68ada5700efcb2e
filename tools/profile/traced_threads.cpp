#include "tools/profile/traced_threads.h"

#include <atomic>

namespace taper::tools {

uint32_t number_of_this_thread() {
  static std::atomic<uint32_t> next{0};
  static thread_local const uint32_t number = next++;
  return number;
}

ThreadPool TracedThreads::pool_on(const ThreadPool& threads) {
  threads_ = threads;
  if (threads.run == nullptr) return threads;
  ThreadPool pool = threads;
  pool.run = [](void* context, size_t count, ThreadPool::Task task, void* data) {
    static_cast<TracedThreads*>(context)->run(count, task, data);
  };
  pool.context = this;
  return pool;
}

void TracedThreads::run(size_t count, ThreadPool::Task task, void* data) {
  times_.assign(count, {});
  parallel_for(threads_, count, [&](size_t i) {
    TaskTime& time = times_[i];
    time.thread = number_of_this_thread();
    time.begin = listener_.now();
    task(data, i);
    time.end = listener_.now();
  });
  listener_.add({times_.data(), times_.size()});
}

}  // namespace taper::tools
