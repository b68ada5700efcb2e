// Which nodes of a graph leave XNNPACK, since there is something faster than its way.

#pragma once

#include <memory>

#include "backends/xnnpack/runtime/fused_stage.h"
#include "backends/xnnpack/runtime/stage.h"

namespace taper::xnnpack {

// Nodes in a row that one stage of ours computes; none if there are none.
struct OwnPart {
  enum class Kind : uint8_t { kNone, kWinograd, kDepthwise, kGrouped, kFusion, kMove };
  Kind kind = Kind::kNone;
  size_t nodes = 0;
  uint32_t tile = 0;  // Of kWinograd.
  // Of kFusion; of kDepthwise the swish that follows, if one does; of kMove what it reads and
  // makes.
  Fusion fusion;
};

// False where this build or this processor has nothing of the kind.
bool has_own_stages();

// What begins with node `first`. `uses` says of every value how often it is read, or more if it is
// an argument. What the stage takes beyond what the graph itself needs is taken from `spare_bytes`.
OwnPart find_own_part(const Graph& graph, Span<const uint32_t> uses, size_t first,
                      uint64_t& spare_bytes);
Status make_own_stage(const Graph& graph, size_t first, const OwnPart& part, const Shared& shared,
                      std::unique_ptr<Stage>& stage);

}  // namespace taper::xnnpack
