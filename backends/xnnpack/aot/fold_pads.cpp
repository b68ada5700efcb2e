// Joins padding with the window that reads it; see fold_pads.h.

#include "backends/xnnpack/aot/fold_pads.h"

#include <limits>

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

class Folder {
 public:
  explicit Folder(NodeList& list) : list_(list), uses_(list.count_reads()) {}

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
    NodeSpec* node = list_.maker(id);
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

  // Adds the padding of two dimensions, of the height and the width, to the window's. False, and
  // nothing changes, if there is other padding or if a window could lie outside the image.
  static bool take(NodeSpec& node, const NodeSpec& pad, size_t height, size_t width) {
    if (pad.list.size() != 4) return false;
    for (size_t d = 0; d < 4; ++d) {
      const bool is_padded = pad.list[d] != 0 || pad.list2[d] != 0;
      if (is_padded && d != height && d != width) return false;
    }
    const uint32_t more[] = {pad.list[height], pad.list2[width], pad.list2[height],
                             pad.list[width]};
    Window window = node.window;
    for (size_t side = 0; side < 4; ++side) {
      const size_t dim = side % 2;  // The right and the left side are those of the width.
      const uint64_t sum = uint64_t{window.padding[side]} + more[side];
      if (sum > uint64_t{window.kernel[dim] - 1} * window.dilation[dim]) return false;
      window.padding[side] = static_cast<uint32_t>(sum);
    }
    node.window = window;
    return true;
  }

  bool fold(NodeSpec& node) {
    const NodeSpec* pad = maker(node.inputs[0], NodeContent::ConstantPad);
    if (pad == nullptr || !is_nothing(*pad, node) || !take(node, *pad, 1, 2)) return false;
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
    if (pad == nullptr || !is_nothing(*pad, node) || !take(node, *pad, 2, 3)) return;
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
