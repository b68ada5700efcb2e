// XXH64, a well-known fast hash of bytes: it distinguishes contents and detects damage, at about
// the speed of memory. It does not protect against deliberately chosen bytes.

#pragma once

#include <cstdint>

#include "taper/span.h"

namespace taper {

// To hash several pieces, pass the hash so far as the seed.
uint64_t content_hash(Span<const uint8_t> bytes, uint64_t seed = 0);

// The hash of the bytes of a number or a plain struct without padding.
template <typename T>
uint64_t hash_of(const T& value, uint64_t seed = 0) {
  return content_hash({reinterpret_cast<const uint8_t*>(&value), sizeof(T)}, seed);
}

}  // namespace taper
