// Finds the sources of dynamic sizes. Sizes are compared as expressions. A factor between two of
// them is guessed from one assignment of values to symbols and then proved.

#include "backends/xnnpack/aot/size_sources.h"

#include <numeric>

namespace taper::xnnpack {
namespace {

using exir::Sym;

constexpr int64_t kMostFactor = 1 << 20;

// The value of a size for a fixed assignment of values to symbols. The values differ and share few
// factors with the numbers in programs.
std::optional<int64_t> sample(const Sym& size) {
  exir::SymValues values;
  int64_t number = 30011;
  for (const std::string& name : size.symbols()) {
    for (const char c : name) number = number * 31 % 65537 + c;
    values[name] = 2 * number + 1;
    number = 30011;
  }
  return size.evaluate(values);
}

}  // namespace

size_t count_open(const std::vector<Sym>& sizes) {
  size_t open = 0;
  for (const Sym& size : sizes) open += !size.is_int();
  return open;
}

void KnownSizes::add(uint32_t value, const std::vector<Sym>& sizes) {
  for (uint32_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d].is_int() || !places_.emplace(sizes[d].text(), known_.size()).second) continue;
    known_.push_back({sizes[d], {value, d, 1, 1}});
  }
}

std::optional<SizeSource> KnownSizes::source(const Sym& size) const {
  const auto found = places_.find(size.text());
  if (found != places_.end()) return known_[found->second].at;
  const std::optional<int64_t> wanted = sample(size);
  if (!wanted || *wanted <= 0) return std::nullopt;
  for (const Known& known : known_) {
    const std::optional<int64_t> given = sample(known.size);
    if (!given || *given <= 0) continue;
    const int64_t common = std::gcd(*wanted, *given);
    const int64_t times = *wanted / common, over = *given / common;
    if (times > kMostFactor || over > kMostFactor) continue;
    if (!(size * Sym(over) == known.size * Sym(times))) continue;
    SizeSource at = known.at;
    at.times = static_cast<uint32_t>(times);
    at.over = static_cast<uint32_t>(over);
    return at;
  }
  return std::nullopt;
}

std::optional<std::vector<SizeSource>> KnownSizes::sources(const std::vector<Sym>& sizes) const {
  std::vector<SizeSource> all(sizes.size());
  size_t left = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d].is_int()) continue;
    const std::optional<SizeSource> at = source(sizes[d]);
    if (at) all[d] = *at;
    left += !at;
  }
  if (left > 1) return std::nullopt;
  return all;
}

}  // namespace taper::xnnpack
