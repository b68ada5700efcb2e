// The table of executorch_kernels.def.

#include "exir/ops/executorch_kernels.h"

#include <algorithm>
#include <iterator>

namespace taper::exir {
namespace {

constexpr std::string_view kKernels[] = {
#define TAPER_EXECUTORCH_KERNEL(name) name,
#include "exir/ops/executorch_kernels.def"
#undef TAPER_EXECUTORCH_KERNEL
};

}  // namespace

bool executorch_has_kernel(std::string_view name) {
  return std::binary_search(std::begin(kKernels), std::end(kKernels), name);
}

bool executorch_takes(const Node& call) {
  if (call.is("aten::convolution")) return call.args[0].value()->type.rank() <= 4;
  return !call.is("aten::linear") || call.args[0].value()->type.rank() >= 2;
}

}  // namespace taper::exir
