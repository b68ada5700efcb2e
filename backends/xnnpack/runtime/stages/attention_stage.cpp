// Finds attention among nodes, and divides it among threads; see attention_stage.h.

#include "backends/xnnpack/runtime/stages/attention_stage.h"

#include <pthreadpool.h>

#include <algorithm>

#include "backends/xnnpack/runtime/graph/node_kinds.h"

namespace taper::xnnpack {
namespace {

using optimized::AttentionHead;
using optimized::FloatMatrix;
using wire::NodeContent;

// A stage costs about a microsecond; XNNPACK computes fewer scores in less.
constexpr uint64_t kLeastScores = 8192;

// So many floats, and those up to where the next may begin.
uint64_t aligned(int64_t floats) {
  return WorkMemory::aligned(static_cast<uint64_t>(floats) * sizeof(float)) / sizeof(float);
}

// The sizes of the last two dimensions; 1 for those that a tensor lacks.
uint32_t rows_of(const Shape& s) { return s.rank < 2 ? 1 : s.dims[s.rank - 2]; }
uint32_t columns_of(const Shape& s) { return s.rank < 1 ? 1 : s.last(); }

// Whether a tensor of shape `part` can be added to one of shape `whole` without enlarging it.
bool fits(const Shape& part, const Shape& whole) {
  if (part.rank > whole.rank) return false;
  for (uint32_t d = 1; d <= part.rank; ++d) {
    const uint32_t size = part.dims[part.rank - d];
    if (size != 1 && size != whole.dims[whole.rank - d]) return false;
  }
  return true;
}

Shape heads_of(const Shape& result) {
  Shape heads = result;
  heads.rank -= 2;
  return heads;
}
// Whether the shapes are those of the same matrices, up to the arrangement of the heads.
bool has_same_matrices(const Shape& a, const Shape& b) {
  return rows_of(a) == rows_of(b) && columns_of(a) == columns_of(b) &&
         element_count(a) == element_count(b);
}

// Takes nodes one after another, each of which alone reads the result of the one before.
class Chain {
 public:
  Chain(const Subgraph& graph, Span<const uint32_t> uses, size_t first)
      : nodes_(graph.nodes()), values_(graph.values()), uses_(uses), first_(first), next_(first) {}

  // The next node, if it is of that kind and computes floats without bounds; null otherwise.
  const XnnNode* take(NodeContent kind) {
    if (next_ >= nodes_.size()) return nullptr;
    const XnnNode& node = nodes_[next_];
    const bool is_one = node.is_needed && node.content_type == kind && !has_bounds(node) &&
                        is_in_floats(node, values_);
    if (!is_one || !goes_on_with(node)) return nullptr;
    last_ = node.output;
    ++next_;
    return &node;
  }
  // The argument of the node just taken that is not the result of the one before it.
  static uint32_t other(const XnnNode& node, uint32_t result) {
    return node.inputs[node.inputs[0] == result ? 1 : 0];
  }
  uint32_t last() const { return last_; }
  size_t taken() const { return next_ - first_; }

 private:
  bool goes_on_with(const XnnNode& node) const {
    if (last_ == kNone) return true;
    return uses_[last_] == 1 && (node.inputs[0] == last_ || node.inputs[1] == last_);
  }

  Span<const XnnNode> nodes_;
  Span<const XnnValue> values_;
  Span<const uint32_t> uses_;
  size_t first_, next_;
  uint32_t last_ = kNone;
};

// A node that multiplies the scores by a constant, or divides them by one, if the next one does.
// Sets `scale`. False if it multiplies or divides by something else.
bool take_scale(Chain& chain, Span<const XnnValue> values, float* scale) {
  const uint32_t scores = chain.last();
  const XnnNode* product = chain.take(NodeContent::Multiply);
  const XnnNode* node = product != nullptr ? product : chain.take(NodeContent::Divide);
  if (node == nullptr) return true;
  if (product == nullptr && node->inputs[0] != scores) return false;
  const XnnValue& factor = values[Chain::other(*node, scores)];
  if (factor.data == nullptr || element_count(factor.shape) != 1) return false;
  *scale = product != nullptr ? *floats_of(factor) : 1 / *floats_of(factor);
  return true;
}

}  // namespace

AttentionNodes find_attention(const Subgraph& graph, Span<const uint32_t> uses, size_t first) {
  const Span<const XnnValue> values = graph.values();
  Chain chain(graph, uses, first);
  AttentionNodes found;
  const XnnNode* product = chain.take(NodeContent::BatchMatrixMultiply);
  if (product == nullptr) return {};
  chain.take(NodeContent::Reshape);
  if (!take_scale(chain, values, &found.scale)) return {};
  const uint32_t before = chain.last();
  if (const XnnNode* sum = chain.take(NodeContent::Add)) {
    found.mask = Chain::other(*sum, before);
  }
  found.scores = chain.last();
  const XnnNode* softmax = chain.take(NodeContent::Softmax);
  if (softmax == nullptr) return {};
  chain.take(NodeContent::Reshape);
  const uint32_t weights = chain.last();
  const XnnNode* result = chain.take(NodeContent::BatchMatrixMultiply);
  if (result == nullptr || result->inputs[0] != weights) return {};
  found.query = product->inputs[0];
  found.key = product->inputs[1];
  found.products = product->output;
  found.value = result->inputs[1];
  found.key_is_turned = product->flags == 0;
  found.value_is_turned = result->flags != 0;
  found.output = result->output;
  for (uint32_t id : {found.query, found.key, found.value}) {
    if (values[id].data != nullptr) return {};
  }
  const bool pays = element_count(values[product->output].shape) >= kLeastScores;
  if (!pays || !AttentionStage::has_plain_heads(found, values)) return {};
  found.count = chain.taken();
  return found;
}

bool AttentionStage::has_plain_heads(const AttentionNodes& nodes, Span<const XnnValue> values) {
  const Shape& products = values[nodes.products].shape;
  const Shape& scores = values[nodes.scores].shape;
  if (scores.rank < 2) return false;
  if (nodes.mask != kNone && !fits(values[nodes.mask].shape, scores)) return false;
  return has_same_matrices(products, scores) &&
         element_count(heads_of(scores)) == element_count(heads_of(values[nodes.output].shape)) &&
         rows_of(values[nodes.output].shape) == rows_of(scores);
}

AttentionStage::Matrices AttentionStage::matrices_of(uint32_t id, uint32_t result,
                                                     Span<const XnnValue> values, bool is_turned) {
  Matrices m;
  m.id = id;
  m.heads = heads_of(values[result].shape);
  if (values[id].data != nullptr) m.constant = floats_of(values[id]);
  const Shape& shape = values[id].shape;
  const int64_t rows = rows_of(shape), columns = columns_of(shape);
  m.size = rows * columns;
  m.first.row_stride = is_turned ? 1 : columns;
  m.first.column_stride = is_turned ? columns : 1;
  m.count = 1;
  for (uint32_t d = 3; d <= shape.rank; ++d) {
    const uint32_t size = shape.dims[shape.rank - d];
    if (size != 1) m.steps[m.heads.rank + 2 - d] = m.count;
    m.count *= size;
  }
  return m;
}

Status AttentionStage::reshape(Span<const XnnValue> values) {
  TAPER_XNNPACK_REQUIRE(has_plain_heads(nodes_, values),
                        "the heads of an attention are not those it had when the graph was loaded");
  const Shape& result = values[nodes_.output].shape;
  head_count_ = static_cast<size_t>(element_count(heads_of(result)));
  query_ = matrices_of(nodes_.query, nodes_.products, values, false);
  key_ = matrices_of(nodes_.key, nodes_.products, values, !nodes_.key_is_turned);
  value_ = matrices_of(nodes_.value, nodes_.output, values, nodes_.value_is_turned);
  queries_ = rows_of(result);
  sizes_ = {};
  sizes_.scale = nodes_.scale;
  sizes_.elements = columns_of(values[nodes_.query].shape);
  sizes_.width = sizes_.out_stride = columns_of(result);
  sizes_.keys = columns_of(values[nodes_.scores].shape);
  if (nodes_.mask != kNone) reshape_mask(values);
  block_ = optimized::attention_block(queries_, sizes_.keys);
  block_floats_ = aligned(block_ * sizes_.keys);
  if (optimized::attention_packs(queries_)) {
    key_.panel_floats = aligned(optimized::panel_floats(sizes_.elements, sizes_.keys));
    value_.panel_floats = aligned(optimized::panel_floats(sizes_.keys, sizes_.width));
  }
  return {};
}

void AttentionStage::reshape_mask(Span<const XnnValue> values) {
  const Shape& mask = values[nodes_.mask].shape;
  mask_ = matrices_of(nodes_.mask, nodes_.scores, values, false);
  if (rows_of(mask) == 1) mask_.first.row_stride = 0;
  if (columns_of(mask) == 1) mask_.first.column_stride = 0;
}

uint64_t AttentionStage::scratch_bytes() const {
  const uint64_t panels = static_cast<uint64_t>(key_.count) * key_.panel_floats +
                          static_cast<uint64_t>(value_.count) * value_.panel_floats;
  return (panels + pthreadpool_get_threads_count(pool_) * block_floats_) * sizeof(float);
}

Status AttentionStage::bind(Span<void* const> places, void* scratch) {
  for (Matrices* m : {&query_, &key_, &value_, &mask_}) {
    if (m->id == kNone) continue;
    m->first.data = m->constant != nullptr ? m->constant : static_cast<const float*>(places[m->id]);
  }
  out_ = static_cast<float*>(places[nodes_.output]);
  key_.panels = static_cast<float*>(scratch);
  value_.panels = key_.panels + static_cast<uint64_t>(key_.count) * key_.panel_floats;
  scores_ = value_.panels + static_cast<uint64_t>(value_.count) * value_.panel_floats;
  return {};
}

int64_t AttentionStage::number_of(const Matrices& m, size_t head) {
  int64_t number = 0;
  for (uint32_t d = m.heads.rank; d-- > 0;) {
    number += static_cast<int64_t>(head % m.heads.dims[d]) * m.steps[d];
    head /= m.heads.dims[d];
  }
  return number;
}

FloatMatrix AttentionStage::matrix_of(const Matrices& m, size_t head) {
  FloatMatrix matrix = m.first;
  if (matrix.data != nullptr) matrix.data += number_of(m, head) * m.size;
  return matrix;
}

void AttentionStage::pack(void* stage, size_t matrix) {
  auto& self = *static_cast<AttentionStage*>(stage);
  const auto keys = static_cast<size_t>(self.key_.count);
  const bool is_key = matrix < keys;
  const Matrices& m = is_key ? self.key_ : self.value_;
  const size_t number = is_key ? matrix : matrix - keys;
  FloatMatrix from = m.first;
  from.data += static_cast<int64_t>(number) * m.size;
  const optimized::AttentionHead& sizes = self.sizes_;
  optimized::pack_panels(from, is_key ? sizes.elements : sizes.keys,
                         is_key ? sizes.keys : sizes.width, m.panels + number * m.panel_floats);
}

void AttentionStage::run_block(void* stage, size_t thread, size_t head, size_t block) {
  const auto& self = *static_cast<AttentionStage*>(stage);
  AttentionHead one = self.sizes_;
  one.query = self.matrix_of(self.query_, head);
  one.key = self.matrix_of(self.key_, head);
  one.value = self.matrix_of(self.value_, head);
  one.mask = self.matrix_of(self.mask_, head);
  if (self.key_.panel_floats != 0) {
    const auto key = static_cast<uint64_t>(self.number_of(self.key_, head));
    const auto value = static_cast<uint64_t>(self.number_of(self.value_, head));
    one.key_panels = {self.key_.panels + key * self.key_.panel_floats, one.elements, one.keys};
    one.value_panels = {self.value_.panels + value * self.value_.panel_floats, one.keys, one.width};
  }
  one.out = self.out_ + static_cast<int64_t>(head) * self.queries_ * one.width;
  const int64_t first = static_cast<int64_t>(block) * self.block_;
  optimized::attend(one, first, std::min(self.block_, self.queries_ - first),
                    self.scores_ + thread * self.block_floats_, {});
}

Status AttentionStage::run() {
  if (key_.panel_floats != 0) {
    pthreadpool_parallelize_1d(pool_, pack, this, static_cast<size_t>(key_.count + value_.count),
                               0);
  }
  const auto blocks = static_cast<size_t>((queries_ + block_ - 1) / block_);
  pthreadpool_parallelize_2d_with_thread(pool_, run_block, this, head_count_, blocks, 0);
  return {};
}

}  // namespace taper::xnnpack
