#include "backends/xnnpack/runtime/stages/node_times.h"

#include <string>

#include "backends/xnnpack/runtime/graph/node_kinds.h"

namespace taper::xnnpack {

void NodeTimes::add(const XnnNode* node, const char* kernel, double seconds) {
  std::string sizes;
  if (node != nullptr) {
    const Shape& shape = graph_.values()[node->output].shape;
    for (uint32_t d = 0; d < shape.rank; ++d) {
      sizes += (d == 0 ? "" : "x") + std::to_string(shape.dims[d]);
    }
  }
  ProfiledStep step = {};
  step.delegate = &graph_;
  step.index = count_++;
  step.op = node != nullptr ? node->kind->name : kernel;
  step.kernel = kernel;
  step.sizes = sizes;
  step.seconds = seconds;
  step.begin = next_;
  step.node = node != nullptr ? static_cast<int64_t>(node->origin) - 1 : -1;
  profiler_.add(step);
  next_ += seconds;
}

}  // namespace taper::xnnpack
