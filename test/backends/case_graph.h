// A case of the kernels' suite as a graph of one node, whose results the case states.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exir/ir/graph.h"
#include "test/support/op_case_file.h"

namespace taper::test {

// What a graph knows of its tensors before it runs.
enum class Known {
  kNothing,      // All are inputs.
  kAllButFirst,  // All but the first are constants, as weights are.
  kFirst,        // The first is a constant, the others are inputs.
  kOnlyBounds,   // All are inputs, whose sizes may be smaller or larger than those of the case.
};

// Which results a graph returns. Many backends compute the first alone.
enum class Returned { kAll, kFirst };

struct CaseGraph {
  std::unique_ptr<exir::Graph> graph;
  // Of the graph, in order; they point into the case.
  std::vector<const CaseTensor*> inputs, outputs;
};

// No graph if the compiler never makes such a call: the kernel has no functional operator, writes
// an argument, returns a number, or must refuse the call; and none if `known` or `returned` changes
// nothing.
CaseGraph case_graph(const OpCase& c, Known known, Returned returned);

}  // namespace taper::test
