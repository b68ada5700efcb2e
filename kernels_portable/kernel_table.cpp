// The table of all kernels, made from ops.def. An application trimmed by selective build links a
// generated table instead, which holds only the kernels that its models use.

#include "kernels_portable/kernel_table.h"

#include "taper/c_tables.h"
#include "taper/taper.h"

namespace taper::portable {

#define TAPER_OP(variable, file, schema, memory, dtypes) extern const Kernel variable;
#include "kernels_portable/ops.def"
#undef TAPER_OP

namespace {

const Kernel* const kAllKernels[] = {
#define TAPER_OP(variable, file, schema, memory, dtypes) &(variable),
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
