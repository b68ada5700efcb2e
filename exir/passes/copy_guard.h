// Which copies must stay, although the graph writes nothing in place.
//
// A state or input that a mutation changes has one piece of memory, which gets its new contents at
// the end of a call. A copy of its old contents that a caller sees, or that goes into another
// mutation, has to be a real one. So has a result that is an input, a constant or a state itself.

#pragma once

#include <unordered_map>
#include <unordered_set>

#include "exir/ir/graph.h"

namespace taper::exir {

class CopyGuard {
 public:
  // `is_body`: the graph is a body of control flow, whose inputs the loop may write.
  CopyGuard(const Graph& graph, bool is_body);

  // True if `result` may be replaced by `from`, which holds the same.
  bool removable(const Value* from, const Value* result) const;

  // Call it for each node in order: its first result may share memory with its first argument.
  void note(const Node& node);

 private:
  const Value* root(const Value* value) const;

  bool is_body_;
  std::unordered_set<const Value*> mutated_;
  std::unordered_set<const Value*> visible_;  // Outputs and what mutations take.
  std::unordered_map<const Value*, const Value*> shares_;
};

}  // namespace taper::exir
