// Weights that have zero points: their differences from them take nine bits, and XNNPACK multiplies
// eight. A layer computes the same sums of integers if its input has some channels more than once:
//
//     x * w  =  [x, x] * [a, w - a]    where a is w within the range of int8

#pragma once

#include <optional>
#include <vector>

#include "backends/xnnpack/aot/payload_writer.h"

namespace taper::xnnpack {

struct WideWeights {
  struct Range {
    int64_t first, count;
  };
  Id weights;                   // int8 without zero points, with more input channels.
  std::vector<Range> repeated;  // The channels of a group that follow all of it, in order.

  // Of a group.
  int64_t more_channels() const {
    int64_t count = 0;
    for (const Range& range : repeated) count += range.count;
    return count;
  }
};

// Adds the weights of a linear layer or a convolution to the list in this form. nullopt if they
// have no zero points, no scale for each output channel, or if the layer is depthwise: twice the
// taps would take longer than floats.
std::optional<WideWeights> split_wide_weights(NodeList& list, const NodeSpec& node);

// Nodes that go before layers of a list, whose places stay as they are until all are known.
class AddedNodes {
 public:
  // Keeps the list.
  explicit AddedNodes(NodeList& list) : list_(list) {}

  // The tensor with the channels of each group that the weights of `layer`, a node of the list,
  // read once more.
  Id repeated(const NodeSpec& layer, Id id, const WideWeights& weights);
  // The result of a new node before `layer`. REQUIRES: layers in the order of the list.
  Id before(const NodeSpec& layer, NodeSpec node, Dims dims, Quantization how);
  // Puts the nodes into the list.
  void insert();

 private:
  struct Added {
    size_t before;
    NodeSpec node;
  };
  Id channels(const NodeSpec& layer, Id id, const WideWeights::Range& range);
  Id reshaped(const NodeSpec& layer, Id id, Dims dims);

  NodeList& list_;
  std::vector<Added> added_;
};

// Whether constants [out, ...], or [in, out, ...] if `channel_dim` is 1, have such a form: whole
// zero points, and scales of output channels.
bool may_be_split(const exir::Value& weights, size_t channel_dim);

}  // namespace taper::xnnpack
