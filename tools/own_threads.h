// Threads for kernels, used when no backend offers its own.

#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "taper/thread_pool.h"

namespace taper::tools {

class OwnThreads {
 public:
  // `count` includes the calling thread. 0: one per core, at most four.
  explicit OwnThreads(uint32_t count);
  ~OwnThreads();
  OwnThreads(const OwnThreads&) = delete;
  OwnThreads& operator=(const OwnThreads&) = delete;

  // May be used by one thread at a time, and is valid as long as this object.
  ThreadPool thread_pool();

 private:
  struct Job {
    size_t count = 0;
    ThreadPool::Task task = nullptr;
    void* data = nullptr;
  };

  void run(const Job& job);
  void work();
  bool join_round(uint64_t& seen);
  void take_all();

  std::vector<std::thread> threads_;
  std::mutex mutex_;  // Guards what is not atomic; a job only changes while its round is closed.
  std::condition_variable wake_;
  Job job_;
  bool open_ = false, stopped_ = false;
  std::atomic<uint64_t> round_{0};
  std::atomic<size_t> next_{0}, helpers_{0};
};

}  // namespace taper::tools
