#include "backends/vulkan/aot/state_updates.h"

#include <algorithm>
#include <set>

namespace taper::vulkan {
namespace {

using exir::Node;
using exir::Value;

bool replaces_part(const Node& node) {
  constexpr std::string_view kNames[] = {"aten::index_put",      "aten::slice_scatter",
                                         "aten::select_scatter", "aten::scatter.src",
                                         "aten::scatter.value",  "aten::scatter_add"};
  return std::find(std::begin(kNames), std::end(kNames), node.target()) != std::end(kNames);
}

}  // namespace

bool is_written_in_place(const exir::Part& part, const exir::Mutation& state) {
  // The state, and all results that may be views of it.
  std::set<const Value*> shown = {state.target};
  bool is_after = false;
  for (const Node* node : part.nodes) {
    size_t reads = 0;
    exir::for_each_value(*node, [&](const Value* value) { reads += shown.count(value); });
    const bool is_writer = node->outputs.size() == 1 && node->outputs[0] == state.source;
    if (is_writer) {
      const bool is_update = replaces_part(*node) && node->args[0].is_value() &&
                             node->args[0].value() == state.target && reads == 1;
      if (!is_update) return false;
      is_after = true;
      continue;
    }
    if (reads == 0) continue;
    if (is_after) return false;
    for (const Value* output : node->outputs) {
      if (output->type.numel() == state.target->type.numel()) shown.insert(output);
    }
  }
  const auto is_shown = [&](const Value* value) { return shown.count(value) != 0; };
  return is_after && std::none_of(part.outputs.begin(), part.outputs.end(), is_shown) &&
         std::none_of(part.states.begin(), part.states.end(), [&](const exir::Mutation& other) {
           return other.target != state.target && is_shown(other.source);
         });
}

}  // namespace taper::vulkan
