// The bill of materials of a linked binary: who costs what, and what would be saved by what.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "selective_build/link_map.h"
#include "selective_build/selection.h"

namespace taper::select {

struct OperatorBill {
  std::string file;                          // "op_add"
  uint64_t own = 0;                          // Bytes of its own object.
  uint64_t saved = 0;                        // At least so much goes when the operator goes.
  std::vector<std::string> names;            // Of the selected operators in that file.
  std::map<std::string, uint64_t> by_dtype;  // Its own bytes.
};

struct Bill {
  uint64_t total = 0, zeroed = 0;
  // "runtime", "kernels: operators", "kernels: shared", "kernels: optimized", "backends",
  // "application", "libraries"
  std::map<std::string, uint64_t> parts;
  std::vector<OperatorBill> operators;       // The dearest first.
  std::map<std::string, uint64_t> shared;    // Kernel files that several operators stand on.
  std::map<std::string, uint64_t> by_dtype;  // Kernels' bytes by the dtype they are compiled for.
};

Bill make_bill(const LinkMap& map, const Selection& selection);

// What is selected, operator by operator: calls, dtypes, which programs.
std::string selection_report(const Selection& selection);
std::string bill_report(const Bill& bill);

}  // namespace taper::select
