// Tells a Profiler how long the steps of a graph take: nodes that XNNPACK computes, and stages of
// ours.

#pragma once

#include <chrono>

#include "backends/xnnpack/runtime/graph/subgraph.h"
#include "backends/xnnpack/runtime/stages/node_work.h"
#include "taper/backend_device.h"

namespace taper::xnnpack {

class NodeTimes {
 public:
  // Of one execution. All of it must outlive this.
  NodeTimes(Profiler& profiler, const Subgraph& graph)
      : profiler_(profiler), graph_(graph), start_(Clock::now()) {}

  void begin_stage() { next_ = now(); }
  double stage_seconds() const { return now() - next_; }
  // A step that follows the one before it, or begins with its stage, and computes nodes up to the
  // last of `nodes`, which may be none. It has the name of the last one that is no reshape or
  // transpose.
  void add(Span<const XnnNode> nodes, const char* kernel, double seconds);
  // The same for one of several steps that compute a node.
  void add_part(const XnnNode& node, const char* kernel, double seconds);

 private:
  // `result` is the value that a step of `node` computes; without one, both are absent.
  void tell(const XnnNode* node, uint32_t result, const NodeWork& work, const char* kernel,
            double seconds);
  using Clock = std::chrono::steady_clock;
  double now() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  Profiler& profiler_;
  const Subgraph& graph_;
  const Clock::time_point start_;
  double next_ = 0;  // When the next step begins.
  uint32_t count_ = 0;
};

}  // namespace taper::xnnpack
