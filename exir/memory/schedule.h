// Linearises a graph into the steps that the runtime takes: control flow becomes jumps.
//
//     cond      JumpFalse pred -> L0;  true branch;  copies to the results;  JumpFalse false -> L1
//               L0: false branch;  copies to the results;  L1:
//     while     copies of the initial values;  L0: condition;  JumpFalse -> L1;  body;  copies of
//               the new values;  JumpFalse false -> L0;  L1:
//     scan, map an index counts from 0: select a slice, body, put the results at the index
//
// Results of control flow have memory of their own, into which both branches or each iteration
// copy. Some of these copies could be avoided, but they are cheap compared with the bodies.

#pragma once

#include <memory>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

enum class StepKind : uint8_t { kCall, kMove, kJumpFalse };

struct Step {
  StepKind kind = StepKind::kCall;
  const Node* node = nullptr;  // kCall.
  Argument from;               // kMove: a value or a literal. kJumpFalse: the condition.
  Value* to = nullptr;         // kMove.
  size_t target = 0;           // kJumpFalse: index of a step; the number of steps means the end.
};

// Steps that may run more than once, first and last inclusive.
struct Loop {
  size_t first = 0;
  size_t last = 0;
};

struct Schedule {
  std::vector<Step> steps;
  std::vector<Loop> loops;
  std::vector<Value*> grown;  // Results of scans: they grow by one slice per iteration.
  std::vector<std::unique_ptr<Node>> made;  // Nodes that steps refer to and that no graph owns.
};

// `graph` is in the Backend dialect. Its subgraphs are bound to their operands in place, so
// afterwards it can be used with this schedule only. Throws Failure for control flow that is not
// supported.
Schedule make_schedule(Graph& graph);

}  // namespace taper::exir
