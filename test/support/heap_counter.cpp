// Counts allocations through the sanitizer's hooks if there is one, else by replacing glibc's
// malloc functions.

#include "test/support/heap_counter.h"

#include <atomic>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define TAPER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TAPER_ASAN 1
#endif
#endif

namespace taper::test {
namespace {

std::atomic<uint64_t> calls{0};

}  // namespace
}  // namespace taper::test

#if defined(TAPER_ASAN)

extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void*,
                                                                             size_t),
                                                         void (*free_hook)(const volatile void*));

namespace taper::test {

uint64_t heap_calls() {
  static const int kInstalled = __sanitizer_install_malloc_and_free_hooks(
      [](const volatile void*, size_t) { ++calls; }, [](const volatile void*) {});
  return calls + static_cast<uint64_t>(kInstalled == 0);
}

}  // namespace taper::test

#else

extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);

void* malloc(size_t bytes) {
  ++taper::test::calls;
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  ++taper::test::calls;
  return __libc_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) {
  ++taper::test::calls;
  return __libc_realloc(memory, bytes);
}
}

namespace taper::test {

uint64_t heap_calls() { return calls; }

}  // namespace taper::test

#endif
