#include "backends/xnnpack/runtime/stages/node_times.h"

#include <charconv>

#include "backends/xnnpack/runtime/graph/node_kinds.h"

namespace taper::xnnpack {

namespace {

bool is_move(const XnnNode& node) {
  return node.content_type == wire::NodeContent::Reshape ||
         node.content_type == wire::NodeContent::Transpose;
}

}  // namespace

void NodeTimes::add(Span<const XnnNode> nodes, const char* kernel, double seconds) {
  if (nodes.empty()) return tell(nullptr, kNone, {}, kernel, seconds);
  const XnnNode* named = nodes.end() - 1;
  while (named > nodes.begin() && is_move(*named)) --named;
  tell(named, nodes.end()[-1].output, work_of(graph_, nodes), kernel, seconds);
}

void NodeTimes::add_part(const XnnNode& node, const char* kernel, double seconds) {
  tell(&node, node.output, {}, kernel, seconds);
}

void NodeTimes::tell(const XnnNode* node, uint32_t result, const NodeWork& work, const char* kernel,
                     double seconds) {
  char sizes[kMaxRank * 11];  // 10 digits and an x each. No heap: this is part of what is timed.
  char* end = sizes;
  if (result != kNone) {
    const Shape& shape = graph_.values()[result].shape;
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
  step.operations = work.operations;
  step.bytes = work.bytes;
  profiler_.add(step);
  next_ += seconds;
}

}  // namespace taper::xnnpack
