// Finds nodes that together compute one function; see fuse_nodes.h.

#include "backends/xnnpack/aot/fuse_nodes.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

class Fuser {
 public:
  explicit Fuser(NodeList& list) : list_(list), uses_(list.count_reads()) {}

  // Nodes are visited in order, so that weights are added to norms that have been found.
  void run() {
    for (NodeSpec& node : list_.nodes) {
      if (node.kind == NodeContent::Multiply) fuse_product(node);
      if (node.kind == NodeContent::Add) fuse_sum(node);
    }
  }

 private:
  const ValueSpec& value(Id id) const { return list_.values[id]; }
  const Dims& dims(const NodeSpec& node) const { return value(node.output).dims; }

  static bool has_bounds(const NodeSpec& node) {
    return std::isfinite(node.min) || std::isfinite(node.max);
  }

  // The node that makes the value, if it is of that kind and has no bounds; null otherwise.
  const NodeSpec* maker(Id id, NodeContent kind) const {
    const NodeSpec* node = id != kNone ? list_.maker(id) : nullptr;
    return node != nullptr && node->kind == kind && !has_bounds(*node) ? node : nullptr;
  }
  // The same, if the value has only one reader; null otherwise.
  const NodeSpec* only_maker(Id id, NodeContent kind) const {
    return uses_[id] == 1 ? maker(id, kind) : nullptr;
  }

  bool is_float_constant(Id id) const {
    return value(id).constant != 0 && value(id).quantization.type == wire::DataType::FP32;
  }

  std::optional<std::vector<float>> floats(Id id) const {
    if (id == kNone || !is_float_constant(id)) return std::nullopt;
    const exir::TensorData& data = list_.constants[value(id).constant - 1];
    std::vector<float> numbers(data.bytes / sizeof(float));
    std::memcpy(numbers.data(), data.data, numbers.size() * sizeof(float));
    return numbers;
  }

  // Whether `id` is a constant with one number for each element of the last dimension of `whole`,
  // whose size is static.
  bool is_entries(Id id, const Dims& whole) const {
    if (id == kNone || !is_float_constant(id) || whole.empty() || !whole.back().is_int()) {
      return false;
    }
    const Dims& own = value(id).dims;
    if (own.empty() || own.size() > whole.size() || own.back() != whole.back()) return false;
    return std::all_of(own.begin(), own.end() - 1,
                       [](const exir::Sym& size) { return size == exir::Sym(1); });
  }

  // The node that computes `id` as the mean of the last dimension of `x`, which is a product with a
  // vector of 1 / n; null if `id` is something else.
  const NodeSpec* mean_of(Id x, Id id) const {
    const NodeSpec* mean = only_maker(id, NodeContent::FullyConnected);
    if (mean == nullptr || mean->inputs[0] != x || mean->inputs[2] != kNone) return nullptr;
    const auto parts = floats(mean->inputs[1]);
    const Dims &rows = value(x).dims, &column = dims(*mean);
    if (!parts || column.size() != rows.size() || column.back() != exir::Sym(1)) return nullptr;
    const float part = 1 / static_cast<float>(parts->size());
    const bool is_mean =
        std::all_of(parts->begin(), parts->end(), [&](float p) { return p == part; });
    return is_mean ? mean : nullptr;
  }

  // Returns eps if `id` is 1 / sqrt(mean(x * x) + eps).
  std::optional<float> factor_of(Id x, Id id) const {
    const NodeSpec* root = only_maker(id, NodeContent::ReciprocalSquareRoot);
    const NodeSpec* sum = root != nullptr ? only_maker(root->inputs[0], NodeContent::Add) : nullptr;
    for (size_t i = 0; sum != nullptr && i < 2; ++i) {
      const auto eps = floats(sum->inputs[1 - i]);
      const NodeSpec* mean = only_maker(sum->inputs[i], NodeContent::FullyConnected);
      if (!eps || eps->size() != 1 || mean == nullptr) continue;
      const NodeSpec* square = only_maker(mean->inputs[0], NodeContent::Square);
      if (square == nullptr || square->inputs[0] != x) continue;
      if (mean_of(square->output, mean->output) != nullptr) return eps->front();
    }
    return std::nullopt;
  }

  void fuse_product(NodeSpec& node) {
    for (size_t i = 0; i < 2; ++i) {
      const Id x = node.inputs[i], other = node.inputs[1 - i];
      if (is_swish(node, x, other) || is_norm(node, x, other) || takes_weight(node, x, other)) {
        return;
      }
    }
  }

  bool is_swish(NodeSpec& node, Id x, Id share) {
    const NodeSpec* sigmoid = only_maker(share, NodeContent::Sigmoid);
    if (has_bounds(node) || sigmoid == nullptr || sigmoid->inputs[0] != x) return false;
    become(node, NodeContent::Swish, {x});
    return true;
  }

  bool is_norm(NodeSpec& node, Id x, Id factor) {
    const auto eps = has_bounds(node) ? std::nullopt : factor_of(x, factor);
    if (!eps || dims(node) != value(x).dims) return false;
    // The centred value must have no readers but the square and the product.
    const NodeSpec* centred = uses_[x] == 2 ? maker(x, NodeContent::Subtract) : nullptr;
    const bool is_centred =
        centred != nullptr && mean_of(centred->inputs[0], centred->inputs[1]) != nullptr;
    become(node, is_centred ? NodeContent::LayerNorm : NodeContent::RmsNorm,
           {is_centred ? centred->inputs[0] : x, kNone, kNone});
    node.list = {1};
    node.number = *eps;
    return true;
  }

  // Adds the weights to a norm without weights that only this node reads.
  bool takes_weight(NodeSpec& node, Id x, Id weight) { return takes(node, x, weight, 1); }

  bool takes(NodeSpec& node, Id x, Id entries, size_t place) {
    const NodeSpec* norm = only_maker(x, NodeContent::LayerNorm);
    if (norm == nullptr) norm = only_maker(x, NodeContent::RmsNorm);
    if (norm == nullptr || has_bounds(node) || norm->list[0] != 1 || norm->inputs[2] != kNone ||
        (place == 1 && norm->inputs[1] != kNone) || dims(node) != value(x).dims ||
        !is_entries(entries, dims(node))) {
      return false;
    }
    std::vector<Id> inputs = norm->inputs;
    inputs[place] = entries;
    become(node, norm->kind, std::move(inputs));
    node.list = norm->list;
    node.number = norm->number;
    return true;
  }

  void fuse_sum(NodeSpec& node) {
    for (size_t i = 0; i < 2; ++i) {
      const Id x = node.inputs[i], other = node.inputs[1 - i];
      if (takes(node, x, other, 2) || is_batch_norm(node, x, other)) return;
    }
  }

  // x * weight + bias, clamped, with weight and bias for each element of the last dimension.
  bool is_batch_norm(NodeSpec& node, Id scaled, Id bias) {
    const NodeSpec* product = only_maker(scaled, NodeContent::Multiply);
    if (product == nullptr || dims(node) != dims(*product)) return false;
    if (!is_entries(bias, dims(node)) || dims(node).back().as_int() < 2) return false;
    for (size_t i = 0; i < 2; ++i) {
      const Id x = product->inputs[i], weight = product->inputs[1 - i];
      if (!is_entries(weight, dims(node)) || value(x).constant != 0) continue;
      if (value(x).dims != dims(node)) continue;
      become(node, NodeContent::BatchNorm, {x, weight, bias});
      return true;
    }
    return false;
  }

  // Keeps the bounds. Use counts of the node's previous inputs are not updated, which does no harm:
  // each of these values had only this reader.
  void become(NodeSpec& node, NodeContent kind, std::vector<Id> inputs) {
    node.kind = kind;
    node.inputs = std::move(inputs);
  }

  NodeList& list_;
  std::vector<uint32_t> uses_;
};

}  // namespace

void fuse_nodes(NodeList& list) { Fuser(list).run(); }

}  // namespace taper::xnnpack
