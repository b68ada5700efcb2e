// One case of the kernels' suite through one backend, and how far that is from PyTorch.

#pragma once

#include <string>

#include "test/backends/case_graph.h"
#include "test/backends/subject.h"

namespace taper::test {

struct CaseResult {
  bool is_taken = false;  // The backend runs it, or a part of what the compiler breaks it down to.
  std::string wrong;      // In one line; empty if nothing is.
};

// Compiles the case as that graph, runs it twice, and with open sizes twice more with others, for
// which the portable kernels say what is right. The second time it may not touch the heap.
CaseResult run_case(const OpCase& c, Known known, Returned returned, const Subject& subject,
                    Device& device);

}  // namespace taper::test
