// Threads for kernels that tell which of them computed what, and when. Kernels do not change for
// it: the pool that they are given calls another one.

#pragma once

#include <cstdint>
#include <vector>

#include "taper/span.h"
#include "taper/thread_pool.h"

namespace taper::tools {

// One task of a parallel loop, in what the listener's clock counts.
struct TaskTime {
  uint32_t thread = 0;  // As number_of_this_thread() says.
  uint64_t begin = 0, end = 0;
};

class TaskListener {
 public:
  // Called by all threads.
  virtual uint64_t now() = 0;
  // The tasks of one loop, after it has ended, on the thread that called the pool.
  virtual void add(Span<const TaskTime> tasks) = 0;

 protected:
  ~TaskListener() = default;
};

// Tells the threads of a process apart.
uint32_t number_of_this_thread();

class TracedThreads {
 public:
  explicit TracedThreads(TaskListener& listener) : listener_(listener) {}
  TracedThreads(const TracedThreads&) = delete;
  TracedThreads& operator=(const TracedThreads&) = delete;

  // A pool that runs tasks on `threads`, which is valid as long as this object and what `threads`
  // points to. Used by one thread at a time.
  ThreadPool pool_on(const ThreadPool& threads);

 private:
  void run(size_t count, ThreadPool::Task task, void* data);

  TaskListener& listener_;
  ThreadPool threads_;
  std::vector<TaskTime> times_;  // Each task writes its own.
};

}  // namespace taper::tools
