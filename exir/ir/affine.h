// Sizes that are a multiple of a symbol and a constant: from such a size follows the symbol.

#pragma once

#include <cstdint>
#include <string>

#include "exir/ir/sym.h"

namespace taper::exir {

// a*s + b, with a as `slope` and b as `start`.
struct Affine {
  int64_t slope = 0;  // 0 if the size is nothing such.
  int64_t start = 0;
};
Affine affine_in(const Sym& size, const std::string& symbol);

}  // namespace taper::exir
