// The core runtime and every portable kernel of PyTorch's own operators and of this runtime's: all
// but those of torchvision, which only detectors use.

#include <array>
#include <cstddef>
#include <string_view>

#include "taper/kernel.h"
#include "test/size/load_and_run.h"

namespace taper::portable {

#define TAPER_OP(variable, file, schema, memory, dtypes) extern const Kernel variable;
#include "kernels_portable/ops.def"
#undef TAPER_OP

namespace {

struct Line {
  std::string_view name;
  const Kernel* kernel;

  constexpr bool counts() const { return name.substr(0, 13) != "torchvision::"; }
};

constexpr Line kLines[] = {
#define TAPER_OP(variable, file, schema, memory, dtypes) {schema, &(variable)},
#include "kernels_portable/ops.def"
#undef TAPER_OP
};

constexpr size_t count() {
  size_t counted = 0;
  for (const Line& line : kLines) counted += line.counts() ? 1 : 0;
  return counted;
}

constexpr std::array<const Kernel*, count()> kernels() {
  std::array<const Kernel*, count()> out = {};
  size_t next = 0;
  for (const Line& line : kLines) {
    if (line.counts()) out[next++] = line.kernel;
  }
  return out;
}

constexpr std::array<const Kernel*, count()> kKernels = kernels();

}  // namespace
}  // namespace taper::portable

int main(int argc, char**) {
  const taper::KernelTable tables[] = {taper::portable::kKernels};
  return taper::size::load_and_run(argc, tables);
}
