// Decides which nodes of a graph our own stages compute, because they are faster than XNNPACK.

#pragma once

#include <memory>

#include "backends/xnnpack/runtime/stages/attention_stage.h"
#include "backends/xnnpack/runtime/stages/fused/expanded_stage.h"
#include "backends/xnnpack/runtime/stages/fused/fused_stage.h"
#include "backends/xnnpack/runtime/stages/stage.h"
#include "backends/xnnpack/runtime/stages/volume_search.h"
#include "taper/backend_device.h"

namespace taper::xnnpack {

// Consecutive nodes that one of our stages computes. `nodes` is 0 if there is no such stage, and
// XNNPACK computes the node.
struct OwnPart {
  enum class Kind : uint8_t {
    kNone,
    kPlaneConvolution,
    kPlanes,
    kBytePlanes,
    kWinograd,
    kTaps,
    kExpanded,
    kDepthwise,
    kByteDepthwise,
    kGrouped,
    kTransposed,
    kBfloat,
    kProduct,
    kFusion,
    kImageNorm,
    kPlaneLayer,
    kAttention,
    kJoin,
    kMove,
    kTable
  };
  Kind kind = Kind::kNone;
  size_t nodes = 0;
  uint32_t tile = 0;   // The tile of kWinograd.
  VolumeNodes volume;  // What kWinograd reads slices of, if its `count` is not 0.
  // The function of kFusion; what follows kPlanes, kDepthwise or, for kNone, XNNPACK's product, if
  // there is something; the input and output of kImageNorm, kMove and kTable.
  Fusion fusion;
  AttentionNodes attention;
  ExpandedNodes expanded;
};

// False if this build has no such stages, or not for this processor.
bool has_own_stages();

// Whether products are computed in bfloat16 where the program prefers that (bfloat_stage.h): with
// the processor's own instructions or, for Numbers::kRounded, without.
bool computes_in_bfloat(Numbers numbers);

// The part that starts with node `first`. `uses` is the number of reads of each value, or more if
// it is an argument. The memory that the stage needs in addition to the graph itself is subtracted
// from `spare_bytes`. Products are in bfloat16 if `in_bfloat`, and left to XNNPACK if `in_half`,
// since it computes them in float16.
OwnPart find_own_part(const Subgraph& graph, Span<const uint32_t> uses, size_t first, bool in_half,
                      bool in_bfloat, uint64_t& spare_bytes);
Status make_own_stage(const Subgraph& graph, size_t first, const OwnPart& part,
                      const Shared& shared, std::unique_ptr<Stage>& stage);

}  // namespace taper::xnnpack
