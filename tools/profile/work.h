// How much an instruction computes and moves, from the sizes of its arguments; and how much this
// machine can.

#pragma once

#include "taper/kernel.h"
#include "taper/method.h"

namespace taper::tools {

struct Work {
  double operations = 0;  // Multiplications and additions of products; 0 for all else.
  double bytes = 0;       // Of the tensors that it reads and writes, each once.
};

Work work_of(const InstructionInfo& instruction);

// What a large product and a large copy reach, with the kernels and threads of a program.
struct Peaks {
  double operations_per_second = 0;  // 0 if there is no kernel for products.
  double bytes_per_second = 0;       // Read and written.
};

Peaks measure_peaks(Span<const KernelTable> kernels, const ThreadPool& pool);

}  // namespace taper::tools
