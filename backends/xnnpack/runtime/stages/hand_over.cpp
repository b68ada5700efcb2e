// Estimates the cost of nodes, and compares it with that of a hand-over.

#include "backends/xnnpack/runtime/stages/hand_over.h"

#include <algorithm>

#include "backends/xnnpack/runtime/graph/node_kinds.h"

namespace taper::xnnpack {
namespace {

// The cost of a node, in multiply-adds of a product that stays in the cache.
uint64_t cost_of(const XnnNode& node, Span<const XnnValue> values) {
  constexpr uint64_t kPerResult = 16;  // To read its operands and to write it.
  constexpr uint64_t kPerWeight = 4;
  const Shape& result = values[node.output].shape;
  const uint64_t count = element_count(result);
  uint64_t depth = 1, weights = 0;
  if (node.kind == find_kind(wire::NodeContent::BatchMatrixMultiply)) {
    depth = input(node, values).shape.last();
  } else if (node.inputs[1] != kNone && input(node, values, 1).data != nullptr) {
    weights = element_count(input(node, values, 1).declared);
    depth = weights / (result.rank > 0 ? result.last() : 1);
  }
  return count * (depth + kPerResult) + weights * kPerWeight;
}

}  // namespace

pthreadpool_t pool_for(const Subgraph& graph, size_t first, size_t last, const Shared& shared) {
  constexpr uint64_t kHandOver = 128 << 10;  // The cost of a hand-over in multiply-adds.
  constexpr uint64_t kOneTask = 32 << 10;    // XNNPACK does not divide smaller nodes.
  if (shared.wake_seconds == 0) return shared.pool;
  uint64_t cost = 0, count = 0;
  for (size_t n = first; n < last; ++n) {
    const XnnNode& node = graph.nodes()[n];
    const uint64_t own = node.is_needed ? cost_of(node, graph.values()) : 0;
    if (own < kOneTask) continue;
    cost += std::min(own, uint64_t{1} << 40);
    ++count;
  }
  // Two threads halve the cost; more threads save more.
  return cost / 2 > count * kHandOver ? shared.pool : nullptr;
}

}  // namespace taper::xnnpack
