// What graphs compute on the way: memory of one delegate, or of several that run one after another.
// It moves when it grows, and what was in it is gone.

#pragma once

#include <cstdint>
#include <memory>
#include <new>

#include "backends/xnnpack/runtime/stages/pages.h"

namespace taper::xnnpack {

class WorkMemory {
 public:
  static constexpr uint64_t kAlignment = 64;

  // False if there is no memory.
  bool grow(uint64_t bytes) {
    if (bytes <= size_) return true;
    size_ = 0;
    bytes_.reset();  // The old and the new memory never exist at once.
    bytes_.reset(new (std::nothrow) uint8_t[bytes + kAlignment]);
    if (bytes_ == nullptr) return false;
    size_ = bytes;
    take_ahead(bytes_.get(), static_cast<size_t>(bytes));
    return true;
  }

  // The aligned begin of the memory; null if nothing was ever asked for.
  uint8_t* begin() const {
    const auto address = reinterpret_cast<uintptr_t>(bytes_.get());
    return bytes_.get() + (kAlignment - address % kAlignment) % kAlignment;
  }

 private:
  std::unique_ptr<uint8_t[]> bytes_;
  uint64_t size_ = 0;
};

}  // namespace taper::xnnpack
