// taper_fast_kernels(): all kernels in one table, the fast one where there is one. Compiled without
// TAPER_OPTIMIZED, for a library without fast kernels, it is the portable table.

#include <array>
#include <string_view>

#include "taper/c_tables.h"
#include "taper/taper.h"

namespace taper::portable {

#define TAPER_OP(variable, file, schema, memory, dtypes) extern const Kernel variable;
#include "kernels_portable/ops.def"
#undef TAPER_OP

}  // namespace taper::portable

#if TAPER_OPTIMIZED

namespace taper::optimized {

#define TAPER_OP(variable, file, schema) extern const Kernel variable;
#include "kernels_optimized/ops.def"
#undef TAPER_OP

}  // namespace taper::optimized

#endif

namespace taper {
namespace {

struct Line {
  std::string_view name;
  const Kernel* kernel;
};

#define TAPER_OP(variable, file, schema, memory, dtypes) {schema, &portable::variable},
constexpr Line kPortable[] = {
#include "kernels_portable/ops.def"
};
#undef TAPER_OP

constexpr size_t kCount = sizeof(kPortable) / sizeof(*kPortable);

#if TAPER_OPTIMIZED
#define TAPER_OP(variable, file, schema) {schema, &optimized::variable},
constexpr Line kFast[] = {
#include "kernels_optimized/ops.def"
};
#undef TAPER_OP
#endif

// Both lists are sorted by name, and each name of the second is one of the first.
constexpr std::array<const Kernel*, kCount> merged() {
  std::array<const Kernel*, kCount> kernels = {};
  for (size_t i = 0; i < kCount; ++i) kernels[i] = kPortable[i].kernel;
#if TAPER_OPTIMIZED
  size_t i = 0;
  for (const Line& fast : kFast) {
    while (kPortable[i].name != fast.name) ++i;  // A name that is missing is a compile-time error.
    kernels[i] = fast.kernel;
  }
#endif
  return kernels;
}

constexpr std::array<const Kernel*, kCount> kMerged = merged();

}  // namespace
}  // namespace taper

extern "C" const taper_kernels* taper_fast_kernels(void) {
  static constexpr taper_kernels kTable = {taper::kMerged};
  return &kTable;
}
