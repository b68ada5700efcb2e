// Builds a graph of one node from a case of the kernels' test suite, which states the results.
// On request other nodes stand around it, which change the sign of what it takes and gives.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exir/ir/graph.h"
#include "test/support/op_case_file.h"

namespace taper::test {

// What a graph knows about its tensors before it runs.
enum class Known {
  kNothing,      // All are inputs.
  kAllButFirst,  // All but the first are constants, like weights.
  kFirst,        // The first is a constant; the others are inputs.
  kOnlyBounds,   // All are inputs with dynamic sizes.
};

// Which results a graph returns. Many backends support only the first.
enum class Returned { kAll, kFirst };

// Whether tensors of float32 are the graph's own inputs and results, or the negatives of these.
enum class Signs { kKept, kChanged };

struct CaseGraph {
  std::unique_ptr<exir::Graph> graph;
  // The graph's inputs and outputs in order; they point into the case.
  std::vector<const CaseTensor*> inputs, outputs;
};

// Returns no graph if the compiler never emits such a call (the kernel has no functional operator,
// writes an argument, returns a number, or must refuse the call), or if `known` or `returned` makes
// no difference.
CaseGraph case_graph(const OpCase& c, Known known, Returned returned, Signs signs = Signs::kKept);

}  // namespace taper::test
