// XXH64, the well-known fast hash, over bytes: it tells contents apart and finds damage, at about
// the speed of memory. It is no proof against someone who chooses the bytes to deceive it.

#pragma once

#include <cstdint>

#include "taper/span.h"

namespace taper::xnnpack {

// A hash of more than one piece takes the hash so far as seed.
uint64_t content_hash(Span<const uint8_t> bytes, uint64_t seed = 0);

// The hash of the bytes of a number or a plain struct without padding.
template <typename T>
uint64_t hash_of(const T& value, uint64_t seed = 0) {
  return content_hash({reinterpret_cast<const uint8_t*>(&value), sizeof(T)}, seed);
}

}  // namespace taper::xnnpack
