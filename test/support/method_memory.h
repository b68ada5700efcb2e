// Exactly the memory that a method needs, on the heap, so that a sanitizer detects accesses beyond
// it.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "taper/memory.h"
#include "taper/method_meta.h"

namespace taper::test {

class MethodMemory {
 public:
  explicit MethodMemory(const MethodMeta& meta, size_t temp_bytes = 0)
      : method_(block(meta.method_bytes())), temp_(block(temp_bytes)) {
    for (size_t i = 0; i < meta.num_memory_planned_buffers(); ++i) {
      const size_t bytes = static_cast<size_t>(*meta.memory_planned_buffer_size(i));
      buffers_.push_back(block(bytes));
      spans_.emplace_back(buffers_.back().get(), bytes);
      std::fill(spans_.back().begin(), spans_.back().end(), uint8_t{0});
    }
    manager_ = {{method_.get(), meta.method_bytes()},
                HierarchicalAllocator(spans_),
                {temp_.get(), temp_bytes}};
  }

  MemoryManager& manager() { return manager_; }
  std::vector<Span<uint8_t>>& buffers() { return spans_; }

 private:
  struct Free {
    void operator()(uint8_t* memory) const { std::free(memory); }
  };
  using Block = std::unique_ptr<uint8_t, Free>;

  // malloc() aligns to 16 on the systems that run the tests.
  static Block block(size_t bytes) {
    return Block(static_cast<uint8_t*>(std::malloc(bytes == 0 ? 1 : bytes)));
  }

  Block method_;
  Block temp_;
  std::vector<Block> buffers_;
  std::vector<Span<uint8_t>> spans_;
  MemoryManager manager_;
};

}  // namespace taper::test
