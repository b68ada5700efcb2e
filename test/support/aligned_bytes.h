// Bytes at a multiple of 16, as files in memory and the memory of methods are to be. What malloc()
// returns on 32-bit processors lies at multiples of 8.

#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace taper::test {

template <typename T>
struct AlignedAllocator {
  using value_type = T;
  static constexpr std::align_val_t kAlignment{16};

  AlignedAllocator() = default;
  template <typename U>
  AlignedAllocator(const AlignedAllocator<U>&) {}
  T* allocate(size_t count) { return static_cast<T*>(operator new(count * sizeof(T), kAlignment)); }
  void deallocate(T* memory, size_t) { operator delete(memory, kAlignment); }
  bool operator==(const AlignedAllocator&) const { return true; }
};

using Bytes = std::vector<uint8_t, AlignedAllocator<uint8_t>>;

}  // namespace taper::test
