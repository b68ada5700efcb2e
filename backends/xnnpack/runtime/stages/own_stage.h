// Which nodes of a graph leave XNNPACK, since there is something faster than its way.

#pragma once

#include <memory>

#include "backends/xnnpack/runtime/stages/fused_stage.h"
#include "backends/xnnpack/runtime/stages/stage.h"

namespace taper::xnnpack {

// Nodes in a row that one stage of ours computes. `nodes` is 0 if there is no such stage.
struct OwnPart {
  enum class Kind : uint8_t { kNone, kWinograd, kDepthwise, kGrouped, kFusion, kMove };
  Kind kind = Kind::kNone;
  size_t nodes = 0;
  uint32_t tile = 0;  // The tile of kWinograd.
  // What kFusion computes; the swish that follows kDepthwise, if one does; what kMove reads and
  // makes.
  Fusion fusion;
};

// False where this build or this processor has nothing of the kind.
bool has_own_stages();

// What begins with node `first`. `uses` says of every value how often it is read, or more if it is
// an argument. What the stage takes beyond what the graph itself needs is taken from `spare_bytes`.
OwnPart find_own_part(const Subgraph& graph, Span<const uint32_t> uses, size_t first,
                      uint64_t& spare_bytes);
Status make_own_stage(const Subgraph& graph, size_t first, const OwnPart& part,
                      const Shared& shared, std::unique_ptr<Stage>& stage);

}  // namespace taper::xnnpack
