#include "backends/xnnpack/runtime/stages/node_times.h"

#include <charconv>

#include "backends/xnnpack/runtime/graph/node_kinds.h"

namespace taper::xnnpack {

void NodeTimes::add(const XnnNode* node, const char* kernel, double seconds) {
  char sizes[kMaxRank * 11];  // 10 digits and an x each. No heap: this is part of what is timed.
  char* end = sizes;
  if (node != nullptr) {
    const Shape& shape = graph_.values()[node->output].shape;
    for (uint32_t d = 0; d < shape.rank; ++d) {
      if (d != 0) *end++ = 'x';
      end = std::to_chars(end, sizes + sizeof(sizes), shape.dims[d]).ptr;
    }
  }
  ProfiledStep step = {};
  step.delegate = &graph_;
  step.index = count_++;
  step.op = node != nullptr ? node->kind->name : kernel;
  step.kernel = kernel;
  step.sizes = {sizes, static_cast<size_t>(end - sizes)};
  step.seconds = seconds;
  step.begin = next_;
  step.node = node != nullptr ? static_cast<int64_t>(node->origin) - 1 : -1;
  profiler_.add(step);
  next_ += seconds;
}

}  // namespace taper::xnnpack
