// The memory that a Module gives to a Method: a zeroed heap block aligned to 64, or memory that the
// application provides.

#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "taper/module.h"
#include "taper/span.h"

namespace taper::internal {

class AlignedBlock {
 public:
  AlignedBlock() = default;
  // Allocates from the heap. calloc returns untouched pages, so a large arena costs only what is
  // used of it. More than kMostBytes, which only a hostile file asks for, is not even tried.
  explicit AlignedBlock(uint64_t bytes) {
    if (bytes == 0 || bytes > kMostBytes) return;
    memory_ = std::calloc(static_cast<size_t>(bytes) + kAlignment, 1);
    if (memory_ == nullptr) return;
    const uintptr_t start =
        (reinterpret_cast<uintptr_t>(memory_) + kAlignment - 1) & ~(kAlignment - 1);
    bytes_ = {reinterpret_cast<uint8_t*>(start), static_cast<size_t>(bytes)};
  }
  // Takes the memory from `source`, or allocates it from the heap if the source has no take().
  AlignedBlock(const MemorySource& source, uint32_t id, uint64_t bytes) {
    if (source.take == nullptr) {
      *this = AlignedBlock(bytes);
      return;
    }
    if (bytes == 0 || bytes > kMostBytes) return;
    void* const taken = source.take(source.context, id, static_cast<size_t>(bytes));
    if (taken == nullptr) return;
    source_ = source;
    id_ = id;
    bytes_ = {static_cast<uint8_t*>(taken), static_cast<size_t>(bytes)};
    zero();
  }
  AlignedBlock(AlignedBlock&& other) noexcept { swap(other); }
  AlignedBlock& operator=(AlignedBlock&& other) noexcept {
    swap(other);
    return *this;
  }
  ~AlignedBlock() {
    std::free(memory_);
    if (source_.give_back == nullptr || bytes_.empty()) return;
    source_.give_back(source_.context, id_, bytes_.data(), bytes_.size());
  }

  // Empty if there was not enough memory.
  Span<uint8_t> bytes() const { return bytes_; }
  void zero() {
    if (!bytes_.empty()) std::memset(bytes_.data(), 0, bytes_.size());
  }

 private:
  static constexpr uintptr_t kAlignment = 64;
  static constexpr uint64_t kMostBytes = uint64_t{1} << (sizeof(size_t) == 8 ? 39 : 30);

  void swap(AlignedBlock& other) {
    std::swap(memory_, other.memory_);
    std::swap(bytes_, other.bytes_);
    std::swap(source_, other.source_);
    std::swap(id_, other.id_);
  }

  void* memory_ = nullptr;
  MemorySource source_;  // Empty if the memory is from the heap.
  uint32_t id_ = 0;
  Span<uint8_t> bytes_;
};

}  // namespace taper::internal
