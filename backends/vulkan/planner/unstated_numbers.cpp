#include "backends/vulkan/planner/unstated_numbers.h"

#include <algorithm>
#include <functional>

#include "backends/vulkan/planner/plan.h"

namespace taper::vulkan {
namespace {

constexpr size_t kMostNumbers = 8, kMostSizes = 32;
constexpr size_t kMostWork = 200000;  // Calls planned on trial.
constexpr int kRounds = 2;            // A number may only be seen once another one is right.

std::vector<ValueId> unstated(const PayloadGraph& graph) {
  std::vector<ValueId> ids;
  for (const ValueId id : graph.inputs) {
    const PayloadValue& value = graph.values[id];
    if (value.kind == Kind::kSymInt && value.integer == 0) ids.push_back(id);
  }
  return ids;
}

// The sizes of all tensors, the largest first.
std::vector<int64_t> sizes_of(const PayloadGraph& graph) {
  std::vector<int64_t> sizes;
  for (const PayloadValue& value : graph.values) {
    for (size_t d = 0; d < value.limits.rank; ++d) sizes.push_back(value.limits[d]);
  }
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  if (sizes.size() > kMostSizes) sizes.resize(kMostSizes);
  return sizes;
}

// How many calls can be planned.
size_t progress(PayloadGraph& graph) {
  Plan plan;
  return plan.plan_calls(graph).ok() ? graph.calls.size() + 1 : plan.current_call();
}

}  // namespace

void find_unstated_numbers(PayloadGraph& graph) {
  const std::vector<ValueId> ids = unstated(graph);
  if (ids.empty() || ids.size() > kMostNumbers) return;
  const std::vector<int64_t> sizes = sizes_of(graph);
  if (ids.size() * sizes.size() * kRounds * graph.calls.size() > kMostWork) return;
  const size_t all = graph.calls.size() + 1;
  size_t most = progress(graph);
  for (int round = 0; round < kRounds; ++round) {
    for (const ValueId id : ids) {
      for (const int64_t size : sizes) {
        if (most == all) return;
        const int64_t before = graph.values[id].integer;
        graph.values[id].integer = size;
        const size_t reached = progress(graph);
        if (reached <= most) graph.values[id].integer = before;
        most = std::max(most, reached);
      }
    }
  }
}

}  // namespace taper::vulkan
