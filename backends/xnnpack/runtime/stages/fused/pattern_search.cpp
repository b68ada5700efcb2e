// Matches the nodes that ExecuTorch's exporter writes for norms, swish and softmax; see
// pattern_search.h.

#include "backends/xnnpack/runtime/stages/fused/pattern_search.h"

#include <algorithm>

#include "backends/xnnpack/runtime/graph/node_kinds.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

// Reads nodes one after another, as long as they match a pattern.
class Reader {
 public:
  Reader(const Subgraph& graph, Span<const uint32_t> uses, size_t first)
      : nodes_(graph.nodes()), values_(graph.values()), uses_(uses), first_(first), next_(first) {}

  // The next node, if it is of that kind, computes floats and has no bounds; null otherwise.
  const XnnNode* take(NodeContent kind) {
    const XnnNode* node = peek(kind);
    if (node == nullptr || has_bounds(*node)) return nullptr;
    ++next_;
    return node;
  }
  // The next node, if it is of that kind and computes floats, with or without bounds; null
  // otherwise. Does not advance.
  const XnnNode* peek(NodeContent kind) const {
    if (next_ >= nodes_.size()) return nullptr;
    const XnnNode& node = nodes_[next_];
    if (!node.is_needed || node.kind != find_kind(kind)) return nullptr;
    return value(node.output).type == wire::DataType::FP32 ? &node : nullptr;
  }
  size_t taken() const { return next_ - first_; }

  const XnnValue& value(uint32_t id) const { return values_[id]; }
  // True if the result of a node is read that often and is not an argument.
  bool is_read(uint32_t id, uint32_t times) const { return uses_[id] == times; }
  bool is_read(const XnnNode* node, uint32_t times) const { return is_read(node->output, times); }
  // The other operand of a binary node; kNone if `id` is neither operand.
  static uint32_t other(const XnnNode* node, uint32_t id) {
    if (node->inputs[0] == id) return node->inputs[1];
    return node->inputs[1] == id ? node->inputs[0] : kNone;
  }
  // The data of a constant of `count` floats; null if it is something else.
  const float* constant(uint32_t id, uint64_t count) const {
    if (id == kNone) return nullptr;
    const XnnValue& v = value(id);
    if (v.data == nullptr || v.type != wire::DataType::FP32) return nullptr;
    if (element_count(v.shape) != count) return nullptr;
    if (count > 1 && v.shape.last() != count) return nullptr;
    return floats_of(v);
  }

 private:
  Span<const XnnNode> nodes_;
  Span<const XnnValue> values_;
  Span<const uint32_t> uses_;
  size_t first_, next_;
};

Fusion find_swish(Reader nodes) {
  const XnnNode* share = nodes.take(NodeContent::Sigmoid);
  const XnnNode* product = share != nullptr ? nodes.take(NodeContent::Multiply) : nullptr;
  if (product == nullptr || !nodes.is_read(share, 1)) return {};
  const uint32_t x = share->inputs[0];
  if (Reader::other(product, share->output) != x) return {};
  Fusion fusion;
  fusion.kind = Fusion::Kind::kFunction;
  fusion.function = optimized::Function::kSwish;
  fusion.nodes = nodes.taken();
  fusion.inputs[0] = x;
  fusion.output = product->output;
  return fusion;
}

// A batch norm that was not folded into a convolution, with its clamp.
Fusion find_scale(Reader nodes) {
  const XnnNode* product = nodes.take(NodeContent::Multiply);
  const XnnNode* sum = product != nullptr ? nodes.peek(NodeContent::Add) : nullptr;
  if (sum == nullptr || !nodes.is_read(product, 1)) return {};
  const Shape& shape = nodes.value(product->output).shape;
  const uint32_t added = Reader::other(sum, product->output);
  if (shape.rank == 0 || shape.last() < 2 || nodes.value(sum->output).shape != shape) return {};
  Fusion fusion;
  fusion.bias = nodes.constant(added, shape.last());
  for (size_t i = 0; i < 2 && fusion.weight == nullptr; ++i) {
    fusion.weight = nodes.constant(product->inputs[i], shape.last());
    fusion.inputs[0] = product->inputs[1 - i];
  }
  if (fusion.weight == nullptr || fusion.bias == nullptr ||
      nodes.value(fusion.inputs[0]).shape != shape) {
    return {};
  }
  fusion.kind = Fusion::Kind::kScale;
  fusion.nodes = nodes.taken() + 1;
  fusion.output = sum->output;
  fusion.min = sum->min;
  fusion.max = sum->max;
  return fusion;
}

// The dimension that a transpose swaps with the last one; kNone if it does something else.
uint32_t swapped_with_last(const XnnNode& node) {
  const auto& perm = *node.as<wire::Transpose>().perm();
  const uint32_t last = perm.size() - 1, axis = perm.Get(last);
  for (uint32_t d = 0; d < last; ++d) {
    if (perm.Get(d) != (d == axis ? last : d)) return kNone;
  }
  return axis == last ? kNone : axis;
}

Fusion find_softmax(Reader nodes) {
  const XnnNode* there = nodes.take(NodeContent::Transpose);
  const XnnNode* softmax = there != nullptr ? nodes.take(NodeContent::Softmax) : nullptr;
  const XnnNode* back = softmax != nullptr ? nodes.take(NodeContent::Transpose) : nullptr;
  if (back == nullptr || softmax->inputs[0] != there->output ||
      back->inputs[0] != softmax->output || !nodes.is_read(there, 1) ||
      !nodes.is_read(softmax, 1)) {
    return {};
  }
  Fusion fusion;
  fusion.axis = swapped_with_last(*there);
  if (fusion.axis == kNone || swapped_with_last(*back) != fusion.axis) return {};
  fusion.kind = Fusion::Kind::kSoftmax;
  fusion.nodes = nodes.taken();
  fusion.inputs[0] = there->inputs[0];
  fusion.output = back->output;
  return fusion;
}

// The mean over the last dimension is a product with a vector of 1 / n.
const XnnNode* take_mean(Reader& nodes, uint32_t of) {
  const XnnNode* mean = nodes.take(NodeContent::FullyConnected);
  if (mean == nullptr || mean->inputs[0] != of || mean->inputs[2] != kNone) return nullptr;
  const uint32_t width = nodes.value(of).shape.last();
  const float* parts = nodes.constant(mean->inputs[1], width);
  if (parts == nullptr || nodes.value(mean->output).shape.rank != nodes.value(of).shape.rank ||
      nodes.value(mean->output).shape.last() != 1) {
    return nullptr;
  }
  const float part = 1 / static_cast<float>(width);
  const bool is_mean = std::all_of(parts, parts + width, [&](float p) { return p == part; });
  return is_mean ? mean : nullptr;
}

// Matches the factor of x, 1 / sqrt(mean(x * x) + eps); null if the nodes compute something else.
const XnnNode* take_factor(Reader& nodes, uint32_t x, float& eps) {
  const XnnNode* square = nodes.take(NodeContent::Square);
  if (square == nullptr || square->inputs[0] != x || !nodes.is_read(square, 1)) return nullptr;
  const XnnNode* mean = take_mean(nodes, square->output);
  const XnnNode* sum = mean != nullptr ? nodes.take(NodeContent::Add) : nullptr;
  if (sum == nullptr || !nodes.is_read(mean, 1) || !nodes.is_read(sum, 1)) return nullptr;
  const float* added = nodes.constant(Reader::other(sum, mean->output), 1);
  const XnnNode* root = nodes.take(NodeContent::ReciprocalSquareRoot);
  if (added == nullptr || root == nullptr || root->inputs[0] != sum->output) return nullptr;
  eps = *added;
  return nodes.is_read(root, 1) ? root : nullptr;
}

// If only the next node reads the result so far, and multiplies or adds a constant with one number
// per element of a row, takes the node and returns the constant.
const float* take_entries(Reader& nodes, NodeContent kind, Fusion& fusion) {
  if (!nodes.is_read(fusion.output, 1)) return nullptr;
  const Reader before = nodes;
  const XnnNode* node = nodes.take(kind);
  const Shape& shape = nodes.value(fusion.output).shape;
  const uint32_t entries = node != nullptr ? Reader::other(node, fusion.output) : kNone;
  const float* numbers = nodes.constant(entries, shape.last());
  if (numbers == nullptr || nodes.value(node->output).shape != shape) {
    nodes = before;
    return nullptr;
  }
  fusion.output = node->output;
  return numbers;
}

// If only the next node reads the result so far, and multiplies or adds a constant with one number
// per channel, takes the node and returns the constant.
const float* take_channels(Reader& nodes, NodeContent kind, Fusion& fusion) {
  if (!nodes.is_read(fusion.output, 1)) return nullptr;
  const Reader before = nodes;
  const XnnNode* node = nodes.take(kind);
  const uint32_t id = node != nullptr ? Reader::other(node, fusion.output) : kNone;
  const Shape shape = nodes.value(fusion.output).shape;
  if (id != kNone && nodes.value(node->output).shape == shape) {
    const XnnValue& entries = nodes.value(id);
    const uint32_t rank = entries.shape.rank, behind = shape.rank - 1;
    if (entries.data != nullptr && entries.type == wire::DataType::FP32 && rank >= behind &&
        element_count(entries.shape) == fusion.channels &&
        entries.shape.dims[rank - behind] == fusion.channels) {
      fusion.output = node->output;
      return floats_of(entries);
    }
  }
  nodes = before;
  return nullptr;
}

// Matches the reshape from the rows of a group norm to images, and the weights per channel after
// it.
void take_image(Reader& nodes, Fusion& fusion) {
  if (!nodes.is_read(fusion.output, 1)) return;
  Reader after = nodes;
  const XnnNode* reshape = after.take(NodeContent::Reshape);
  if (reshape == nullptr || reshape->inputs[0] != fusion.output ||
      reshape->as<wire::Reshape>().sources() != nullptr) {
    return;
  }
  const Shape &rows = nodes.value(fusion.output).shape, &image = nodes.value(reshape->output).shape;
  if (rows.rank != 2 || image.rank < 3) return;
  const uint64_t area = area_of(image), width = rows.last();
  if (area == 0 || width == 0 || width % area != 0 || image.dims[1] * area % width != 0) return;
  Fusion with_image = fusion;
  with_image.output = reshape->output;
  with_image.channels = image.dims[1];
  with_image.area = static_cast<uint32_t>(area);
  with_image.width = static_cast<uint32_t>(width);
  with_image.weight = take_channels(after, NodeContent::Multiply, with_image);
  with_image.bias = take_channels(after, NodeContent::Add, with_image);
  if (with_image.weight == nullptr && with_image.bias == nullptr) return;
  fusion = with_image;
  nodes = after;
}

Fusion find_norm(Reader nodes) {
  Fusion fusion;
  uint32_t x = kNone, centred = kNone;
  if (const XnnNode* mean = nodes.peek(NodeContent::FullyConnected)) {
    x = mean->inputs[0];
    if (take_mean(nodes, x) == nullptr || !nodes.is_read(mean, 1)) return {};
    const XnnNode* difference = nodes.take(NodeContent::Subtract);
    if (difference == nullptr || difference->inputs[0] != x ||
        difference->inputs[1] != mean->output || !nodes.is_read(difference, 2)) {
      return {};
    }
    centred = difference->output;
    fusion.kind = Fusion::Kind::kNorm;
  } else if (const XnnNode* square = nodes.peek(NodeContent::Square)) {
    x = centred = square->inputs[0];
    fusion.kind = Fusion::Kind::kRms;
  } else {
    return {};
  }
  const XnnNode* factor = take_factor(nodes, centred, fusion.eps);
  const XnnNode* product = factor != nullptr ? nodes.take(NodeContent::Multiply) : nullptr;
  if (product == nullptr || Reader::other(product, factor->output) != centred) return {};
  fusion.inputs[0] = x;
  fusion.output = product->output;
  fusion.weight = take_entries(nodes, NodeContent::Multiply, fusion);
  fusion.bias = take_entries(nodes, NodeContent::Add, fusion);
  const bool is_bare = fusion.weight == nullptr && fusion.bias == nullptr;
  if (is_bare && fusion.kind == Fusion::Kind::kNorm) take_image(nodes, fusion);
  fusion.nodes = nodes.taken();
  return fusion;
}

}  // namespace

Fusion find_pattern(const Subgraph& graph, Span<const uint32_t> uses, size_t first) {
  const Reader nodes(graph, uses, first);
  Fusion fusion = find_swish(nodes);
  if (fusion.nodes == 0) fusion = find_norm(nodes);
  if (fusion.nodes == 0) fusion = find_scale(nodes);
  if (fusion.nodes == 0) fusion = find_softmax(nodes);
  return fusion;
}

}  // namespace taper::xnnpack
