// The numeric debugger: lines up the tensors of two programs by the exporter's names, and says
// where they part.
//
//   the reference   an exported program run by the portable kernels, tensors from a file, or another
//                   compiled program
//   the program     a compiled one, which runs as it is
//
// Each node of the exported program is also run by itself, on what the program gave it: this error
// is made there, whatever its inputs carry.

#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "exir/ops/builtin.h"
#include "tools/compare/comparison_report.h"
#include "tools/npy.h"
#include "tools/program_runner.h"

namespace taper::tools {

struct CompareRequest {
  RunnerOptions program;
  std::vector<std::string> inputs;  // Files; none: ones.
  std::string reference;            // A .pt2, or a .pte; may be empty if tensors are expected.
  std::string model;                // Of an archive with several.
  exir::Operators operators = exir::builtin_operators();
  bool exact = false;
  // Tensors by name, which take the place of those of the reference.
  std::map<std::string, NpyArray> expected;
  // The largest error, relative to the largest value: of the tensor, or of what its node reads, up
  // to 1, if that is larger. Negative: what the dtypes that the tensor was computed in allow.
  double bound = -1;
  exir::SymValues size_bounds;  // Of symbols, for the plan of the reference.
  bool bisect = false;
  std::string backend;  // What --backend was for the program; empty: by its delegates.
  std::function<void(size_t done, size_t total)> progress;
};

// The model of the reference that is compared: of several, that with the method's name unless the
// request names one.
std::string model_of(const CompareRequest& request, const std::string& method);

// Throws InputError, and what the compiler throws.
ComparisonReport compare_with_exported(const CompareRequest& request);
ComparisonReport compare_with_compiled(const CompareRequest& request);
// Only with the tensors that are expected.
ComparisonReport compare_with_tensors(const CompareRequest& request);

}  // namespace taper::tools
