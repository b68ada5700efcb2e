// The memory of one method; each block is exactly as large as the program requires.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "taper/memory.h"
#include "taper/method_meta.h"

namespace taper::example {

// A block of zeroed memory aligned to 64.
class Block {
 public:
  explicit Block(size_t bytes) : memory_(new uint8_t[bytes + 64]()), size_(bytes) {
    const auto address = reinterpret_cast<uintptr_t>(memory_.get());
    data_ = memory_.get() + (64 - address % 64) % 64;
  }
  Span<uint8_t> span() const { return {data_, size_}; }

 private:
  std::unique_ptr<uint8_t[]> memory_;
  uint8_t* data_;
  size_t size_;
};

class MethodMemory {
 public:
  explicit MethodMemory(const MethodMeta& meta) : method_(meta.method_bytes()), temp_(1 << 20) {
    for (size_t i = 0; i < meta.num_memory_planned_buffers(); ++i) {
      planned_.emplace_back(static_cast<size_t>(meta.memory_planned_buffer_size(i).value()));
      spans_.push_back(planned_.back().span());
    }
  }
  MethodMemory(const MethodMemory&) = delete;
  MethodMemory& operator=(const MethodMemory&) = delete;

  MemoryManager manager() const {
    return {method_.span(), HierarchicalAllocator({spans_.data(), spans_.size()}), temp_.span()};
  }
  const std::vector<Span<uint8_t>>& planned() const { return spans_; }

 private:
  Block method_, temp_;
  std::vector<Block> planned_;
  std::vector<Span<uint8_t>> spans_;
};

}  // namespace taper::example
