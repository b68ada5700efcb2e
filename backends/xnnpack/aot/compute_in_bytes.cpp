// Turns float nodes between quantised tensors into int8 nodes; see compute_in_bytes.h.

#include "backends/xnnpack/aot/compute_in_bytes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>

#include "backends/xnnpack/aot/bytes/byte_tables.h"
#include "backends/xnnpack/aot/bytes/wide_weights.h"
#include "backends/xnnpack/aot/weight_forms.h"
#include "backends/xnnpack/payload_format.h"
#include "exir/ir/scales.h"

namespace taper::xnnpack {
namespace {

using wire::DataType;
using wire::NodeContent;

// Whether a node moves or selects elements, so that its result has the scale of its inputs.
bool moves(const NodeSpec& node) {
  switch (node.kind) {
    case NodeContent::Transpose:
    case NodeContent::Reshape:
    case NodeContent::Slice:
    case NodeContent::MaxPool2d:
    case NodeContent::Copy:
      return true;
    case NodeContent::ConstantPad:
      return node.number == 0;
    default:
      return is_concatenation(node.kind);
  }
}

// Whether a node computes a function of each element that is a number for every number: XNNPACK
// looks up the results for all bytes in a table.
bool is_function(NodeContent kind) {
  switch (kind) {
    case NodeContent::Abs:
    case NodeContent::Ceiling:
    case NodeContent::Cos:
    case NodeContent::Elu:
    case NodeContent::Exp:
    case NodeContent::Floor:
    case NodeContent::Gelu:
    case NodeContent::Hardswish:
    case NodeContent::LeakyRelu:
    case NodeContent::Negate:
    case NodeContent::Sigmoid:
    case NodeContent::Sin:
    case NodeContent::Square:
    case NodeContent::Tanh:
      return true;
    default:
      return false;
  }
}

// Whether XNNPACK has an int8 version of a node, for any scales within bounds.
bool computes_in_bytes(NodeContent kind) {
  switch (kind) {
    case NodeContent::Add:
    case NodeContent::Subtract:
    case NodeContent::Multiply:
    case NodeContent::Clamp:
    case NodeContent::GlobalAvgPool2d:
      return true;
    default:
      return has_weights(kind) || is_function(kind);
  }
}

// Whether bytes are no slower than floats.
bool pays_in_bytes(const NodeSpec& node) {
  return node.kind == NodeContent::DepthwiseConv2d || node.window.groups <= 1 ||
         node.window.group_out >= kFewestChannels;
}

class Converter {
 public:
  Converter(NodeList& list, const ByteOptions& options)
      : list_(list), weights_(list), added_(list), options_(options) {}

  void run() {
    if (!any_bytes()) return;
    count_readers();
    for (size_t i = 0; i < list_.nodes.size(); ++i) rise(i);
    settle();
    count_readers();
    sink();
    count_readers();
    const size_t count = list_.nodes.size();
    for (size_t i = 0; i < count; ++i) fold(list_.nodes[i]);
    added_.insert();
    settle();
    count_readers();
    for (NodeSpec& node : list_.nodes) fuse_clamp(node);
    settle();
    if (options_.takes_tables) use_byte_tables(list_);
    count_readers();
    for (NodeSpec& node : list_.nodes) node.why_floats = why_floats(node);
  }

 private:
  ValueSpec& value(Id id) { return list_.values[id]; }
  bool is_bytes(Id id) { return value(id).quantization.type == DataType::QINT8; }
  double scale(Id id) { return value(id).quantization.scale; }
  bool is_convert(const NodeSpec& node) { return node.kind == NodeContent::Convert; }

  bool any_bytes() {
    return std::any_of(list_.values.begin(), list_.values.end(), [](const ValueSpec& each) {
      return each.quantization.type != DataType::FP32 || each.made_from != nullptr;
    });
  }

  // The bytes from which the floats `id` were converted; kNone if they were not.
  Id source(Id id) {
    if (value(id).maker < 0 || is_bytes(id)) return kNone;
    const NodeSpec& node = list_.nodes[static_cast<size_t>(value(id).maker)];
    return is_convert(node) && is_bytes(node.inputs[0]) ? node.inputs[0] : kNone;
  }

  // A clamp of bytes that no other node reads becomes the output range of the node before it.
  void fuse_clamp(NodeSpec& node) {
    if (node.kind != NodeContent::Clamp || !is_bytes(node.output)) return;
    const Id id = node.inputs[0];
    if (value(id).maker < 0 || value(id).is_output || readers_[id].size() != 1) return;
    NodeSpec& maker = list_.nodes[static_cast<size_t>(value(id).maker)];
    const bool takes = has_weights(maker.kind) || maker.kind == NodeContent::Add;
    if (takes) take_range(node, maker);
  }

  // The clamp `node` behind `maker` is left out if its range is not beyond what the maker gives.
  void take_range(NodeSpec& node, NodeSpec& maker) {
    if (std::max(maker.min, node.min) >= std::min(maker.max, node.max)) return;
    maker.min = std::max(maker.min, node.min);
    maker.max = std::min(maker.max, node.max);
    maker.output = node.output;
    value(node.output).maker = &maker - list_.nodes.data();
    node.kind = NodeContent::NONE;
  }

  // Whether XNNPACK can convert between the scales.
  bool converts(Id from, Id to) {
    const double ratio = scale(from) / scale(to);
    return ratio >= 0x1p-8 && ratio < 0x1p7;
  }

  // ---- A Convert to bytes goes before nodes that only change sizes or order. ----

  // What has one input whose elements it keeps; it becomes a move of bytes.
  static bool keeps_elements(const NodeSpec& node) {
    return node.kind == NodeContent::Transpose || node.kind == NodeContent::Reshape ||
           node.kind == NodeContent::Copy;
  }

  // Values that rise() made are, but have not been counted.
  bool is_read_once(Id id) {
    return id >= readers_.size() || (readers_[id].size() == 1 && !value(id).is_output);
  }

  // Whether a slice leaves out at most half of a tensor that nothing else reads.
  bool trims(const NodeSpec& node) {
    if (node.kind != NodeContent::Slice || !is_read_once(node.inputs[0])) return false;
    const Dims &all = value(node.inputs[0]).dims, &kept = value(node.output).dims;
    double share = 1;
    for (size_t d = 0; d < all.size(); ++d) {
      if (all[d] == kept[d]) continue;
      if (!all[d].is_int() || !kept[d].is_int()) return false;
      share *= static_cast<double>(kept[d].as_int()) / static_cast<double>(all[d].as_int());
    }
    return share >= 0.5;
  }

  // Exchanges the Convert in place `i`, or a clamp that may be before one, and the moves before it
  // whose results nothing else reads.
  void rise(size_t i) {
    const auto rises = [&](const NodeSpec& node) {
      return is_bytes(node.output) ? is_convert(node) : node.kind == NodeContent::Clamp;
    };
    while (rises(list_.nodes[i])) {
      NodeSpec& node = list_.nodes[i];
      const Id moved = node.inputs[0];
      if (value(moved).maker < 0 || !is_read_once(moved)) return;
      const auto maker = static_cast<size_t>(value(moved).maker);
      NodeSpec& move = list_.nodes[maker];
      if (!keeps_elements(move) && !trims(move)) return join_clamp(node, move);
      if (is_bytes(move.inputs[0])) return;
      ValueSpec made;
      made.dims = value(move.inputs[0]).dims;
      made.quantization = value(node.output).quantization;
      made.maker = static_cast<int64_t>(maker);
      list_.values.push_back(std::move(made));
      const Id between = static_cast<Id>(list_.values.size()) - 1;
      node.inputs[0] = move.inputs[0];
      move.inputs[0] = between;
      move.output = node.output;
      node.output = between;
      std::swap(move, node);
      value(list_.nodes[i].output).maker = static_cast<int64_t>(i);
      i = maker;
    }
  }

  // A clamp of floats becomes the output range of the node that makes its input.
  void join_clamp(NodeSpec& node, NodeSpec& maker) {
    const bool takes = has_weights(maker.kind) || maker.kind == NodeContent::Add;
    if (node.kind != NodeContent::Clamp || !takes) return;
    take_range(node, maker);
  }

  // ---- Nodes that move elements go before the Convert to floats. ----

  void append(NodeSpec node) {
    value(node.output).maker = static_cast<int64_t>(list_.nodes.size());
    list_.nodes.push_back(std::move(node));
  }

  void sink() {
    std::vector<NodeSpec> old;
    old.swap(list_.nodes);
    // Makers are set again by append().
    for (ValueSpec& each : list_.values) each.maker = -1;
    same_.resize(list_.values.size());
    for (Id id = 0; id < same_.size(); ++id) same_[id] = id;
    for (NodeSpec& node : old) {
      for (Id& id : node.inputs) id = id == kNone ? id : same_[id];
      if (is_convert(node) && is_bytes(node.output)) {
        sink_convert(std::move(node));
        continue;
      }
      repeat(node);
      if (moves(node) && move_bytes(node)) continue;
      append(std::move(node));
    }
  }

  // A Convert to bytes reads the bytes from which the floats were converted, if it can.
  void sink_convert(NodeSpec node) {
    const Id from = source(node.inputs[0]);
    if (from != kNone && value(from).quantization == value(node.output).quantization &&
        !value(node.output).is_output && node.output < same_.size()) {
      same_[node.output] = from;
      return;
    }
    if (from != kNone && converts(from, node.output)) node.inputs[0] = from;
    if (from == kNone && join_bytes(node)) return;
    append(std::move(node));
  }

  // A Convert behind a concatenation of floats that nothing else reads goes before it, to each of
  // the tensors, which may be bytes of several scales or results of layers. Only a table changes
  // scales as PyTorch does.
  bool join_bytes(const NodeSpec& node) {
    const Id floats = node.inputs[0];
    if (!options_.takes_tables || value(floats).maker < 0 || !is_read_once(floats)) return false;
    NodeSpec joined = list_.nodes[static_cast<size_t>(value(floats).maker)];
    if (!is_concatenation(joined.kind)) return false;
    for (Id& id : joined.inputs) id = as_bytes(id, node);
    joined.output = node.output;
    append(std::move(joined));
    return true;
  }

  // The floats in the steps of what `node` converts to, from which all are converted alike.
  Id as_bytes(Id floats, const NodeSpec& node) {
    const Id from = source(floats);
    if (from != kNone && value(from).quantization == value(node.output).quantization) return from;
    NodeSpec convert = node;
    convert.inputs = {floats};
    convert.output = add_value(Dims(value(floats).dims), value(node.output).quantization);
    const Id made = convert.output;
    sink_convert(std::move(convert));
    return made;
  }

  Id add_value(Dims dims, Quantization how) {
    ValueSpec made;
    made.dims = std::move(dims);
    made.quantization = std::move(how);
    list_.values.push_back(std::move(made));
    return static_cast<Id>(list_.values.size()) - 1;
  }

  // A product of bytes with a column of ones, which is how tensors of floats are repeated, becomes
  // a concatenation.
  void repeat(NodeSpec& node) {
    if (node.kind != NodeContent::Multiply || source(node.inputs[0]) == kNone) return;
    const ValueSpec& ones = value(node.inputs[1]);
    const Dims &once = value(node.inputs[0]).dims, &repeated = value(node.output).dims;
    if (ones.constant == 0 || ones.dims.size() != 2 || once.size() != 3) return;
    if (!(once[1] == exir::Sym(1)) || !(ones.dims[0] == repeated[1])) return;
    if (!(ones.dims[1] == exir::Sym(1)) || !(once[2] == repeated[2])) return;
    const exir::TensorData& data = list_.data(node.inputs[1]);
    const size_t times = data.bytes / sizeof(float);
    const auto* factors = reinterpret_cast<const float*>(data.data);
    if (times < 2 || times > kMostConcatenated ||
        std::count(factors, factors + times, 1.0f) != static_cast<ptrdiff_t>(times)) {
      return;
    }
    node.kind = concatenation_of(times);
    node.inputs.assign(times, node.inputs[0]);
    node.list = {1};
  }

  // Moves bytes instead of floats. False if the inputs were not all converted from one scale.
  bool move_bytes(const NodeSpec& node) {
    const Id first = source(node.inputs[0]);
    for (const Id id : node.inputs) {
      const Id from = source(id);
      if (from == kNone || value(from).quantization != value(first).quantization) return false;
    }
    NodeSpec moved = node, back;
    for (Id& id : moved.inputs) id = source(id);
    moved.output =
        add_value(Dims(value(node.output).dims), Quantization(value(first).quantization));
    back.kind = NodeContent::Convert;
    back.inputs = {moved.output};
    back.output = node.output;
    append(std::move(moved));
    append(std::move(back));
    return true;
  }

  // ---- Nodes between bytes compute with bytes. ----

  void count_readers() {
    readers_.assign(list_.values.size(), {});
    const std::vector<bool> live = list_.live_nodes();
    for (size_t i = 0; i < list_.nodes.size(); ++i) {
      for (const Id id : list_.nodes[i].inputs) {
        if (live[i] && id != kNone) readers_[id].push_back(i);
      }
    }
  }

  // The node that converts the value to bytes, if no other node reads the value.
  NodeSpec* sink_of(Id id) {
    if (id >= readers_.size() || readers_[id].size() != 1 || value(id).is_output) return nullptr;
    NodeSpec& node = list_.nodes[readers_[id][0]];
    return is_convert(node) && is_bytes(node.output) ? &node : nullptr;
  }

  void fold(NodeSpec& node) {
    if (node.kind == NodeContent::AvgPool2d) return fold_pool(node);
    if (!computes_in_bytes(node.kind)) return;
    if (value(node.inputs[0]).quantization.type == DataType::QDINT8) return fold_rows(node);
    if (!fold_between(node)) weights_.take_packed(node, false);
  }

  // Whether the node computes with bytes now, between Converts of a fixed scale.
  bool fold_between(NodeSpec& node) {
    NodeSpec* last = sink_of(node.output);
    if (last == nullptr) return false;
    const size_t count = has_weights(node.kind) ? 1 : node.inputs.size();
    std::vector<Id> inputs = node.inputs;
    for (size_t i = 0; i < count; ++i) inputs[i] = source(inputs[i]);
    if (std::count(inputs.begin(), inputs.begin() + static_cast<ptrdiff_t>(count), kNone) > 0) {
      return false;
    }
    if (node.kind == NodeContent::Clamp) {
      fold_clamp(node, inputs[0], *last);
      return true;
    }
    if (!pays_in_bytes(node) || !fits(node, inputs, last->output)) return false;
    if (has_weights(node.kind) && !take_weights(node, inputs, scale(last->output))) return false;
    node.inputs = std::move(inputs);
    node.output = last->output;
    last->kind = NodeContent::NONE;  // settle() drops it.
    return true;
  }

  // Replaces the weights and the bias in `inputs` by integers, for results in steps of `out`.
  bool take_weights(NodeSpec& node, std::vector<Id>& inputs, double out) {
    const bool splits = options_.splits_weights || node.kind == NodeContent::FullyConnected;
    const std::optional<WideWeights> wide = splits ? split_wide_weights(list_, node) : std::nullopt;
    if (!wide) return weights_.take_weights(node, inputs, out);
    NodeSpec split = node;
    split.inputs[1] = wide->weights;
    if (!weights_.take_weights(split, inputs, out)) return false;
    read_wide(node, *wide);
    inputs[0] = added_.repeated(node, inputs[0], *wide);
    return true;
  }

  void read_wide(NodeSpec& node, const WideWeights& wide) {
    node.window.group_in += static_cast<uint32_t>(wide.more_channels());
    node.has_wide_weights = true;
  }

  // An average pool becomes a depthwise convolution whose weights are ones in steps of 1/n:
  // XNNPACK has no int8 pool, but int8 kernels of such convolutions of up to 25 taps. Where windows
  // reach beyond the image, their means are of fewer pixels.
  void fold_pool(NodeSpec& node) {
    constexpr uint32_t kMostTaps = 25;
    Window& w = node.window;
    const uint32_t taps = w.kernel[0] * w.kernel[1];
    const bool pads = std::any_of(w.padding, w.padding + 4, [](uint32_t n) { return n != 0; });
    const Id from = source(node.inputs[0]);
    NodeSpec* last = sink_of(node.output);
    if (pads || taps > kMostTaps || from == kNone || last == nullptr) return;
    const exir::Sym channels = value(from).dims.back();
    const float step = 1 / static_cast<float>(taps);
    const double ratio = scale(from) * step / scale(last->output);
    if (!channels.is_int() || !(ratio >= 0x1p-32 && ratio < 256)) return;
    const auto count = static_cast<size_t>(channels.as_int());
    w.groups = static_cast<uint32_t>(count);
    w.group_in = w.group_out = 1;
    w.dilation[0] = w.dilation[1] = 1;
    const Dims dims = {exir::Sym(1), exir::Sym(int64_t{w.kernel[0]}),
                       exir::Sym(int64_t{w.kernel[1]}), channels};
    node.kind = NodeContent::DepthwiseConv2d;
    node.output = last->output;
    last->kind = NodeContent::NONE;  // settle() drops it.
    node.inputs = {from,
                   weights_.with_steps(dims, exir::own_bytes(std::vector<uint8_t>(taps * count, 1)),
                                       {step}, 3, DataType::QINT8, DataType::QCINT8)};
  }

  // Why a node that could have become an int8 node computes in floats; empty if it is one, or if
  // nothing around it is quantised.
  std::string why_floats(const NodeSpec& node) {
    const auto is_float = [&](Id id) { return value(id).quantization.type == DataType::FP32; };
    if (is_convert(node) || !is_float(node.output)) return "";
    const bool weighted = has_weights(node.kind);
    if (!is_float(node.inputs[0]) || (weighted && !is_float(node.inputs[1]))) return "";
    const auto from_bytes = [&](Id id) { return id != kNone && source(id) != kNone; };
    const ptrdiff_t count = weighted ? 1 : static_cast<ptrdiff_t>(node.inputs.size());
    const auto converted = std::count_if(&node.inputs[0], &node.inputs[0] + count, from_bytes);
    const bool is_sunk = sink_of(node.output) != nullptr;
    const auto* made = weighted ? value(node.inputs[1]).made_from.get() : nullptr;
    if (converted == 0 && !is_sunk) return "";  // Its weights alone may be.
    if (moves(node)) return converted == count && count > 1 ? "its inputs differ in scale" : "";
    if (!computes_in_bytes(node.kind)) return "XNNPACK has no int8 form of it";
    const auto* integers = weighted ? value(node.inputs[1]).integers.get() : nullptr;
    const bool has_zero_points = integers != nullptr && !integers->zero_points.empty();
    if (has_zero_points || (made != nullptr && !exir::is_symmetric(*made))) {
      return "its weights have zero points";
    }
    if (weighted && made == nullptr) {
      return integers == nullptr ? "its weights are not quantised"
                                 : "its weights have scales that are not of its output channels";
    }
    if (!pays_in_bytes(node)) return "floats are faster for the few channels of its groups";
    if (converted < count) return "an input is not quantised";
    if (!is_sunk) return "its result is not quantised, or not for all readers alike";
    return "its scales, weights or bias are beyond the bounds of int8 arithmetic";
  }

  // Converts a layer whose input is quantised at run time. If the weights have no form in bytes, it
  // reads the input from before its quantisation.
  void fold_rows(NodeSpec& node) {
    if (weights_.take_packed(node, true) || weights_.take_filter(node)) return;
    if (fold_wide_rows(node)) return;
    node.inputs[0] = list_.nodes[static_cast<size_t>(value(node.inputs[0]).maker)].inputs[0];
    weights_.take_packed(node, false);
  }

  // A convolution whose weights have zero points reads some channels again; they are quantised
  // together with the others.
  bool fold_wide_rows(NodeSpec& node) {
    const std::optional<WideWeights> wide = split_wide_weights(list_, node);
    if (!wide) return false;
    NodeSpec split = node;
    split.inputs[1] = wide->weights;
    if (!weights_.take_filter(split)) return false;
    const Id rows = node.inputs[0];
    NodeSpec convert = list_.nodes[static_cast<size_t>(value(rows).maker)];
    convert.inputs = {added_.repeated(node, convert.inputs[0], *wide)};
    Dims dims = value(convert.inputs[0]).dims;
    split.inputs[0] = added_.before(node, std::move(convert), std::move(dims),
                                    Quantization(value(rows).quantization));
    node.inputs = std::move(split.inputs);
    read_wide(node, *wide);
    return true;
  }

  // Whether a bound is a whole number of steps, or none.
  bool is_step(float bound, Id id) {
    const double steps = static_cast<double>(bound) / scale(id);
    return !std::isfinite(bound) || std::abs(steps - std::nearbyint(steps)) < 1e-5;
  }

  // Clamps bytes in their own scale, before they are converted if the result has another scale; in
  // that scale if bounds would have to be rounded to steps before.
  void fold_clamp(NodeSpec& node, Id from, NodeSpec& last) {
    if (value(from).quantization == value(last.output).quantization) {
      node.inputs = {from};
      node.output = last.output;
      last.kind = NodeContent::NONE;
    } else if (converts(from, last.output)) {
      const bool is_first = is_step(node.min, from) && is_step(node.max, from);
      node.inputs = {from};
      value(node.output).quantization = value(is_first ? from : last.output).quantization;
      if (is_first) return;
      std::swap(node.kind, last.kind);
      std::swap(node.min, last.min);
      std::swap(node.max, last.max);
    }
  }

  // Whether the scales are within the bounds of XNNPACK's arithmetic.
  bool fits(const NodeSpec& node, const std::vector<Id>& inputs, Id output) {
    const auto within = [](double ratio, double least, double most) {
      return ratio >= least && ratio < most;
    };
    const double out = scale(output);
    switch (node.kind) {
      case NodeContent::Add:
      case NodeContent::Subtract:
        return within(scale(inputs[0]) / out, 0x1p-10, 0x1p8) &&
               within(scale(inputs[1]) / out, 0x1p-10, 0x1p8);
      case NodeContent::Multiply:
        return within(scale(inputs[0]) * scale(inputs[1]) / out, 0x1p-16, 0x1p8);
      case NodeContent::GlobalAvgPool2d:
        return within(scale(inputs[0]) / out, 0x1p-8, 0x1p8);
      case NodeContent::LeakyRelu: {  // Its factors have eight bits behind the point, no table.
        const double ratio = scale(inputs[0]) / out;
        return within(ratio, 0x1p-8, 0x1p7) && within(std::abs(ratio * node.number), 0x1p-8, 127);
      }
      default:
        return true;
    }
  }

  // Removes nodes of kind NONE and updates the makers.
  void settle() {
    auto& nodes = list_.nodes;
    const auto gone = [](const NodeSpec& node) { return node.kind == NodeContent::NONE; };
    nodes.erase(std::remove_if(nodes.begin(), nodes.end(), gone), nodes.end());
    for (size_t i = 0; i < nodes.size(); ++i) {
      value(nodes[i].output).maker = static_cast<int64_t>(i);
    }
  }

  NodeList& list_;
  ByteWeights weights_;
  AddedNodes added_;
  const ByteOptions options_;
  std::vector<std::vector<size_t>> readers_;
  std::vector<Id> same_;  // While nodes sink: the value that each of those before is.
};

}  // namespace

void compute_in_bytes(NodeList& list, const ByteOptions& options) {
  Converter(list, options).run();
}

}  // namespace taper::xnnpack
