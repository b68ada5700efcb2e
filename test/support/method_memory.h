// Exactly the memory that a method needs, on the heap, so that a sanitizer detects accesses beyond
// it.

#pragma once

#include <cstdint>
#include <vector>

#include "taper/memory.h"
#include "taper/method_meta.h"
#include "test/support/aligned_bytes.h"

namespace taper::test {

class MethodMemory {
 public:
  explicit MethodMemory(const MethodMeta& meta, size_t temp_bytes = 0)
      : method_(meta.method_bytes()), temp_(temp_bytes) {
    for (size_t i = 0; i < meta.num_memory_planned_buffers(); ++i) {
      Bytes& buffer =
          buffers_.emplace_back(static_cast<size_t>(*meta.memory_planned_buffer_size(i)));
      spans_.emplace_back(buffer.data(), buffer.size());
    }
    manager_ = {{method_.data(), method_.size()},
                HierarchicalAllocator(spans_),
                {temp_.data(), temp_.size()}};
  }

  MemoryManager& manager() { return manager_; }
  std::vector<Span<uint8_t>>& buffers() { return spans_; }

 private:
  Bytes method_;
  Bytes temp_;
  std::vector<Bytes> buffers_;
  std::vector<Span<uint8_t>> spans_;
  MemoryManager manager_;
};

}  // namespace taper::test
