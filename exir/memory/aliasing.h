// Facts about kernels that decide who may share memory.

#pragma once

#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

// A result that is, byte for byte, part of `base` starting at `offset`; base is null if it is not.
struct ViewOf {
  const Value* base = nullptr;
  uint64_t offset = 0;
};

// For a call of the Backend dialect whose results are views: one entry per result. Empty for other
// operators. Sizes must be static for a view to be found.
std::vector<ViewOf> views_of(const Node& node);

// True if the kernel may be handed the memory of `operand` for `result` when both have the same
// type: the memory column of kernels_portable/ops.def says so, or it writes that argument itself.
bool writes_in_place(const Node& node, const Value* operand, const Value* result);

}  // namespace taper::exir
