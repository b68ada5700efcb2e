// How a reshape passes the transpose before it. In a transformer whose convolutions look at tokens
// as pixels, [n, h * w, c] is transposed, reshaped to [n, c, h, w], and transposed again for the
// convolution; with the reshape first, the two transposes cancel out.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "exir/ir/sym.h"

namespace taper::xnnpack {

struct MovedReshape {
  std::vector<exir::Sym> dims;  // What the argument is reshaped to,
  std::vector<uint32_t> perm;   // and how that is transposed.
};

// The same as a transpose by `perm` of a tensor of sizes `dims` that is then reshaped to `result`,
// with the reshape first. nullopt if there is no such pair, or if the reshape does not only merge
// and split dimensions.
std::optional<MovedReshape> reshape_before(const std::vector<exir::Sym>& dims,
                                           const std::vector<uint32_t>& perm,
                                           const std::vector<exir::Sym>& result);

// The permutation that is `first` and then `second`. REQUIRES: both have the same length.
std::vector<uint32_t> composed(const std::vector<uint32_t>& first,
                               const std::vector<uint32_t>& second);

}  // namespace taper::xnnpack
