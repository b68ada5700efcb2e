// A small random generator (SplitMix64) whose sequence is the same on every machine.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "taper/content_hash.h"

namespace taper::fuzz {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // A number from 0 to n - 1; 0 if n is 0.
  size_t below(size_t n) { return n == 0 ? 0 : static_cast<size_t>(next() % n); }
  bool one_in(size_t n) { return below(n) == 0; }

 private:
  uint64_t state_;
};

// What is drawn about a file depends on its bytes alone, so that a finding can be repeated from the
// number of its mutant and from the file that was kept.
inline Random drawn_from(std::string_view file) {
  return Random(content_hash({reinterpret_cast<const uint8_t*>(file.data()), file.size()}));
}

}  // namespace taper::fuzz
