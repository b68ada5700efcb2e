// Looks into the delegates that make errors: finds the node at which the error begins, by compiling
// the exported program again for the same backends with one more output at a time.
//
// This finds what a backend computes wrongly. A delegate that was compiled from other weights, or
// by other means, agrees when it is compiled again; a note then says so.

#pragma once

#include <string>
#include <vector>

#include "tools/compare/comparison_report.h"
#include "tools/compare/observed_program.h"
#include "tools/compare/reference.h"

namespace taper::tools {

struct BisectRequest {
  const Reference& reference;
  ObservedProgram& program;
  // The program's tensor for each of the reference's, negative if there is none; and its bound.
  const std::vector<int64_t>& seen;
  const std::vector<double>& bounds;
  std::string backend;  // As for --backend; empty: by the delegates of the program.
};

// Reads the tensors of `report`, and adds what is inside, and notes.
void bisect_delegates(const BisectRequest& request, ComparisonReport& report);

}  // namespace taper::tools
