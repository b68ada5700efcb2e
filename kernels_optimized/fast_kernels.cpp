// taper_fast_kernels(): all kernels in one table, the fast one where there is one. Compiled without
// TAPER_OPTIMIZED, for a library without fast kernels, it is the portable table.

#include <array>
#include <iterator>
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

#if TAPER_OPTIMIZED
#define TAPER_OP(variable, file, schema) {schema, &optimized::variable},
constexpr Line kFast[] = {
#include "kernels_optimized/ops.def"
};
#undef TAPER_OP

// Those of two operators in a row, which stand beside the others.
constexpr bool is_joined(const Line& fast) { return fast.name.find('+') != fast.name.npos; }
constexpr size_t count_joined() {
  size_t count = 0;
  for (const Line& fast : kFast) count += is_joined(fast) ? 1 : 0;
  return count;
}
constexpr size_t kJoined = count_joined();
#else
constexpr size_t kJoined = 0;
#endif

constexpr size_t kCount = std::size(kPortable) + kJoined;

// Both lists are sorted by name, and each other name of the second is one of the first.
struct Merged {
  std::array<const Kernel*, kCount> kernels = {};
  bool is_complete = true;  // Whether all fast kernels are among them.
};

constexpr Merged merge() {
  Merged merged;
  size_t count = 0;
#if TAPER_OPTIMIZED
  size_t i = 0;
#endif
  for (const Line& portable : kPortable) {
    const Kernel*& kernel = merged.kernels[count++];
    kernel = portable.kernel;
#if TAPER_OPTIMIZED
    if (i < std::size(kFast) && kFast[i].name == portable.name) kernel = kFast[i++].kernel;
    for (; i < std::size(kFast) && is_joined(kFast[i]); ++i) {
      merged.kernels[count++] = kFast[i].kernel;
    }
    merged.is_complete = i == std::size(kFast);
#endif
  }
  return merged;
}

constexpr Merged kMerged = merge();
static_assert(kMerged.is_complete, "a fast kernel has no portable one");

}  // namespace
}  // namespace taper

extern "C" const taper_kernels* taper_fast_kernels(void) {
  static constexpr taper_kernels kTable = {taper::kMerged.kernels};
  return &kTable;
}
