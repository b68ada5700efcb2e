// Implements XXH64. Four sums are computed in parallel over stripes of 32 bytes; the remaining
// bytes are mixed in eight, four and one at a time. Constants and order are those of the published
// algorithm.

#include "taper/content_hash.h"

#include <cstring>

namespace taper {
namespace {

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87;
constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr uint64_t kPrime3 = 0x165667B19E3779F9;
constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5;

constexpr size_t kStripe = 32;
// The prefetch distance: memory, not arithmetic, limits the speed.
constexpr size_t kAhead = 3072;

template <typename T>
uint64_t read(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

uint64_t rotate(uint64_t value, unsigned bits) { return value << bits | value >> (64 - bits); }

uint64_t add_lane(uint64_t sum, uint64_t lane) {
  return rotate(sum + lane * kPrime2, 31) * kPrime1;
}

uint64_t merge(uint64_t hash, uint64_t sum) {
  return (hash ^ add_lane(0, sum)) * kPrime1 + kPrime4;
}

// Hashes all whole stripes.
uint64_t hash_stripes(const uint8_t*& at, const uint8_t* end, uint64_t seed) {
  uint64_t a = seed + kPrime1 + kPrime2, b = seed + kPrime2, c = seed, d = seed - kPrime1;
  for (; static_cast<size_t>(end - at) >= kStripe; at += kStripe) {
    __builtin_prefetch(at + kAhead, 0, 1);
    a = add_lane(a, read<uint64_t>(at));
    b = add_lane(b, read<uint64_t>(at + 8));
    c = add_lane(c, read<uint64_t>(at + 16));
    d = add_lane(d, read<uint64_t>(at + 24));
  }
  const uint64_t hash = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
  return merge(merge(merge(merge(hash, a), b), c), d);
}

}  // namespace

uint64_t content_hash(Span<const uint8_t> bytes, uint64_t seed) {
  const uint8_t* at = bytes.data();
  const uint8_t* end = at + bytes.size();
  uint64_t hash = bytes.size() >= kStripe ? hash_stripes(at, end, seed) : seed + kPrime5;
  hash += bytes.size();
  for (; end - at >= 8; at += 8) {
    hash = rotate(hash ^ add_lane(0, read<uint64_t>(at)), 27) * kPrime1 + kPrime4;
  }
  for (; end - at >= 4; at += 4) {
    hash = rotate(hash ^ read<uint32_t>(at) * kPrime1, 23) * kPrime2 + kPrime3;
  }
  for (; at < end; ++at) hash = rotate(hash ^ *at * kPrime5, 11) * kPrime1;
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

}  // namespace taper
