// Whether a node turns planes to channels last, or back.

#pragma once

#include "backends/xnnpack/runtime/graph/subgraph.h"

namespace taper::xnnpack {

// Whether the node moves dimension 1 to the end, or back from there.
inline bool is_turn(const XnnNode& node, bool is_back) {
  if (!node.is_needed || node.content_type != wire::NodeContent::Transpose) return false;
  const auto& perm = *node.as<wire::Transpose>().perm();
  const uint32_t rank = perm.size();
  if (rank < 3 || perm.Get(0) != 0) return false;
  for (uint32_t d = 1; d < rank; ++d) {
    const uint32_t there = d + 1 < rank ? d + 1 : 1, back = d > 1 ? d - 1 : rank - 1;
    if (perm.Get(d) != (is_back ? back : there)) return false;
  }
  return true;
}

}  // namespace taper::xnnpack
