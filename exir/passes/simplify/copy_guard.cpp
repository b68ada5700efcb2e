// Follows each value to the memory that it may share, by assuming that every view and copy shares.

#include "exir/passes/simplify/copy_guard.h"

namespace taper::exir {

CopyGuard::CopyGuard(const Graph& graph, bool is_body) : is_body_(is_body) {
  for (const Mutation& mutation : graph.mutations) {
    mutated_.insert(mutation.target);
    visible_.insert(mutation.source);
  }
  for (const Argument& output : graph.outputs) {
    for_each_value(output, [&](const Value* value) { visible_.insert(value); });
  }
}

void CopyGuard::note(const Node& node) {
  const bool may_share = node.schema->returns_alias() ||
                         node.schema->name.find("_copy") != std::string::npos ||
                         node.schema->name.find("clone") != std::string::npos;
  if (!may_share || node.args.empty() || !node.args[0].is_value()) return;
  for (const Value* output : node.outputs) shares_[output] = root(node.args[0].value());
}

const Value* CopyGuard::root(const Value* value) const {
  const auto found = shares_.find(value);
  return found == shares_.end() ? value : found->second;
}

bool CopyGuard::removable(const Value* from, const Value* result) const {
  const Value* memory = root(from);
  if (mutated_.count(memory) != 0) return false;
  if (is_body_ && memory->role == ValueRole::kInput) return false;
  return memory->role == ValueRole::kResult || visible_.count(result) == 0;
}

}  // namespace taper::exir
