// Populates pages by madvise(); on systems without it, pages are fetched when they are touched.
// XNNPACK's own large blocks are tables of pointers and packed weights, which it writes completely.

#include "backends/xnnpack/runtime/stages/pages.h"

#if defined(_WIN32)
#include <malloc.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif
#include <xnnpack.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "backends/xnnpack/runtime/hidden_sets.h"

namespace taper::xnnpack {
namespace {

// For fewer bytes the system call costs as much as it saves.
[[maybe_unused]] constexpr size_t kLeastBytes = size_t{32} << 10;
// Limits what a file can request without using it.
[[maybe_unused]] constexpr size_t kMostBytes = size_t{64} << 20;

#ifdef MADV_POPULATE_READ
size_t page_size() {
  const long size = sysconf(_SC_PAGESIZE);
  return size > 0 ? static_cast<size_t>(size) : 4096;
}
#endif

void* taken(void* bytes, size_t size) {
  if (bytes != nullptr) take_ahead(bytes, size);
  return bytes;
}

void* allocate(void*, size_t size) { return taken(std::malloc(size), size); }

void* reallocate(void*, void* bytes, size_t size) { return taken(std::realloc(bytes, size), size); }

void release(void*, void* bytes) { std::free(bytes); }

#if defined(_WIN32)
void* allocate_aligned(void*, size_t alignment, size_t size) {
  return _aligned_malloc(size, alignment);
}

void release_aligned(void*, void* bytes) { _aligned_free(bytes); }
#else
void* allocate_aligned(void*, size_t alignment, size_t size) {
  void* bytes = nullptr;
  return posix_memalign(&bytes, alignment, size) == 0 ? taken(bytes, size) : nullptr;
}

void release_aligned(void*, void* bytes) { std::free(bytes); }
#endif

constexpr xnn_allocator kAllocator = {nullptr, allocate,         reallocate,
                                      release, allocate_aligned, release_aligned};

}  // namespace

void map_ahead(const void* bytes, size_t size) {
#ifdef MADV_POPULATE_READ
  const size_t skipped = reinterpret_cast<uintptr_t>(bytes) % page_size();
  auto* begin = const_cast<uint8_t*>(static_cast<const uint8_t*>(bytes)) - skipped;
  (void)madvise(begin, size + skipped, MADV_POPULATE_READ);
#else
  (void)bytes;
  (void)size;
#endif
}

void take_ahead(void* bytes, size_t size) {
#ifdef MADV_POPULATE_WRITE
  const size_t page = page_size();
  const size_t skipped = (page - reinterpret_cast<uintptr_t>(bytes) % page) % page;
  if (size < kLeastBytes || size < skipped) return;
  const size_t whole = (std::min(size, kMostBytes) - skipped) / page * page;
  (void)madvise(static_cast<uint8_t*>(bytes) + skipped, whole, MADV_POPULATE_WRITE);
#else
  (void)bytes;
  (void)size;
#endif
}

// XNNPACK's own function reads, without a lock, what another call of it may be writing.
bool start_library() {
  static const bool started = hide_sets() && xnn_initialize(&kAllocator) == xnn_status_success;
  return started;
}

}  // namespace taper::xnnpack
