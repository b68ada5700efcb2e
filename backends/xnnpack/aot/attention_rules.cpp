// Scaled dot product attention, which is kept whole: two products around a softmax.

#include <cmath>
#include <cstring>

#include "backends/xnnpack/aot/op_table.h"
#include "exir/ir/scales.h"

namespace taper::xnnpack {
namespace {

using exir::Node;
using exir::Sym;
using exir::Value;
using wire::NodeContent;

constexpr float kLargest = std::numeric_limits<float>::max();

// A mask with 0 below and on the diagonal, and -inf above it.
Id causal_mask(Lowering& l, int64_t rows, int64_t columns) {
  std::vector<float> mask;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      mask.push_back(c <= r ? 0 : -std::numeric_limits<float>::infinity());
    }
  }
  return l.constant({rows, columns}, mask);
}

// True if no row of a constant mask is -inf throughout.
bool has_no_empty_row(const Value* mask) {
  if (!is_constant(mask) || mask->type.rank() == 0) return false;
  const auto width = static_cast<size_t>(mask->type.sizes.back().as_int());
  const exir::TensorData elements = exir::elements_of(*mask);
  const auto* data = reinterpret_cast<const float*>(elements.data);
  for (size_t at = 0; at < mask->data.bytes / sizeof(float); at += width) {
    bool any = false;
    for (size_t i = 0; i < width; ++i) any = any || !(std::isinf(data[at + i]) && data[at + i] < 0);
    if (!any) return false;
  }
  return true;
}

// 0 for rows of the mask that are -inf throughout, 1 for all others.
Id gate_of(Lowering& l, Id mask) {
  const Id raised = l.binary(NodeContent::Add, mask, l.number(kLargest));
  const Id above = l.binary(NodeContent::Add, raised, l.number(1));
  const Id share = l.mean_of_last(l.clamp(above, 0, 1), 1);
  return l.clamp(l.binary(NodeContent::Multiply, share, l.number(0x1p31f)), 0, 1);
}

// The mask with zeros in rows that are -inf throughout, so that their softmax is not NaN.
Id filled(Lowering& l, Id mask, Id gate) {
  const Id closed = l.binary(NodeContent::Subtract, l.number(1), gate);
  return l.binary(NodeContent::Maximum, mask, l.unary(NodeContent::Log, closed));
}

// If several heads of q share a head of k and v, the heads of a group get a dimension of their own.
Id grouped(Lowering& l, Id q, const Sym& kv_heads, int64_t times) {
  Dims dims = l.out().dims(q);
  dims[dims.size() - 3] = times;
  dims.insert(dims.end() - 3, kv_heads);
  return l.reshape(q, std::move(dims));
}
Id with_one(Lowering& l, Id x) {
  Dims dims = l.out().dims(x);
  dims.insert(dims.end() - 2, Sym(1));
  return l.reshape(x, std::move(dims));
}

double scale_of(const Node& node) {
  if (!node.arg("scale").is_none()) return node.arg("scale").to_double();
  return 1 / std::sqrt(static_cast<double>(tensor(node)->type.sizes.back().as_int()));
}

int64_t heads_of(const Value* x) {
  return x->type.rank() < 3 ? 1 : x->type.sizes[x->type.rank() - 3].as_int();
}
// The mask for grouped heads, with a dimension for the heads of a group.
Id mask_of_groups(Lowering& l, Id mask, const Sym& kv_heads, int64_t times) {
  const Dims& dims = l.out().dims(mask);
  if (dims.size() < 3) return mask;
  return dims[dims.size() - 3] == Sym(1) ? with_one(l, mask) : grouped(l, mask, kv_heads, times);
}
bool is_grouped(const Node& node) {
  return node.arg("enable_gqa").to_bool() && heads_of(tensor(node, 0)) != heads_of(tensor(node, 1));
}

// What is added to the scores, and the factor of the result; kNone where there is none.
struct Mask {
  Id added = kNone, gate = kNone;
};

Mask mask_of(Lowering& l, const Node& node) {
  if (node.arg("is_causal").to_bool()) {
    const int64_t rows = tensor(node, 0)->type.sizes.end()[-2].as_int();
    const int64_t columns = tensor(node, 1)->type.sizes.end()[-2].as_int();
    return {causal_mask(l, rows, columns)};
  }
  if (node.arg("attn_mask").is_none()) return {};
  const Value* mask = tensor(node, "attn_mask");
  Id given = l.loose(mask);
  std::string how;
  if (is_grouped(node)) {
    const int64_t heads = heads_of(tensor(node, 1)), times = heads_of(tensor(node, 0)) / heads;
    how = " of groups " + std::to_string(heads);
    given = l.once(mask, "mask" + how, [&] { return mask_of_groups(l, given, heads, times); });
  }
  if (has_no_empty_row(mask)) return {given};
  const Id gate = l.once(mask, "gate" + how, [&] { return gate_of(l, given); });
  return {l.once(mask, "filled" + how, [&] { return filled(l, given, gate); }), gate};
}

// The nodes from the first product to the second follow one another: the runtime computes them in
// one stage.
void attention(Lowering& l, const Node& node) {
  const Value *query = tensor(node, 0), *key = tensor(node, 1), *y = node.outputs[0];
  const Mask mask = mask_of(l, node);
  Id q = l.plain(query), k = l.plain(key), v = l.plain(tensor(node, 2));
  q = l.binary(NodeContent::Multiply, q, l.number(static_cast<float>(scale_of(node))));
  if (is_grouped(node)) {
    const int64_t heads = heads_of(key);
    q = grouped(l, q, heads, heads_of(query) / heads);
    k = with_one(l, k);
    v = with_one(l, v);
  }
  Id scores = l.product(q, k, true);
  if (mask.added != kNone) scores = l.binary(NodeContent::Add, scores, mask.added);
  Id out = l.product(l.unary(NodeContent::Softmax, scores), v, false);
  if (mask.gate != kNone) out = l.binary(NodeContent::Multiply, out, mask.gate);
  l.set_plain(y, l.reshape(out, y->type.sizes));
}

std::string refusal(const Node& node) {
  const Value *query = tensor(node, 0), *key = tensor(node, 1);
  const size_t rank = query->type.rank();
  if (rank < 2 || key->type.rank() != rank || tensor(node, 2)->type.rank() != rank) {
    return "its tensors have different ranks";
  }
  if (node.arg("scale").is_none() ? !query->type.sizes.back().is_int()
                                  : !is_known(node.arg("scale"))) {
    return "its scale is not constant";
  }
  if (!is_known(node.arg("dropout_p")) || node.arg("dropout_p").to_double() != 0) {
    return "it applies dropout";
  }
  const bool known = query->type.sizes.end()[-2].is_int() && key->type.sizes.end()[-2].is_int();
  if (node.arg("is_causal").to_bool() && !known) return "the length of the sequence is dynamic";
  if (!node.arg("enable_gqa").to_bool() || rank < 3) return "";
  if (!query->type.sizes[rank - 3].is_int() || !key->type.sizes[rank - 3].is_int()) {
    return "the number of heads is dynamic";
  }
  return rank <= 5 || !is_grouped(node) ? "" : "grouped heads with more than five dimensions";
}

constexpr OpRule kTable[] = {
    {"aten::scaled_dot_product_attention", refusal, attention, 2},
};

}  // namespace

const std::span<const OpRule> kAttentionRules{kTable};

}  // namespace taper::xnnpack
