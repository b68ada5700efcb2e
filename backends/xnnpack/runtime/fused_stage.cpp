#include "backends/xnnpack/runtime/fused_stage.h"

#include <pthreadpool.h>

#include <algorithm>

#include "backends/xnnpack/runtime/node_kinds.h"
#include "kernels_optimized/norm.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

// A stage costs about a microsecond; a pass over fewer elements takes less.
constexpr uint64_t kLeastElements = 8192;
// Elements of a task of the pool, at least. Sums and swish have no rows: there a row is so many.
constexpr size_t kTaskElements = 4096;

// Reads nodes one after the other, as long as they are what a pattern says.
class Reader {
 public:
  Reader(const Graph& graph, Span<const uint32_t> uses, size_t first)
      : nodes_(graph.nodes()), values_(graph.values()), uses_(uses), first_(first), next_(first) {}

  // The next node, if it is of that kind, computes floats and has no bounds; null otherwise.
  const Node* take(NodeContent kind) {
    const Node* node = peek(kind);
    if (node == nullptr || has_bounds(*node)) return nullptr;
    ++next_;
    return node;
  }
  // The same, with bounds or without, and it stays the next.
  const Node* peek(NodeContent kind) const {
    if (next_ >= nodes_.size()) return nullptr;
    const Node& node = nodes_[next_];
    if (!node.is_needed || node.kind != find_kind(kind)) return nullptr;
    return value(node.output).type == wire::DataType::FP32 ? &node : nullptr;
  }
  size_t taken() const { return next_ - first_; }

  const Value& value(uint32_t id) const { return values_[id]; }
  // True if the result of a node is read that often and by nobody outside.
  bool is_read(uint32_t id, uint32_t times) const { return uses_[id] == times; }
  bool is_read(const Node* node, uint32_t times) const { return is_read(node->output, times); }
  // The other operand of a node of two; kNone if `id` is none of them.
  static uint32_t other(const Node* node, uint32_t id) {
    if (node->inputs[0] == id) return node->inputs[1];
    return node->inputs[1] == id ? node->inputs[0] : kNone;
  }
  // The numbers of a constant of so many floats; null if it is none.
  const float* constant(uint32_t id, uint64_t count) const {
    if (id == kNone) return nullptr;
    const Value& v = value(id);
    if (v.data == nullptr || v.type != wire::DataType::FP32) return nullptr;
    if (element_count(v.shape) != count) return nullptr;
    if (count > 1 && v.shape.last() != count) return nullptr;
    return floats_of(v);
  }

 private:
  Span<const Node> nodes_;
  Span<const Value> values_;
  Span<const uint32_t> uses_;
  size_t first_, next_;
};

Fusion find_swish(Reader nodes) {
  const Node* share = nodes.take(NodeContent::Sigmoid);
  const Node* product = share != nullptr ? nodes.take(NodeContent::Multiply) : nullptr;
  if (product == nullptr || !nodes.is_read(share, 1)) return {};
  const uint32_t x = share->inputs[0];
  if (Reader::other(product, share->output) != x) return {};
  Fusion fusion;
  fusion.kind = Fusion::Kind::kSwish;
  fusion.nodes = nodes.taken();
  fusion.inputs[0] = x;
  fusion.output = product->output;
  return fusion;
}

Fusion find_sum(Reader nodes) {
  const Node* sum = nodes.peek(NodeContent::Add);
  if (sum == nullptr || !has_bounds(*sum)) return {};
  const Value &a = nodes.value(sum->inputs[0]), &b = nodes.value(sum->inputs[1]);
  if (a.shape != b.shape) return {};
  Fusion fusion;
  fusion.kind = Fusion::Kind::kSum;
  fusion.nodes = 1;
  fusion.inputs[0] = sum->inputs[0];
  fusion.inputs[1] = sum->inputs[1];
  fusion.output = sum->output;
  fusion.min = sum->min;
  fusion.max = sum->max;
  return fusion;
}

struct FunctionKind {
  NodeContent kind;
  optimized::Function function;
};
constexpr FunctionKind kFunctions[] = {
    {NodeContent::Exp, optimized::Function::kExp},
    {NodeContent::Log, optimized::Function::kLog},
    {NodeContent::Sin, optimized::Function::kSin},
    {NodeContent::Cos, optimized::Function::kCos},
    {NodeContent::SquareRoot, optimized::Function::kSqrt},
    {NodeContent::ReciprocalSquareRoot, optimized::Function::kRsqrt},
};

Fusion find_function(Reader nodes) {
  Fusion fusion;
  const Node* node = nullptr;
  for (const FunctionKind& each : kFunctions) {
    if (node != nullptr) break;
    node = nodes.take(each.kind);
    fusion.function = each.function;
  }
  if (node == nullptr) return {};
  fusion.kind = Fusion::Kind::kFunction;
  fusion.nodes = 1;
  fusion.inputs[0] = node->inputs[0];
  fusion.output = node->output;
  return fusion;
}

// The mean over the last dimension is written as a product with as many equal parts of one.
const Node* take_mean(Reader& nodes, uint32_t of) {
  const Node* mean = nodes.take(NodeContent::FullyConnected);
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

// What x is divided by: 1 / sqrt(mean(x * x) + eps). Null if that is not what the nodes compute.
const Node* take_factor(Reader& nodes, uint32_t x, float& eps) {
  const Node* square = nodes.take(NodeContent::Square);
  if (square == nullptr || square->inputs[0] != x || !nodes.is_read(square, 1)) return nullptr;
  const Node* mean = take_mean(nodes, square->output);
  const Node* sum = mean != nullptr ? nodes.take(NodeContent::Add) : nullptr;
  if (sum == nullptr || !nodes.is_read(mean, 1) || !nodes.is_read(sum, 1)) return nullptr;
  const float* added = nodes.constant(Reader::other(sum, mean->output), 1);
  const Node* root = nodes.take(NodeContent::ReciprocalSquareRoot);
  if (added == nullptr || root == nullptr || root->inputs[0] != sum->output) return nullptr;
  eps = *added;
  return nodes.is_read(root, 1) ? root : nullptr;
}

// If the next node alone reads the result so far and multiplies it with one number per element of a
// row, or adds one: those, and its result is the one from then on.
const float* take_entries(Reader& nodes, NodeContent kind, Fusion& fusion) {
  if (!nodes.is_read(fusion.output, 1)) return nullptr;
  const Reader before = nodes;
  const Node* node = nodes.take(kind);
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

Fusion find_norm(Reader nodes) {
  Fusion fusion;
  uint32_t x = kNone, centred = kNone;
  if (const Node* mean = nodes.peek(NodeContent::FullyConnected)) {
    x = mean->inputs[0];
    if (take_mean(nodes, x) == nullptr || !nodes.is_read(mean, 1)) return {};
    const Node* difference = nodes.take(NodeContent::Subtract);
    if (difference == nullptr || difference->inputs[0] != x ||
        difference->inputs[1] != mean->output || !nodes.is_read(difference, 2)) {
      return {};
    }
    centred = difference->output;
    fusion.kind = Fusion::Kind::kNorm;
  } else if (const Node* square = nodes.peek(NodeContent::Square)) {
    x = centred = square->inputs[0];
    fusion.kind = Fusion::Kind::kRms;
  } else {
    return {};
  }
  const Node* factor = take_factor(nodes, centred, fusion.eps);
  const Node* product = factor != nullptr ? nodes.take(NodeContent::Multiply) : nullptr;
  if (product == nullptr || Reader::other(product, factor->output) != centred) return {};
  fusion.inputs[0] = x;
  fusion.output = product->output;
  fusion.weight = take_entries(nodes, NodeContent::Multiply, fusion);
  fusion.bias = take_entries(nodes, NodeContent::Add, fusion);
  fusion.nodes = nodes.taken();
  return fusion;
}

bool is_computed(const Value& value) {
  return value.data == nullptr && value.type == wire::DataType::FP32;
}

}  // namespace

Fusion find_fusion(const Graph& graph, Span<const uint32_t> uses, size_t first) {
  const Reader nodes(graph, uses, first);
  Fusion fusion = find_swish(nodes);
  if (fusion.nodes == 0) fusion = find_norm(nodes);
  if (fusion.nodes == 0) fusion = find_sum(nodes);
  if (fusion.nodes == 0) fusion = find_function(nodes);
  if (fusion.nodes == 0) return {};
  const Shape& shape = graph.values()[fusion.output].shape;
  const bool is_large = shape.rank > 0 && element_count(shape) >= kLeastElements;
  for (uint32_t id : fusion.inputs) {
    if (id != kNone && !is_computed(graph.values()[id])) return {};
  }
  return is_large ? fusion : Fusion();
}

Status FusedStage::reshape(Span<const Value> values) {
  const Shape& shape = values[fusion_.inputs[0]].shape;
  if (fusion_.kind == Fusion::Kind::kSum && shape != values[fusion_.inputs[1]].shape) {
    return refuse("the shapes of a sum within bounds were equal when the graph was loaded");
  }
  count_ = static_cast<size_t>(element_count(shape));
  const bool has_rows = fusion_.kind == Fusion::Kind::kNorm || fusion_.kind == Fusion::Kind::kRms;
  width_ = has_rows ? shape.last() : kTaskElements;
  return {};
}

Status FusedStage::bind(Span<void* const> places, void*) {
  for (size_t i = 0; i < 2; ++i) {
    if (fusion_.inputs[i] == kNone) continue;
    inputs_[i] = static_cast<const float*>(places[fusion_.inputs[i]]);
  }
  output_ = static_cast<float*>(places[fusion_.output]);
  return {};
}

void FusedStage::run_rows(void* stage, size_t begin, size_t count) {
  const auto& self = *static_cast<FusedStage*>(stage);
  const Fusion& fusion = self.fusion_;
  const size_t first = begin * self.width_;
  const size_t elements = std::min(count * self.width_, self.count_ - first);
  const float* in = self.inputs_[0] + first;
  float* out = self.output_ + first;
  switch (fusion.kind) {
    case Fusion::Kind::kNone:
      return;
    case Fusion::Kind::kSwish:
      return optimized::swish(in, out, static_cast<int64_t>(elements));
    case Fusion::Kind::kSum:
      return optimized::add_clamped(in, self.inputs_[1] + first, fusion.min, fusion.max, out,
                                    static_cast<int64_t>(elements));
    case Fusion::Kind::kFunction:
      return optimized::apply(fusion.function, in, out, static_cast<int64_t>(elements));
    case Fusion::Kind::kNorm:
    case Fusion::Kind::kRms: {
      optimized::NormRows rows;
      rows.in = in;
      rows.out = out;
      rows.count = static_cast<int64_t>(count);
      rows.width = rows.entries = static_cast<int64_t>(self.width_);
      rows.eps = static_cast<double>(fusion.eps);
      rows.weight = fusion.weight;
      rows.bias = fusion.bias;
      rows.is_centred = fusion.kind == Fusion::Kind::kNorm;
      return optimized::normalise(rows);
    }
  }
}

Status FusedStage::run() {
  const size_t rows = (count_ + width_ - 1) / width_;
  const size_t rows_per_task = std::max(size_t{1}, kTaskElements / width_);
  pthreadpool_parallelize_1d_tile_1d(pool_, run_rows, this, rows, rows_per_task, 0);
  return {};
}

}  // namespace taper::xnnpack
