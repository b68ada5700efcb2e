// Counts allocations through the sanitizer's hooks if there is one, else by replacing glibc's
// functions of memory and operator new. On Windows only operator new is counted: malloc lies in a
// library of the system. Under a sanitizer each thread counts its own: the sanitizer allocates as a
// thread begins, which on a busy machine is any time after it was created.

#include "test/support/heap_counter.h"

#if !defined(_WIN32)
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#endif

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "test/support/sanitizer.h"

namespace taper::test {
namespace {

#if TAPER_SANITIZED
thread_local uint64_t calls = 0;
#else
std::atomic<uint64_t> calls{0};
#endif

}  // namespace
}  // namespace taper::test

#if TAPER_SANITIZED

extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*malloc_hook)(const volatile void*,
                                                                             size_t),
                                                         void (*free_hook)(const volatile void*));

namespace taper::test {

uint64_t heap_calls() {
  static const int installed = __sanitizer_install_malloc_and_free_hooks(
      [](const volatile void*, size_t) { ++calls; }, [](const volatile void*) {});
  return calls + static_cast<uint64_t>(installed == 0);
}

}  // namespace taper::test

#elif defined(_WIN32)

namespace taper::test {

uint64_t heap_calls() { return calls; }

}  // namespace taper::test

void* operator new(size_t bytes) {
  ++taper::test::calls;
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](size_t bytes) { return operator new(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }

#else

namespace taper::test {
namespace {

// Where the code of this program lies, and that of the C++ library, which calls operator new for
// it. Those who ask from elsewhere are libraries that the program has opened, such as drivers.
struct Range {
  uintptr_t first, end;
};
constexpr size_t kMaxRanges = 16;
Range ranges[kMaxRanges];
std::atomic<size_t> num_ranges{0};

int add_ranges(dl_phdr_info* object, size_t, void*) {
  const bool is_ours =
      object->dlpi_name[0] == 0 || std::strstr(object->dlpi_name, "libstdc++") != nullptr;
  for (size_t i = 0; is_ours && i < object->dlpi_phnum && num_ranges < kMaxRanges; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
    const uintptr_t first = object->dlpi_addr + part.p_vaddr;
    ranges[num_ranges] = {first, first + part.p_memsz};
    ++num_ranges;
  }
  return 0;
}

void count(const void* caller) {
  const auto address = reinterpret_cast<uintptr_t>(caller);
  for (size_t i = 0; i < num_ranges; ++i) {
    if (address >= ranges[i].first && address < ranges[i].end) {
      ++calls;
      return;
    }
  }
}

}  // namespace

uint64_t heap_calls() {
  static const int found = dl_iterate_phdr(add_ranges, nullptr);
  return calls + static_cast<uint64_t>(found);
}

}  // namespace taper::test

using taper::test::count;

extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) {
  count(__builtin_return_address(0));
  return __libc_malloc(bytes);
}
void* calloc(size_t number, size_t bytes) {
  count(__builtin_return_address(0));
  return __libc_calloc(number, bytes);
}
void* realloc(void* memory, size_t bytes) {
  count(__builtin_return_address(0));
  return __libc_realloc(memory, bytes);
}
void* memalign(size_t alignment, size_t bytes) {
  count(__builtin_return_address(0));
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  count(__builtin_return_address(0));
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  count(__builtin_return_address(0));
  void* const made = __libc_memalign(alignment, bytes);
  if (made == nullptr) return ENOMEM;
  *memory = made;
  return 0;
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) noexcept {
  count(__builtin_return_address(0));
  // With 64 bits of offset where a long has 32, this function is mmap64.
  constexpr const char* kName = sizeof(off_t) > sizeof(long) ? "mmap64" : "mmap";
  static const auto real = reinterpret_cast<decltype(&mmap)>(::dlsym(RTLD_NEXT, kName));
  return real(address, size, protection, flags, file, offset);
}
}

// delete calls free().
void* operator new(size_t bytes) {
  count(__builtin_return_address(0));
  void* memory = __libc_malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](size_t bytes) {
  count(__builtin_return_address(0));
  void* memory = __libc_malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

#endif
