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
constexpr int64_t kLinesOfATask = 512;  // Of a softmax across memory.

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

// A batch norm that no convolution takes up, and what clamps it.
Fusion find_scale(Reader nodes) {
  const Node* product = nodes.take(NodeContent::Multiply);
  const Node* sum = product != nullptr ? nodes.peek(NodeContent::Add) : nullptr;
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

// The dimension that a transpose swaps with the last one; kNone if it does something else.
uint32_t swapped_with_last(const Node& node) {
  const auto& perm = *node.as<wire::Transpose>().perm();
  const uint32_t last = perm.size() - 1, axis = perm.Get(last);
  for (uint32_t d = 0; d < last; ++d) {
    if (perm.Get(d) != (d == axis ? last : d)) return kNone;
  }
  return axis == last ? kNone : axis;
}

Fusion find_softmax(Reader nodes) {
  const Node* there = nodes.take(NodeContent::Transpose);
  const Node* softmax = there != nullptr ? nodes.take(NodeContent::Softmax) : nullptr;
  const Node* back = softmax != nullptr ? nodes.take(NodeContent::Transpose) : nullptr;
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

// The numbers of the next node, if it alone reads the result so far and adds or multiplies one
// number per channel.
const float* take_channels(Reader& nodes, NodeContent kind, Fusion& fusion) {
  if (!nodes.is_read(fusion.output, 1)) return nullptr;
  const Reader before = nodes;
  const Node* node = nodes.take(kind);
  const uint32_t id = node != nullptr ? Reader::other(node, fusion.output) : kNone;
  const Shape shape = nodes.value(fusion.output).shape;
  if (id != kNone && nodes.value(node->output).shape == shape) {
    const Value& entries = nodes.value(id);
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

// The elements of a channel. REQUIRES: at least three dimensions.
uint64_t area_of(const Shape& image) {
  uint64_t area = 1;
  for (uint32_t d = 2; d < image.rank; ++d) area *= image.dims[d];
  return area;
}

// Of a group norm the rows become images again, before weights of each channel.
void take_image(Reader& nodes, Fusion& fusion) {
  if (!nodes.is_read(fusion.output, 1)) return;
  Reader after = nodes;
  const Node* reshape = after.take(NodeContent::Reshape);
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
  with_image.weight = take_channels(after, NodeContent::Multiply, with_image);
  with_image.bias = take_channels(after, NodeContent::Add, with_image);
  if (with_image.weight == nullptr && with_image.bias == nullptr) return;
  fusion = with_image;
  nodes = after;
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
  const bool is_bare = fusion.weight == nullptr && fusion.bias == nullptr;
  if (is_bare && fusion.kind == Fusion::Kind::kNorm) take_image(nodes, fusion);
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
  if (fusion.nodes == 0) fusion = find_scale(nodes);
  if (fusion.nodes == 0) fusion = find_softmax(nodes);
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
  if (fusion_.kind == Fusion::Kind::kScale && shape != values[fusion_.output].shape) {
    return refuse("a batch norm has other channels than when the graph was loaded");
  }
  if (fusion_.channels != 0) {
    const Shape& image = values[fusion_.output].shape;
    if (image.dims[1] != fusion_.channels || area_of(image) != fusion_.area) {
      return refuse("the channels of a group norm are not those it had when the graph was loaded");
    }
  }
  count_ = static_cast<size_t>(element_count(shape));
  const bool has_rows = fusion_.kind == Fusion::Kind::kNorm || fusion_.kind == Fusion::Kind::kRms ||
                        fusion_.kind == Fusion::Kind::kScale;
  width_ = has_rows ? shape.last() : kTaskElements;
  if (fusion_.kind == Fusion::Kind::kSoftmax) {
    around_ = {};
    around_.size = shape.dims[fusion_.axis];
    for (uint32_t d = 0; d < fusion_.axis; ++d) around_.outer *= shape.dims[d];
    for (uint32_t d = fusion_.axis + 1; d < shape.rank; ++d) around_.inner *= shape.dims[d];
  }
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
    case Fusion::Kind::kSoftmax:
      return;
    case Fusion::Kind::kSwish:
      return optimized::swish(in, out, static_cast<int64_t>(elements));
    case Fusion::Kind::kSum:
      return optimized::add_clamped(in, self.inputs_[1] + first, fusion.min, fusion.max, out,
                                    static_cast<int64_t>(elements));
    case Fusion::Kind::kScale:
      return optimized::scale_rows(in, static_cast<int64_t>(count),
                                   static_cast<int64_t>(self.width_), fusion.weight, fusion.bias,
                                   fusion.min, fusion.max, out);
    case Fusion::Kind::kFunction:
      return optimized::apply(fusion.function, in, out, static_cast<int64_t>(elements));
    case Fusion::Kind::kNorm:
    case Fusion::Kind::kRms: {
      optimized::NormRows rows;
      rows.in = self.inputs_[0];
      rows.out = self.output_;
      rows.width = rows.entries = static_cast<int64_t>(self.width_);
      if (fusion.channels != 0) {
        rows.entries = fusion.channels;
        rows.repeat = fusion.area;
        rows.row_step = rows.width / rows.repeat;
      }
      rows.eps = static_cast<double>(fusion.eps);
      rows.weight = fusion.weight;
      rows.bias = fusion.bias;
      rows.is_centred = fusion.kind == Fusion::Kind::kNorm;
      const auto row = static_cast<int64_t>(begin);
      return optimized::normalise(rows, row, row + static_cast<int64_t>(count));
    }
  }
}

void FusedStage::run_lines(void* stage, size_t task) {
  const auto& self = *static_cast<FusedStage*>(stage);
  portable::AroundDim around = self.around_;
  const int64_t parts = (around.inner + kLinesOfATask - 1) / kLinesOfATask;
  const auto index = static_cast<int64_t>(task);
  const int64_t first = index % parts * kLinesOfATask;
  const int64_t offset = index / parts * around.size * around.inner;
  around.outer = 1;
  optimized::softmax_part(self.inputs_[0] + offset, around, first,
                          std::min(first + kLinesOfATask, around.inner), self.output_ + offset);
}

Status FusedStage::run() {
  if (fusion_.kind == Fusion::Kind::kSoftmax) {
    const int64_t parts = (around_.inner + kLinesOfATask - 1) / kLinesOfATask;
    pthreadpool_parallelize_1d(pool_, run_lines, this, static_cast<size_t>(around_.outer * parts),
                               0);
    return {};
  }
  const size_t rows = (count_ + width_ - 1) / width_;
  const size_t rows_per_task = std::max(size_t{1}, kTaskElements / width_);
  pthreadpool_parallelize_1d_tile_1d(pool_, run_rows, this, rows, rows_per_task, 0);
  return {};
}

}  // namespace taper::xnnpack
