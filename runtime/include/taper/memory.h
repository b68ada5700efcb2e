// The memory a Method runs in. The application owns all of it; the runtime never calls the heap.
//
//   method block    one block that holds the loaded method: MethodMeta::method_bytes() exactly
//   planned buffers the arenas that the compiler placed tensors in: one per
//                   MethodMeta::num_memory_planned_buffers(), each memory_planned_buffer_size(i)
//   temp            scratch that kernels may use during one instruction; may be empty
//
// Alignment: the method block to kMethodAlignment, each planned buffer to kPlannedAlignment;
// 64 is best for both. Buffers must not overlap, unless methods share state on purpose.
//
// Arenas need not be zeroed for programs whose mutable buffers have saved values. ExecuTorch writes
// programs whose caches have none and expects zeroed arenas.

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
  // `buffers` is read, not kept: it must outlive this.
  explicit HierarchicalAllocator(Span<const Span<uint8_t>> buffers) : buffers_(buffers) {}

  size_t num_buffers() const { return buffers_.size(); }
  // REQUIRES: i < num_buffers().
  Span<uint8_t> buffer(size_t i) const { return buffers_[i]; }

  // The address of [offset, offset + size) in buffer `i`.
  // Returns kInvalidArgument if there is no such buffer, kMemoryAllocationFailed if it is too
  // small.
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
