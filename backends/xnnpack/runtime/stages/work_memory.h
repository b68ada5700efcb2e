// The memory for intermediate results, of one delegate or of several that run one after another.
// When it grows, it moves and its contents are lost.

#pragma once

#include <cstdint>
#include <memory>
#include <new>

#include "backends/xnnpack/runtime/stages/pages.h"

namespace taper::xnnpack {

class WorkMemory {
 public:
  static constexpr uint64_t kAlignment = 64;

  // The bytes of what is placed there, up to where the next may begin.
  static uint64_t aligned(uint64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  // False if there is no memory.
  bool grow(uint64_t bytes) {
    if (bytes <= size_) return true;
    size_ = 0;
    bytes_.reset();  // The old and the new memory never exist at the same time.
    bytes_.reset(new (std::nothrow) uint8_t[bytes + kAlignment]);
    if (bytes_ == nullptr) return false;
    size_ = bytes;
    take_ahead(bytes_.get(), static_cast<size_t>(bytes));
    return true;
  }

  // The aligned start of the memory; null if no memory was ever requested.
  uint8_t* begin() const {
    const auto address = reinterpret_cast<uintptr_t>(bytes_.get());
    return bytes_.get() + (kAlignment - address % kAlignment) % kAlignment;
  }

 private:
  std::unique_ptr<uint8_t[]> bytes_;
  uint64_t size_ = 0;
};

}  // namespace taper::xnnpack
