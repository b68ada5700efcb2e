// Runs kernels on cases whose results PyTorch computed.
//
// Every case is run with static outputs of the right sizes, with larger dynamic outputs, which each
// kernel must resize, and once for each argument whose memory the output may use according to
// ops.def. Tensors have exactly as much memory as they need, so that sanitizers detect accesses out
// of bounds. Failures are reported to GoogleTest.

#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels_portable/kernel_table.h"
#include "taper/kernel.h"

namespace taper::test {

// Runs the cases in the file at `path` with the kernels in `tables`, which are searched in order.
void run_op_case_file(Span<const KernelTable> tables, const std::string& path);

#ifdef TAPER_SOURCE_DIR
// The file with the cases for a family of operators, such as "op_add".
inline std::string op_case_path(const std::string& family) {
  return TAPER_SOURCE_DIR "/kernels_portable/cases/" + family + ".txt";
}

// The families that have cases, sorted.
inline std::vector<std::string> op_case_families() {
  std::vector<std::string> families;
  for (const auto& entry :
       std::filesystem::directory_iterator(TAPER_SOURCE_DIR "/kernels_portable/cases")) {
    if (entry.path().extension() == ".txt") families.push_back(entry.path().stem().string());
  }
  std::sort(families.begin(), families.end());
  return families;
}
#endif

}  // namespace taper::test
