// Runs kernels on cases whose results PyTorch computed.
//
// Every case runs with static outputs of the right sizes and again with outputs that are larger and
// may shrink, so that each kernel is seen to resize, and once for each argument in whose memory its
// output may lie, says ops.def. Memory is exactly as large as the tensors,
// which lets a sanitizer see a read or write out of bounds. Failures are reported to GoogleTest.

#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "kernels_portable/kernel_table.h"
#include "taper/kernel.h"

namespace taper::test {

// Runs the cases of the file at `path` with the kernels of `tables`, searched in order.
void run_op_case_file(Span<const KernelTable> tables, const std::string& path);

#ifdef TAPER_SOURCE_DIR
// The file with the cases of a family of operators, such as "op_add".
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
