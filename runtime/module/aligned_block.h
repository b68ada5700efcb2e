// A zeroed heap block aligned to 64, or none: what a Module gives a Method to live in.

#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "taper/span.h"

namespace taper::internal {

class AlignedBlock {
 public:
  AlignedBlock() = default;
  // calloc hands out untouched pages, so a large arena costs only what is used of it.
  // No machine has the memory that a hostile file may ask for, so that is not even tried.
  explicit AlignedBlock(uint64_t bytes) {
    constexpr uint64_t kMostBytes = uint64_t{1} << (sizeof(size_t) == 8 ? 39 : 30);
    if (bytes == 0 || bytes > kMostBytes) return;
    memory_ = std::calloc(static_cast<size_t>(bytes) + kAlignment, 1);
    if (memory_ == nullptr) return;
    const uintptr_t start =
        (reinterpret_cast<uintptr_t>(memory_) + kAlignment - 1) & ~(kAlignment - 1);
    bytes_ = {reinterpret_cast<uint8_t*>(start), static_cast<size_t>(bytes)};
  }
  AlignedBlock(AlignedBlock&& other) noexcept { swap(other); }
  AlignedBlock& operator=(AlignedBlock&& other) noexcept {
    swap(other);
    return *this;
  }
  ~AlignedBlock() { std::free(memory_); }

  // Shorter than asked for if the heap had no room.
  Span<uint8_t> bytes() const { return bytes_; }
  void zero() {
    if (!bytes_.empty()) std::memset(bytes_.data(), 0, bytes_.size());
  }

 private:
  static constexpr uintptr_t kAlignment = 64;

  void swap(AlignedBlock& other) {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
  }

  void* memory_ = nullptr;
  Span<uint8_t> bytes_;
};

}  // namespace taper::internal
