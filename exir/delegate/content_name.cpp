// A name is two 64-bit hashes of the contents with different seeds.

#include "exir/delegate/content_name.h"

#include <cstdio>
#include <cstring>

namespace taper::exir {
namespace {

uint64_t rotated(uint64_t word, int by) { return (word << by) | (word >> (64 - by)); }

// Mixes eight bytes at a time. The upper half of a product is rotated into the lower one before the
// second product, so that floats that differ only in their signs change most bits of the state.
uint64_t hash(const TensorData& data, uint64_t seed) {
  uint64_t state = seed ^ (data.bytes * 0x9e3779b97f4a7c15);
  const auto mix = [&](uint64_t word) {
    state = rotated((state ^ word) * 0xff51afd7ed558ccd, 31) * 0xc4ceb9fe1a85ec53;
    state ^= state >> 29;
  };
  size_t at = 0;
  for (; at + 8 <= data.bytes; at += 8) {
    uint64_t word;
    std::memcpy(&word, data.data + at, 8);
    mix(word);
  }
  uint64_t rest = 0;
  if (at < data.bytes) std::memcpy(&rest, data.data + at, data.bytes - at);
  mix(rest);
  mix(seed);
  return state;
}

}  // namespace

std::string content_name(const TensorData& data) {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx",
                static_cast<unsigned long long>(hash(data, 0x243f6a8885a308d3)),
                static_cast<unsigned long long>(hash(data, 0x13198a2e03707344)));
  return text;
}

}  // namespace taper::exir
