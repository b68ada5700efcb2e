// Sorting by keys: unsigned numbers with the order of the elements, and entries of a key and the
// position that it comes from. NaN is the largest; -0 and +0 are equal.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace taper::optimized {

// A key of 32 bits and a position below 2^32 in one number.
class NarrowEntry {
 public:
  using Key = uint32_t;
  NarrowEntry(Key key, int64_t position)
      : bits_(static_cast<uint64_t>(key) << 32 | static_cast<uint64_t>(position)) {}
  Key key() const { return static_cast<Key>(bits_ >> 32); }
  int64_t position() const { return static_cast<int64_t>(bits_ & UINT32_MAX); }
  bool operator<(const NarrowEntry& other) const { return bits_ < other.bits_; }

 private:
  uint64_t bits_;
};

class WideEntry {
 public:
  using Key = uint64_t;
  WideEntry(Key key, int64_t position) : key_(key), position_(position) {}
  Key key() const { return key_; }
  int64_t position() const { return position_; }
  bool operator<(const WideEntry& other) const {
    return key_ < other.key_ || (key_ == other.key_ && position_ < other.position_);
  }

 private:
  uint64_t key_;
  int64_t position_;
};

struct HalfBits {
  uint16_t bits;
};
struct BFloat16Bits {
  uint16_t bits;
};
// An int64 that fits int32.
struct SmallLong {
  int64_t value;
};

// The key of a float of that many bits, where `infinity` are those of infinity.
template <typename Bits>
Bits float_key(Bits bits, Bits infinity) {
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  const auto size = static_cast<Bits>(bits & static_cast<Bits>(~kSign));
  if (size > infinity) return static_cast<Bits>(~Bits{0});
  if (size == 0) return kSign;
  return (bits & kSign) != 0 ? static_cast<Bits>(~bits) : static_cast<Bits>(bits | kSign);
}

inline uint32_t key_of(float x) {
  uint32_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return float_key<uint32_t>(bits, 0x7f800000u);
}
inline uint64_t key_of(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return float_key<uint64_t>(bits, uint64_t{0x7ff} << 52);
}
inline uint32_t key_of(HalfBits x) { return float_key<uint16_t>(x.bits, 0x7c00); }
inline uint32_t key_of(BFloat16Bits x) { return float_key<uint16_t>(x.bits, 0x7f80); }
inline uint32_t key_of(uint8_t x) { return x; }
inline uint32_t key_of(int32_t x) { return static_cast<uint32_t>(x) ^ 0x80000000u; }
inline uint64_t key_of(int64_t x) {
  return static_cast<uint64_t>(x) ^ uint64_t { 1 } << 63;
}
inline uint32_t key_of(SmallLong x) { return key_of(static_cast<int32_t>(x.value)); }

inline bool fit_int32(const int64_t* x, int64_t count) {
  return std::all_of(x, x + count, [](int64_t i) { return static_cast<int32_t>(i) == i; });
}

}  // namespace taper::optimized
