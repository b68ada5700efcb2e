// The table with everything in it, made from ops.def. A trimmed application links a generated one
// instead, with only the lines that its models use.

#include "kernels_portable/kernel_table.h"

#include "taper/c_tables.h"
#include "taper/taper.h"

namespace taper::portable {

#define TAPER_OP(variable, file, schema) extern const Kernel variable;
#include "kernels_portable/ops.def"
#undef TAPER_OP

namespace {

const Kernel* const kAllKernels[] = {
#define TAPER_OP(variable, file, schema) &(variable),
#include "kernels_portable/ops.def"
#undef TAPER_OP
};

}  // namespace

KernelTable portable_kernels() { return kAllKernels; }

}  // namespace taper::portable

extern "C" const taper_kernels* taper_portable_kernels(void) {
  static constexpr taper_kernels kTable = {taper::portable::kAllKernels};
  return &kTable;
}
