// Which sizes a compiled program can rely on, and what follows from them.

#pragma once

#include "exir/ir/sym.h"

namespace taper::exir {

// PyTorch checks a lower bound of a size only if it is above this, and so does a compiled program.
inline constexpr int64_t kNeverChecked = 2;

// Ranges without the lower bounds that nothing checks.
SymRanges checked_ranges(SymRanges ranges);

// Whether a condition holds for all sizes in the ranges.
bool always_holds(const Sym& condition, const SymRanges& ranges);

}  // namespace taper::exir
