// Runs one case of the kernels' test suite through a backend and compares it with PyTorch.

#pragma once

#include <string>

#include "test/backends/case_graph.h"
#include "test/backends/subject.h"

namespace taper::test {

struct CaseResult {
  bool is_taken = false;  // The backend runs it, or some of the operators it is decomposed into.
  std::string wrong;      // What is wrong, in one line; empty if nothing is.
};

// Compiles the case in that form and runs it twice; the second run must not allocate. With dynamic
// sizes it also runs with two other sizes, for which the portable kernels give the expected
// results.
CaseResult run_case(const OpCase& c, Known known, Returned returned, const Subject& subject,
                    Device& device);

}  // namespace taper::test
