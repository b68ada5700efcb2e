// Follows the nodes one by one; see volume_search.h.

#include "backends/xnnpack/runtime/stages/volume_search.h"

#include "backends/xnnpack/payload_format.h"
#include "backends/xnnpack/runtime/graph/node_kinds.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

constexpr uint32_t kDepth = 1;  // The dimension of the slices.

class Search {
 public:
  Search(const Subgraph& graph, Span<const uint32_t> uses, size_t first)
      : nodes_(graph.nodes()), values_(graph.values()), uses_(uses), next_(first), first_(first) {}

  VolumeNodes run() {
    const XnnNode* pad = take(NodeContent::ConstantPad);
    if (pad != nullptr && !pads_depth(*pad)) return {};
    uint32_t tapped[kMostConcatenated] = {};
    while (const XnnNode* slice = take(NodeContent::Slice)) {
      if (found_.taps_found == kMostConcatenated || !is_tap(*slice, pad)) return {};
      const XnnNode* images = take(NodeContent::Reshape);
      if (images == nullptr || !are_images(*images, *slice)) return {};
      tapped[found_.taps_found++] = images->output;
    }
    const uint32_t taps = found_.taps_found;
    if (taps < 2 || (pad != nullptr && uses_[pad->output] != taps)) return {};
    if (!concatenates(tapped, taps)) return {};
    VolumeNodes result;
    result.count = next_ - first_;
    result.input = pad != nullptr ? pad->inputs[0] : source_;
    result.taps = taps;
    result.dilation = found_.dilation;
    result.padding = found_.padding;
    return result;
  }

 private:
  const XnnNode* take(NodeContent kind) {
    if (next_ == nodes_.size() || nodes_[next_].kind != find_kind(kind)) return nullptr;
    return nodes_[next_].is_needed ? &nodes_[next_++] : nullptr;
  }

  const Shape& shape(uint32_t id) const { return values_[id].shape; }
  bool is_read_once(const XnnNode& node) const { return uses_[node.output] == 1; }

  bool pads_depth(const XnnNode& node) {
    const auto& t = node.as<wire::ConstantPad>();
    if (shape(node.output).rank != 5 || t.value() != 0) return false;
    for (uint32_t d = 0; d < 5; ++d) {
      if (d != kDepth && t.pre()->Get(d) + t.post()->Get(d) != 0) return false;
    }
    found_.padding = t.pre()->Get(kDepth);
    source_ = node.output;
    return true;
  }

  // Whether a slice has the whole of every dimension but the depth, where it begins `dilation`
  // after the one before.
  bool is_tap(const XnnNode& node, const XnnNode* pad) {
    const auto& t = node.as<wire::Slice>();
    if (found_.taps_found == 0 && pad == nullptr) source_ = node.inputs[0];
    if (node.inputs[0] != source_ || t.rank() != 5 || !is_read_once(node)) return false;
    const Shape& from = shape(source_);
    for (uint32_t d = 0; d < 5; ++d) {
      const uint32_t size = t.sizes()->Get(d);
      const bool is_whole = t.offsets()->Get(d) == 0 && size == from.dims[d];
      if (d == 0 ? size != 0 && !is_whole : d == kDepth ? size == 0 : !is_whole) return false;
    }
    const uint32_t offset = t.offsets()->Get(kDepth);
    if (found_.taps_found == 1) found_.dilation = offset;
    return offset == found_.taps_found * found_.dilation &&
           (found_.taps_found == 0) == (offset == 0);
  }

  bool are_images(const XnnNode& node, const XnnNode& slice) const {
    const Shape &from = shape(slice.output), &to = shape(node.output);
    const auto* sizes = node.as<wire::Reshape>().sizes();
    if (node.inputs[0] != slice.output || to.rank != 4 || !is_read_once(node)) return false;
    for (uint32_t d = 1; d < 4; ++d) {
      if (to.dims[d] != from.dims[d + 1] || sizes->Get(d) != to.dims[d]) return false;
    }
    return true;
  }

  bool concatenates(const uint32_t* tapped, uint32_t taps) {
    const XnnNode* joint = take(concatenation_of(taps));
    if (joint == nullptr || joint->as<wire::Concatenate>().axis() != 3 || !is_read_once(*joint)) {
      return false;
    }
    for (uint32_t t = 0; t < taps; ++t) {
      if (joint->inputs[t] != tapped[t]) return false;
    }
    const XnnNode* convolution = take(NodeContent::Conv2d);
    return convolution != nullptr && convolution->inputs[0] == joint->output;
  }

  const Span<const XnnNode> nodes_;
  const Span<const XnnValue> values_;
  const Span<const uint32_t> uses_;
  size_t next_;
  const size_t first_;
  uint32_t source_ = kNone;  // What is sliced.
  struct {
    uint32_t taps_found = 0, dilation = 0, padding = 0;
  } found_;
};

}  // namespace

VolumeNodes find_volume(const Subgraph& graph, Span<const uint32_t> uses, size_t first) {
  return Search(graph, uses, first).run();
}

}  // namespace taper::xnnpack
