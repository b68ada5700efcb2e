#include "test/e2e/heap_count.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<size_t> calls{0};
}

extern "C" {
void* __real_malloc(size_t bytes);
void* __real_calloc(size_t count, size_t bytes);
void* __real_realloc(void* memory, size_t bytes);
void* __real_aligned_alloc(size_t alignment, size_t bytes);
int __real_posix_memalign(void** out, size_t alignment, size_t bytes);
void* __wrap_malloc(size_t bytes);
void* __wrap_calloc(size_t count, size_t bytes);
void* __wrap_realloc(void* memory, size_t bytes);
void* __wrap_aligned_alloc(size_t alignment, size_t bytes);
int __wrap_posix_memalign(void** out, size_t alignment, size_t bytes);

void* __wrap_malloc(size_t bytes) {
  ++calls;
  return __real_malloc(bytes);
}
void* __wrap_calloc(size_t count, size_t bytes) {
  ++calls;
  return __real_calloc(count, bytes);
}
void* __wrap_realloc(void* memory, size_t bytes) {
  ++calls;
  return __real_realloc(memory, bytes);
}
void* __wrap_aligned_alloc(size_t alignment, size_t bytes) {
  ++calls;
  return __real_aligned_alloc(alignment, bytes);
}
int __wrap_posix_memalign(void** out, size_t alignment, size_t bytes) {
  ++calls;
  return __real_posix_memalign(out, alignment, bytes);
}
}

void* operator new(size_t bytes) {
  if (void* memory = std::malloc(bytes == 0 ? 1 : bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace taper::test {

size_t heap_calls() { return calls; }

}  // namespace taper::test
