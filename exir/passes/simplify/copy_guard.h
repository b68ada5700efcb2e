// Decides which copies must be kept although the graph is functional.
//
// A mutated state or input has one piece of memory, which is overwritten at the end of a call: a
// copy of its old contents is kept. So is a copy of an input, a constant or a state that an output
// or a mutation takes.

#pragma once

#include <unordered_map>
#include <unordered_set>

#include "exir/ir/graph.h"

namespace taper::exir {

class CopyGuard {
 public:
  // `is_body`: the graph is a body of control flow, whose inputs the loop may overwrite.
  CopyGuard(const Graph& graph, bool is_body);

  // True if `result` may be replaced by `from`, which has the same contents.
  bool removable(const Value* from, const Value* result) const;

  // To be called for each node in order: records that its results may share memory with its first
  // argument.
  void note(const Node& node);

 private:
  const Value* root(const Value* value) const;

  bool is_body_;
  std::unordered_set<const Value*> mutated_;
  std::unordered_set<const Value*> visible_;  // Outputs and sources of mutations.
  std::unordered_map<const Value*, const Value*> shares_;
};

}  // namespace taper::exir
