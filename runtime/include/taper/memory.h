// The memory of a Method. The application owns all of it; the runtime never uses the heap.
//
//   method block     one block that holds the loaded method, of MethodMeta::method_bytes() bytes
//   planned buffers  the arenas in which the compiler placed tensors: there are
//                    MethodMeta::num_memory_planned_buffers(), of memory_planned_buffer_size(i)
//                    bytes
//   temp             scratch memory that kernels use during one instruction; may be empty
//
// The method block must be aligned to kMethodAlignment, each planned buffer to kPlannedAlignment;
// 64 is best for both. Buffers must not overlap, unless methods share state on purpose.
//
// Arenas need not be zeroed for programs whose mutable buffers have saved values. ExecuTorch also
// writes programs with caches that have none, and expects arenas to be zeroed.

#pragma once

#include <cstddef>
#include <cstdint>

#include "taper/span.h"
#include "taper/status.h"

namespace taper {

inline constexpr size_t kMethodAlignment = 16;
inline constexpr size_t kPlannedAlignment = 16;

// The planned buffers of one method. Entry 0 is the first planned buffer (memory_id 1 on the wire).
class HierarchicalAllocator {
 public:
  HierarchicalAllocator() = default;
  // `buffers` is not copied: it must outlive this object.
  explicit HierarchicalAllocator(Span<const Span<uint8_t>> buffers) : buffers_(buffers) {}

  size_t num_buffers() const { return buffers_.size(); }
  // REQUIRES: i < num_buffers().
  Span<uint8_t> buffer(size_t i) const { return buffers_[i]; }

  // The address of bytes [offset, offset + size) of buffer `i`. Returns kInvalidArgument if there
  // is no such buffer, kMemoryAllocationFailed if it is too small.
  Result<uint8_t*> address(size_t i, uint64_t offset, uint64_t size) const;

 private:
  Span<const Span<uint8_t>> buffers_;
};

struct MemoryManager {
  Span<uint8_t> method;
  HierarchicalAllocator planned;
  Span<uint8_t> temp;
};

}  // namespace taper
