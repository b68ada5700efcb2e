// The interface to an application's threads, on which kernels run.
//
//   ThreadPool pool;
//   pool.run = [](void* context, size_t count, ThreadPool::Task task, void* data) {
//     static_cast<MyThreads*>(context)->for_each(count, [=](size_t i) { task(data, i); });
//   };
//   pool.context = &my_threads;
//   pool.threads = my_threads.size();
//   method_options.pool = pool;
//
// Kernels divide work into at most as many parts as there are threads, and only if a part is large
// enough to pay for the hand-over. Their results are bit-identical for any number of threads. They
// allocate nothing and take no locks; the pool may do both.

#pragma once

#include <cstddef>
#include <cstdint>

namespace taper {

struct ThreadPool {
  using Task = void (*)(void* data, size_t index);

  // Calls task(data, i) once for every i below `count`, in any order and on any threads, including
  // the caller's, and returns when all calls have returned. Tasks may run one after another: no
  // task waits for one that has not started. Null means that there are no threads.
  void (*run)(void* context, size_t count, Task task, void* data) = nullptr;
  void* context = nullptr;
  uint32_t threads = 1;
};

// Calls each(i) for every i below `count`, on the pool if there is one.
template <typename Each>
void parallel_for(const ThreadPool& pool, size_t count, const Each& each) {
  if (pool.run == nullptr || count <= 1) {
    for (size_t i = 0; i < count; ++i) each(i);
    return;
  }
  const auto task = [](void* data, size_t i) { (*static_cast<const Each*>(data))(i); };
  pool.run(pool.context, count, task, const_cast<Each*>(&each));
}

}  // namespace taper
