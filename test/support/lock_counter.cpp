// Replaces pthread_mutex_lock(). In a file of its own, since test programs that let the heap fail
// link this and not heap_counter.cpp.

#include "test/support/lock_counter.h"

#include "test/support/sanitizer.h"

#if defined(_WIN32) || TAPER_SANITIZED
#define TAPER_COUNTS_LOCKS 0
#else
#define TAPER_COUNTS_LOCKS 1
#include <dlfcn.h>
#include <pthread.h>
#endif

#include <atomic>

namespace taper::test {
namespace {

std::atomic<uint64_t> locks{0};

}  // namespace

uint64_t lock_calls() { return locks; }
bool counts_locks() { return TAPER_COUNTS_LOCKS; }

}  // namespace taper::test

#if TAPER_COUNTS_LOCKS
extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  ++taper::test::locks;
  using Function = int (*)(pthread_mutex_t*);
  static const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  return real(mutex);
}
#endif
