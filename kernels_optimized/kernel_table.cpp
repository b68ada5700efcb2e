// The table of fast kernels, made from ops.def.

#include "kernels_optimized/kernel_table.h"

namespace taper::optimized {

#define TAPER_OP(variable, file, schema) extern const Kernel variable;
#include "kernels_optimized/ops.def"
#undef TAPER_OP

namespace {

const Kernel* const kAllKernels[] = {
#define TAPER_OP(variable, file, schema) &(variable),
#include "kernels_optimized/ops.def"
#undef TAPER_OP
};

}  // namespace

KernelTable optimized_kernels() { return kAllKernels; }

}  // namespace taper::optimized
