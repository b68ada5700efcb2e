// Nodes that give a number while the program runs: a size, or what is computed from sizes.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exir/ir/rewrite.h"

namespace taper::exir {

// Emits a call whose only result is a number: a new value of that name, which has the symbol `sym`.
Value* emit_number(Rewriter& rewriter, const std::string& name, ValueKind kind,
                   std::string_view target, const std::vector<Argument>& args, const Sym& sym);

// Sizes as arguments: integers, or sym_size of `source` where they are symbolic. Throws Failure if
// `source` has no dimension of such a size.
Argument size_arguments(Rewriter& rewriter, const std::vector<Sym>& sizes, Value* source);

}  // namespace taper::exir
