// Replaces glibc's functions of the heap. Sanitizers have their own; with them nothing fails, and
// the tests skip (`allocations()` stays 0).

#include "test/faults/failing_heap.h"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <new>

#include "test/support/sanitizer.h"

namespace taper::test {
namespace {

std::atomic<uint64_t> asked{0};
std::atomic<int64_t> live{0};
std::atomic<uint64_t> failing{0};  // The number of the allocation that fails.
std::atomic<bool (*)()> asks{nullptr};
thread_local int spared = 0;

}  // namespace

void fail_allocation(uint64_t n) { failing = n == 0 ? 0 : asked + n; }
uint64_t allocations() { return asked; }
int64_t live_allocations() { return live; }
void ask_before_allocations(bool (*fails)()) { asks = fails; }

SparedAllocations::SparedAllocations() { ++spared; }
SparedAllocations::~SparedAllocations() { --spared; }

}  // namespace taper::test

#if !TAPER_SANITIZED

namespace taper::test {
namespace {

bool may_allocate() {
  if (spared != 0) return true;
  if (++asked == failing) return false;
  bool (*const ask)() = asks;
  if (ask == nullptr) return true;
  const SparedAllocations its_own;
  return !ask();
}

void* refused() {
  errno = ENOMEM;
  return nullptr;
}

void* counted(void* memory) {
  if (memory != nullptr) ++live;
  return memory;
}

}  // namespace
}  // namespace taper::test

using taper::test::counted;
using taper::test::may_allocate;
using taper::test::refused;

extern "C" {

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void* memory);

void* malloc(size_t bytes) { return may_allocate() ? counted(__libc_malloc(bytes)) : refused(); }

void* calloc(size_t count, size_t bytes) {
  return may_allocate() ? counted(__libc_calloc(count, bytes)) : refused();
}

void* realloc(void* memory, size_t bytes) {
  if (memory == nullptr) return malloc(bytes);
  return may_allocate() ? __libc_realloc(memory, bytes) : refused();
}

void* memalign(size_t alignment, size_t bytes) {
  return may_allocate() ? counted(__libc_memalign(alignment, bytes)) : refused();
}

void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  void* const made = memalign(alignment, bytes);
  if (made == nullptr) return ENOMEM;
  *memory = made;
  return 0;
}

void free(void* memory) {
  if (memory != nullptr) --taper::test::live;
  __libc_free(memory);
}

}  // extern "C"

// delete calls free().
void* operator new(size_t bytes) {
  void* const memory = malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](size_t bytes) { return operator new(bytes); }

#endif
