// Runs kernels on cases whose results PyTorch computed.
//
// Every case runs with static outputs of the right sizes and again with outputs that are larger and
// may shrink, so that each kernel is seen to resize. Memory is exactly as large as the tensors,
// which lets a sanitizer see a read or write out of bounds. Failures are reported to GoogleTest.

#pragma once

#include <string>

#include "kernels_portable/kernel_table.h"
#include "taper/kernel.h"

namespace taper::test {

// Runs the cases of the file at `path` with the kernels of `tables`, searched in order.
void run_op_case_file(Span<const KernelTable> tables, const std::string& path);

#ifdef TAPER_SOURCE_DIR
// Runs kernels_portable/cases/<family>.txt with the portable kernels; `family` is "op_add".
inline void run_op_cases(const std::string& family) {
  const KernelTable tables[] = {portable::portable_kernels()};
  run_op_case_file(tables, TAPER_SOURCE_DIR "/kernels_portable/cases/" + family + ".txt");
}
#endif

}  // namespace taper::test
