// A thread pool of XNNPACK's type, for both the backend and the kernels, so that there are never
// more threads than cores.
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

// Wraps a pool that the application already has. It must outlive the result.
ThreadPool thread_pool_of(pthreadpool* pool);

// Owns a pool.
class XnnpackThreads {
 public:
  // 0 means one thread for each fast core that the process may use, at most four. With one thread
  // there is no pool.
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
