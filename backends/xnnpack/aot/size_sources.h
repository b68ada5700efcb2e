// Where the open sizes of a reshape come from while the program runs: a dimension of a value that
// is there before, times and over whole numbers. XNNPACK itself leaves one size open at most.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "exir/ir/sym.h"

namespace taper::xnnpack {

struct SizeSource {
  uint32_t value = UINT32_MAX;  // This: no source, the size is what is left.
  uint32_t dim = 0;
  uint32_t times = 1, over = 1;
};

// How many sizes are not known before the program runs.
size_t count_open(const std::vector<exir::Sym>& sizes);

class KnownSizes {
 public:
  // A value whose sizes the device knows from here on.
  void add(uint32_t value, const std::vector<exir::Sym>& sizes);
  // One for each size; those that are numbers have none. Nothing if more than one open size has no
  // source.
  std::optional<std::vector<SizeSource>> sources(const std::vector<exir::Sym>& sizes) const;

 private:
  std::optional<SizeSource> source(const exir::Sym& size) const;

  struct Known {
    exir::Sym size;
    SizeSource at;
  };
  std::vector<Known> known_;  // Each size once.
  std::unordered_map<std::string, size_t> places_;
};

}  // namespace taper::xnnpack
