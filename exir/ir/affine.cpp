// affine_in(): two values determine a line, and comparing texts tells whether the size is one.

#include "exir/ir/affine.h"

#include <optional>

namespace taper::exir {

Affine affine_in(const Sym& size, const std::string& symbol) {
  const std::optional<int64_t> at_0 = size.evaluate({{symbol, 0}}),
                               at_1 = size.evaluate({{symbol, 1}});
  int64_t slope = 0;
  if (!at_0 || !at_1 || __builtin_sub_overflow(*at_1, *at_0, &slope)) return {};
  const bool is_affine = Sym(slope) * Sym::symbol(symbol) + Sym(*at_0) == size;
  return {is_affine ? slope : 0, *at_0};
}

}  // namespace taper::exir
