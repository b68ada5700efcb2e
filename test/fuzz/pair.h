// A program and a file that belongs to it, in one string, for fuzzers that damage the second.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace taper::fuzz {

struct Pair {
  std::string_view program, companion;
};

inline std::string join_pair(std::string_view program, std::string_view companion) {
  const uint64_t bytes = program.size();
  std::string pair(sizeof(bytes), 0);
  std::memcpy(pair.data(), &bytes, sizeof(bytes));
  return pair.append(program).append(companion);
}

// Of any string: a length that exceeds it ends at its end.
inline Pair split_pair(std::string_view pair) {
  uint64_t bytes = 0;
  if (pair.size() < sizeof(bytes)) return {};
  std::memcpy(&bytes, pair.data(), sizeof(bytes));
  pair.remove_prefix(sizeof(bytes));
  const auto cut = static_cast<size_t>(std::min<uint64_t>(bytes, pair.size()));
  return {pair.substr(0, cut), pair.substr(cut)};
}

}  // namespace taper::fuzz
