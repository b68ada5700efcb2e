// Where the dynamic sizes of a reshape come from at run time: a dimension of an earlier value,
// multiplied and divided by integers. XNNPACK itself infers at most one size.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "exir/ir/sym.h"

namespace taper::xnnpack {

struct SizeSource {
  uint32_t value = UINT32_MAX;  // UINT32_MAX: no source, the size is inferred.
  uint32_t dim = 0;
  uint32_t times = 1, over = 1;
};

// The number of sizes that are not known at compile time.
size_t count_open(const std::vector<exir::Sym>& sizes);

// The sizes of the values that precede a reshape.
class KnownSizes {
 public:
  // Adds a value whose sizes the device knows from here on.
  void add(uint32_t value, const std::vector<exir::Sym>& sizes);
  // A source for each size; static sizes have none. nullopt if more than one dynamic size has no
  // source.
  std::optional<std::vector<SizeSource>> sources(const std::vector<exir::Sym>& sizes) const;

 private:
  std::optional<SizeSource> source(const exir::Sym& size) const;

  struct Known {
    exir::Sym size;
    SizeSource at;
  };
  std::vector<Known> known_;  // Without duplicate sizes.
  std::unordered_map<std::string, size_t> places_;
};

}  // namespace taper::xnnpack
