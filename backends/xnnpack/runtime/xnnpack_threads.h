// Threads of XNNPACK's own kind, for the backend and for the kernels beside it: one pool for both,
// so that there are never more threads than cores.
//
//   XnnpackThreads threads(2);
//   XnnpackOptions options;
//   options.pool = threads.pool();
//   options.threads = threads.count();
//   method_options.pool = threads.thread_pool();

#pragma once

#include <cstdint>

#include "taper/thread_pool.h"

struct pthreadpool;

namespace taper {

// A pool that the application has already. It outlives its use.
ThreadPool thread_pool_of(pthreadpool* pool);

class XnnpackThreads {
 public:
  // 0: as many as the process may use fast cores, four at most. With one there is no pool.
  explicit XnnpackThreads(uint32_t count);
  ~XnnpackThreads();
  XnnpackThreads(const XnnpackThreads&) = delete;
  XnnpackThreads& operator=(const XnnpackThreads&) = delete;

  pthreadpool* pool() const { return pool_; }
  uint32_t count() const;
  ThreadPool thread_pool() const { return thread_pool_of(pool_); }

 private:
  pthreadpool* pool_ = nullptr;
};

}  // namespace taper
