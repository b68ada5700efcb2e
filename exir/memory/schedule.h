// A graph as the straight list of steps that the runtime will take: control flow becomes jumps.
//
//     cond      JumpFalse pred -> L0;  true branch;  copies to the results;  JumpFalse false -> L1
//               L0: false branch;  copies to the results;  L1:
//     while     copies of the initial values;  L0: condition;  JumpFalse -> L1;  body;  copies of
//               the new values;  JumpFalse false -> L0;  L1:
//     scan, map an index counts from 0: select a slice, body, put the results at the index
//
// Results of control flow have memory of their own, written by copies from both branches or from
// each iteration; the copies that could be saved are cheap beside the bodies.

#pragma once

#include <memory>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

enum class StepKind : uint8_t { kCall, kMove, kJumpFalse };

struct Step {
  StepKind kind = StepKind::kCall;
  const Node* node = nullptr;  // kCall.
  Argument from;               // kMove: a number, value or literal. kJumpFalse: the condition.
  Value* to = nullptr;         // kMove.
  size_t target = 0;           // kJumpFalse: a step, or the number of steps for the end.
};

// Steps that may run more than once, both ends included.
struct Loop {
  size_t first = 0;
  size_t last = 0;
};

struct Schedule {
  std::vector<Step> steps;
  std::vector<Loop> loops;
  std::vector<Value*> grown;  // Results of scans: they grow by one slice per iteration.
  std::vector<std::unique_ptr<Node>> made;  // Nodes that steps refer to but no graph owns.
};

// `graph` is in the Backend dialect. Sub-graphs are bound to their operands in place: afterwards
// `graph` serves this schedule only. Throws Failure for operators it cannot lay out.
Schedule make_schedule(Graph& graph);

}  // namespace taper::exir
