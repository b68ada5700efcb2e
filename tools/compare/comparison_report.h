// What a comparison of two programs found, tensor by tensor.

#pragma once

#include <string>
#include <vector>

#include "tools/npy.h"

namespace taper::tools {

// A tensor that both have.
struct ComparedTensor {
  std::string node;               // The exporter's name.
  std::vector<std::string> with;  // Nodes computed together with it, whose results are not seen.
  std::string op, module, line;   // As Origin has them (exir/emit/debug_info.h).
  std::string runs_on;            // "portable", or a delegate's id.
  int64_t instruction = -1;       // Of the program; negative: it is known as an output only.
  ScalarType dtype = ScalarType::kFloat;
  std::vector<int64_t> shape;

  double decibels = 0;       // Signal to noise; infinite if nothing differs.
  double largest = 0;        // Of the errors.
  double relative = 0;       // The same over the scale of the values; see CompareRequest::bound.
  double bound = 0;          // Of the relative error.
  double made = -1;          // The relative error of the node on its own inputs; negative: unknown.
  bool from_inputs = false;  // Its inputs carry the error.
  std::string problem;       // Why the elements cannot be compared; empty if they can.

  bool agrees() const { return problem.empty() && relative <= bound; }
};

// A row for the tensor of these names, of which at least one is given.
ComparedTensor described(const std::vector<std::string>& names, std::string op, std::string module,
                         std::string line);

// Notes in `row` how far `got` is from `want`. Errors are relative to the largest value of `want`,
// or, where that is smaller, to `around`, the largest that it is computed from, up to 1. Returns
// the largest value of `want`; 0 if the elements cannot be compared.
double measure(const NpyArray& got, const NpyArray& want, double around, ComparedTensor& row);

struct ComparisonReport {
  std::string reference, program, method;
  std::vector<ComparedTensor> tensors;  // In the order of execution.
  std::vector<ComparedTensor> inside;   // Within delegates, where that was asked for.
  std::vector<std::string> notes;       // What was not compared, and why.

  bool agrees() const;
  // The first that does not agree; null if all do.
  const ComparedTensor* first() const;
  // The one with the lowest signal to noise ratio; null if there is none.
  const ComparedTensor* worst() const;
};

// The `top` worst tensors that do not agree, or all tensors if it is 0.
void print_comparison(const ComparisonReport& report, size_t top);
std::string comparison_json(const ComparisonReport& report);
// "conv2d differs: ...", in one line.
std::string text_of(const ComparedTensor& tensor);

}  // namespace taper::tools
