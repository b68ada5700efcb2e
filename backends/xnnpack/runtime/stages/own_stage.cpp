// Chooses and creates our stages; see own_stage.h.

#include "backends/xnnpack/runtime/stages/own_stage.h"

#include <new>
#include <utility>

#include "backends/xnnpack/runtime/graph/node_kinds.h"
#include "backends/xnnpack/runtime/stages/arm/product_stage.h"
#include "backends/xnnpack/runtime/stages/bfloat_stage.h"
#include "backends/xnnpack/runtime/stages/bytes/byte_depthwise_stage.h"
#include "backends/xnnpack/runtime/stages/bytes/byte_planes_stage.h"
#include "backends/xnnpack/runtime/stages/depthwise_stage.h"
#include "backends/xnnpack/runtime/stages/fused/epilogue.h"
#include "backends/xnnpack/runtime/stages/fused/image_norm_stage.h"
#include "backends/xnnpack/runtime/stages/fused/plane_convolution_stage.h"
#include "backends/xnnpack/runtime/stages/fused/plane_layer_stage.h"
#include "backends/xnnpack/runtime/stages/grouped_stage.h"
#include "backends/xnnpack/runtime/stages/hand_over.h"
#include "backends/xnnpack/runtime/stages/moves/join_stage.h"
#include "backends/xnnpack/runtime/stages/planes_stage.h"
#include "backends/xnnpack/runtime/stages/taps_stage.h"
#include "backends/xnnpack/runtime/stages/transposed_stage.h"
#include "backends/xnnpack/runtime/stages/winograd_stage.h"
#include "kernels_optimized/cores/gemm.h"

namespace taper::xnnpack {
namespace {

// A part of so many nodes, if its bytes do not exceed the spare bytes, from which they are taken.
OwnPart take_nodes(OwnPart::Kind kind, size_t nodes, uint64_t bytes, uint64_t& spare_bytes) {
  if (bytes > spare_bytes) return {};
  spare_bytes -= bytes;
  OwnPart part;
  part.kind = kind;
  part.nodes = nodes;
  return part;
}

// `PlaneStage`: the one for floats or that for bytes.
template <typename PlaneStage>
OwnPart find_planes(OwnPart::Kind kind, const Subgraph& graph, Span<const uint32_t> uses,
                    size_t first, uint64_t& spare_bytes) {
  const size_t count = PlaneStage::count(graph, uses, first);
  if (count == 0) return {};
  OwnPart part = take_nodes(kind, count, PlaneStage::extra_bytes(graph, first, count), spare_bytes);
  const Fusion next = find_epilogue(graph, uses, first + count - 1);
  if (part.nodes == 0 || next.kind != Fusion::Kind::kFunction) return part;
  part.fusion = next;
  part.nodes += next.nodes;
  return part;
}

OwnPart find_plane_convolution(const Subgraph& graph, Span<const uint32_t> uses, size_t first,
                               uint64_t& spare_bytes) {
  const size_t count = PlaneConvolutionStage::count(graph, uses, first);
  if (count == 0) return {};
  const uint64_t bytes = PlaneConvolutionStage::extra_bytes(graph, first, count);
  return take_nodes(OwnPart::Kind::kPlaneConvolution, count, bytes, spare_bytes);
}

OwnPart find_winograd(const Subgraph& graph, Span<const uint32_t> uses, size_t first,
                      uint64_t& spare_bytes) {
  const VolumeNodes volume = find_volume(graph, uses, first);
  const size_t nodes = volume.count != 0 ? volume.count : 1;
  const XnnNode& node = graph.nodes()[first + nodes - 1];
  const uint32_t tile = WinogradStage::best_tile(node, graph.values());
  if (tile == 0) return {};
  if (volume.count != 0 && node.as<wire::Convolution>().groups() != 1) return {};
  const uint64_t bytes = WinogradStage::extra_bytes(node, tile);
  OwnPart part = take_nodes(OwnPart::Kind::kWinograd, nodes, bytes, spare_bytes);
  part.tile = tile;
  part.volume = volume;
  return part;
}

// A part of one node.
template <typename LayerStage>
OwnPart find_layer(OwnPart::Kind kind, const XnnNode& node, Span<const XnnValue> values,
                   uint64_t& spare_bytes) {
  if (!LayerStage::is_better(node, values)) return {};
  return take_nodes(kind, 1, LayerStage::extra_bytes(node, values), spare_bytes);
}

OwnPart find_depthwise(const Subgraph& graph, Span<const uint32_t> uses, size_t first,
                       bool in_half) {
  const XnnNode& node = graph.nodes()[first];
  if (!DepthwiseStage::is_better(node, graph.values(), in_half)) return {};
  OwnPart part;
  part.kind = OwnPart::Kind::kDepthwise;
  part.fusion = find_swish(graph, uses, first);
  part.nodes = 1 + part.fusion.nodes;
  return part;
}

OwnPart find_expanded(const Subgraph& graph, Span<const uint32_t> uses, size_t first,
                      uint64_t& spare_bytes) {
  const ExpandedNodes nodes = ExpandedStage::find(graph, uses, first);
  if (nodes.count == 0) return {};
  const uint64_t bytes = ExpandedStage::extra_bytes(graph.nodes()[first], graph.values());
  OwnPart part = take_nodes(OwnPart::Kind::kExpanded, nodes.count, bytes, spare_bytes);
  part.expanded = nodes;
  return part;
}

OwnPart find_image_norm(const XnnNode& node, Span<const XnnValue> values) {
  OwnPart part;
  if (!ImageNormStage::is_better(node, values)) return part;
  part.kind = OwnPart::Kind::kImageNorm;
  part.nodes = 1;
  part.fusion.inputs[0] = node.inputs[0];
  part.fusion.output = node.output;
  return part;
}

OwnPart attention_part(const Subgraph& graph, Span<const uint32_t> uses, size_t first) {
  OwnPart part;
  part.attention = find_attention(graph, uses, first);
  part.nodes = part.attention.count;
  if (part.nodes > 0) part.kind = OwnPart::Kind::kAttention;
  return part;
}

// Creates a stage, which stays null without memory, and builds it.
template <typename Made, typename... Args>
Status build(std::unique_ptr<Stage>& stage, Args&&... args) {
  auto* made = new (std::nothrow) Made();
  stage.reset(made);
  return made != nullptr ? made->build(std::forward<Args>(args)...) : Status();
}

}  // namespace

bool has_own_stages() { return optimized::has_vectors(); }

OwnPart find_own_part(const Subgraph& graph, Span<const uint32_t> uses, size_t first, bool in_half,
                      bool in_bfloat, uint64_t& spare_bytes) {
  if (!has_own_stages()) return {};
  const XnnNode& node = graph.nodes()[first];
  const Span<const XnnValue> values = graph.values();
  using Kind = OwnPart::Kind;
  OwnPart part;
  if (!in_half && !in_bfloat) part = find_plane_convolution(graph, uses, first, spare_bytes);
  if (part.nodes == 0) {
    part = find_planes<PlanesStage>(Kind::kPlanes, graph, uses, first, spare_bytes);
  }
  if (part.nodes == 0) {
    part = find_planes<BytePlanesStage>(Kind::kBytePlanes, graph, uses, first, spare_bytes);
  }
  if (part.nodes == 0) part = find_layer<TapsStage>(Kind::kTaps, node, values, spare_bytes);
  if (part.nodes == 0 && in_bfloat) {
    part = find_layer<BfloatStage>(Kind::kBfloat, node, values, spare_bytes);
  }
  if (part.nodes == 0) part = find_winograd(graph, uses, first, spare_bytes);
  if (part.nodes == 0 && !in_half) part = find_expanded(graph, uses, first, spare_bytes);
  if (part.nodes == 0) part = find_depthwise(graph, uses, first, in_half);
  if (part.nodes == 0) {
    part = find_layer<ByteDepthwiseStage>(Kind::kByteDepthwise, node, values, spare_bytes);
  }
  if (part.nodes == 0) part = find_layer<GroupedStage>(Kind::kGrouped, node, values, spare_bytes);
  if (part.nodes == 0) {
    part = find_layer<TransposedStage>(Kind::kTransposed, node, values, spare_bytes);
  }
  if (part.nodes == 0) part = find_image_norm(node, values);
  if (part.nodes == 0 && !in_half) {
    part =
        take_nodes(Kind::kPlaneLayer, PlaneLayerStage::count(graph, uses, first), 0, spare_bytes);
  }
  if (part.nodes == 0) part = attention_part(graph, uses, first);
  if (part.nodes == 0 && !in_half) {
    part = find_layer<ProductStage>(Kind::kProduct, node, values, spare_bytes);
  }
  if (part.nodes == 0 && !in_half) {
    part = find_layer<JoinStage>(Kind::kJoin, node, values, spare_bytes);
  }
  if (part.nodes > 0) return part;
  part.fusion = find_fusion(graph, uses, first);
  part.nodes = part.fusion.nodes;
  if (part.nodes > 0) {
    part.kind = Kind::kFusion;
  } else if (!in_half) {
    const Fusion epilogue = find_epilogue(graph, uses, first);
    if (epilogue.nodes > 0 && has_tiles(node, values, epilogue)) part.fusion = epilogue;
  }
  return part;
}

Status make_own_stage(const Subgraph& graph, size_t first, const OwnPart& part,
                      const Shared& shared, std::unique_ptr<Stage>& stage) {
  const XnnNode& node = graph.nodes()[first];
  const Span<const XnnValue> values = graph.values();
  const XnnNode& last = graph.nodes()[first + part.nodes - 1];
  const pthreadpool_t pool = pool_for(graph, first, first + part.nodes, shared);
  Status status;
  if (part.kind == OwnPart::Kind::kPlaneConvolution) {
    status = build<PlaneConvolutionStage>(stage, graph, first, part.nodes, pool);
  } else if (part.kind == OwnPart::Kind::kPlanes) {
    const size_t nodes = part.nodes - part.fusion.nodes;
    status = build<PlanesStage>(stage, graph, first, nodes, part.fusion, pool);
  } else if (part.kind == OwnPart::Kind::kBytePlanes) {
    status = build<BytePlanesStage>(stage, graph, first, part.nodes, pool);
  } else if (part.kind == OwnPart::Kind::kWinograd) {
    status = build<WinogradStage>(stage, last, values, part.tile, part.volume, shared);
  } else if (part.kind == OwnPart::Kind::kTaps) {
    status = build<TapsStage>(stage, node, values, pool);
  } else if (part.kind == OwnPart::Kind::kExpanded) {
    status = build<ExpandedStage>(stage, graph, first, part.expanded, shared, pool);
  } else if (part.kind == OwnPart::Kind::kDepthwise) {
    stage.reset(new (std::nothrow) DepthwiseStage(node, values, part.fusion, pool));
  } else if (part.kind == OwnPart::Kind::kByteDepthwise) {
    status = build<ByteDepthwiseStage>(stage, node, values, pool);
  } else if (part.kind == OwnPart::Kind::kGrouped) {
    status = build<GroupedStage>(stage, node, values, pool);
  } else if (part.kind == OwnPart::Kind::kTransposed) {
    status = build<TransposedStage>(stage, node, values, pool);
  } else if (part.kind == OwnPart::Kind::kBfloat) {
    status = build<BfloatStage>(stage, node, values, shared);
  } else if (part.kind == OwnPart::Kind::kProduct) {
    status = build<ProductStage>(stage, node, values, shared);
  } else if (part.kind == OwnPart::Kind::kImageNorm) {
    stage.reset(new (std::nothrow) ImageNormStage(node, values, shared.pool));
  } else if (part.kind == OwnPart::Kind::kPlaneLayer) {
    stage.reset(new (std::nothrow) PlaneLayerStage(graph, first, pool));
  } else if (part.kind == OwnPart::Kind::kJoin) {
    stage.reset(new (std::nothrow) JoinStage(node, pool));
  } else if (part.kind == OwnPart::Kind::kAttention) {
    stage.reset(new (std::nothrow) AttentionStage(part.attention, shared.pool));
  } else {
    stage.reset(new (std::nothrow) FusedStage(part.fusion, shared.pool));
  }
  TAPER_REQUIRE(stage != nullptr, Error::kDelegateMemoryAllocationFailed,
                "there is no memory for the stages of the XNNPACK graph");
  return status;
}

}  // namespace taper::xnnpack
