// The bill of materials of a linked binary: what each part costs, and what leaving it out would
// save.

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
  uint64_t own = 0;                          // The bytes of its own object file.
  uint64_t saved = 0;                        // The least that leaving the file out would save.
  std::vector<std::string> names;            // The selected operators in this file.
  std::map<std::string, uint64_t> by_dtype;  // `own` by dtype.
};

struct Bill {
  uint64_t total = 0, zeroed = 0;
  // "runtime", "kernels: operators", "kernels: shared", "kernels: optimized", "backends",
  // "application", "libraries"
  std::map<std::string, uint64_t> parts;
  std::vector<OperatorBill> operators;       // The most expensive first.
  std::map<std::string, uint64_t> shared;    // The kernel files that several operators use.
  std::map<std::string, uint64_t> by_dtype;  // The bytes of kernels by dtype.
};

// Makes the bill. An object whose name contains one of `backends` counts as part of a backend.
Bill make_bill(const LinkMap& map, const Selection& selection,
               const std::vector<std::string>& backends);

// A text of what is selected: for each operator its calls, dtypes and the programs that use it.
std::string selection_report(const Selection& selection);
// A text of the bill.
std::string bill_report(const Bill& bill);

}  // namespace taper::select
