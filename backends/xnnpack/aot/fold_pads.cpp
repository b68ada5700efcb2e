// Joins padding with the window that reads it; see fold_pads.h.

#include "backends/xnnpack/aot/fold_pads.h"

#include <limits>

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

// The paddings of the height and width of a padded image, whichever layout it has.
struct Margins {
  size_t height = 1, width = 2;  // The dimensions.
};

class Folder {
 public:
  explicit Folder(NodeList& list) : list_(list), uses_(list.values.size()) {
    const std::vector<bool> live = list_.live_nodes();
    for (Id id = 0; id < list_.values.size(); ++id) uses_[id] = list_.values[id].is_output ? 2 : 0;
    for (size_t n = 0; n < list_.nodes.size(); ++n) {
      for (const Id id : list_.nodes[n].inputs) {
        if (live[n] && id != kNone) ++uses_[id];
      }
    }
  }

  void run() {
    for (NodeSpec& node : list_.nodes) {
      if (is_window(node) && !fold(node)) fold_before_transpose(node);
    }
  }

 private:
  static bool is_window(const NodeSpec& node) {
    return node.kind == NodeContent::Conv2d || node.kind == NodeContent::DepthwiseConv2d ||
           node.kind == NodeContent::MaxPool2d;
  }

  NodeSpec* maker(Id id, NodeContent kind) {
    const int64_t n = list_.values[id].maker;
    NodeSpec* node = n >= 0 ? &list_.nodes[static_cast<size_t>(n)] : nullptr;
    return node != nullptr && node->kind == kind ? node : nullptr;
  }

  // Whether `pad` adds what the window counts as nothing, in front of it.
  bool is_nothing(const NodeSpec& pad, const NodeSpec& window) const {
    const Quantization &in = list_.values[pad.inputs[0]].quantization,
                       &out = list_.values[pad.output].quantization;
    const bool is_static = in.type == wire::DataType::FP32 || in.type == wire::DataType::QINT8;
    const bool is_pool = window.kind == NodeContent::MaxPool2d;
    const float nothing = is_pool ? -std::numeric_limits<float>::infinity() : 0;
    return pad.number == nothing && is_static && in == out;
  }

  // Adds the padding of the two dimensions to the window's. False, and nothing changes, if it has
  // others or if a window could lie outside the image.
  static bool take(NodeSpec& node, const NodeSpec& pad, const Margins& margins) {
    if (pad.list.size() != 4) return false;
    Window window = node.window;
    for (size_t d = 0; d < 4; ++d) {
      const bool is_margin = d == margins.height || d == margins.width;
      if (!is_margin && pad.list[d] + pad.list2[d] > 0) return false;
    }
    window.padding[0] += pad.list[margins.height];
    window.padding[1] += pad.list2[margins.width];
    window.padding[2] += pad.list2[margins.height];
    window.padding[3] += pad.list[margins.width];
    for (size_t side = 0; side < 4; ++side) {
      const size_t across = side % 2;  // The right and the left side.
      const uint32_t reach = (window.kernel[across] - 1) * window.dilation[across];
      if (window.padding[side] > reach) return false;
    }
    node.window = window;
    return true;
  }

  bool fold(NodeSpec& node) {
    const NodeSpec* pad = maker(node.inputs[0], NodeContent::ConstantPad);
    if (pad == nullptr || !is_nothing(*pad, node) || !take(node, *pad, {1, 2})) return false;
    --uses_[node.inputs[0]];
    node.inputs[0] = pad->inputs[0];
    ++uses_[node.inputs[0]];
    return true;
  }

  // The transpose, which only the window reads, then moves the image without its padding.
  void fold_before_transpose(NodeSpec& node) {
    const Id moved = node.inputs[0];
    NodeSpec* transpose = maker(moved, NodeContent::Transpose);
    if (transpose == nullptr || uses_[moved] != 1) return;
    if (transpose->list != std::vector<uint32_t>{0, 2, 3, 1}) return;
    const NodeSpec* pad = maker(transpose->inputs[0], NodeContent::ConstantPad);
    if (pad == nullptr || !is_nothing(*pad, node) || !take(node, *pad, {2, 3})) return;
    --uses_[transpose->inputs[0]];
    transpose->inputs[0] = pad->inputs[0];
    ++uses_[transpose->inputs[0]];
    const Dims& planes = list_.values[pad->inputs[0]].dims;
    list_.values[moved].dims = {planes[0], planes[2], planes[3], planes[1]};
  }

  NodeList& list_;
  std::vector<uint32_t> uses_;  // Reads of each value, or more if it is a result.
};

}  // namespace

void fold_pads(NodeList& list) { Folder(list).run(); }

}  // namespace taper::xnnpack
