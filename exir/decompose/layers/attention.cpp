// Scaled dot product attention: softmax(q k^T * scale + mask) v.
//
// q [..., L, E], k [..., S, E], v [..., S, Ev] -> [..., L, Ev]. The scale is split evenly between q
// and k, as PyTorch does, so that float16 does not overflow.

#include <algorithm>
#include <cmath>
#include <limits>

#include "exir/decompose/rules.h"

namespace taper::exir {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

// The additive form of a boolean mask: -inf where `keep` is false, 0 elsewhere.
Value* additive(Builder& b, Value* keep, ScalarType dtype) {
  return b.op("where.self", {keep, b.constant(0, dtype), b.constant(kMinusInfinity, dtype)});
}

// Lower triangle of an L x S square, counted from the upper left corner.
Value* causal(Builder& b, Value* query, Value* key) {
  Value* row = b.unsqueeze(b.arange(0, dim_of(query, -2)), 1);
  Value* column = b.unsqueeze(b.arange(0, dim_of(key, -2)), 0);
  return b.op("ge.Tensor", {row, column});
}

// Each head of k or v serves the same number of query heads: [B, H, S, E] -> [B, H*n, S, E].
Value* repeat_heads(Builder& b, Value* x, const Sym& heads) {
  const std::vector<Sym> sizes = x->type.sizes;
  const size_t at = sizes.size() - 3;
  if (sizes[at] == heads) return x;
  if (!sizes[at].is_int() || !heads.is_int() || sizes[at].as_int() == 0) {
    throw Failure("attention with a symbolic number of heads and enable_gqa");
  }
  const Sym times = heads.as_int() / sizes[at].as_int();
  std::vector<Sym> wide = sizes;
  wide.insert(wide.begin() + static_cast<int64_t>(at) + 1, times);
  std::vector<Sym> merged = sizes;
  merged[at] = heads;
  return b.view(b.expand(b.unsqueeze(x, static_cast<int64_t>(at) + 1), wide), merged);
}

Value* mask_of(Builder& b, Value* query, Value* key) {
  if (b.arg("is_causal").to_bool()) {
    return additive(b, causal(b, query, key), query->type.dtype);
  }
  if (!b.has("attn_mask")) return nullptr;
  Value* mask = b.in("attn_mask");
  return mask->type.dtype == ScalarType::kBool ? additive(b, mask, query->type.dtype) : mask;
}

// The factor of the scores. REQUIRES: it is given, or the width of the query is known.
double scale_of(Builder& b) {
  if (b.has("scale")) return b.arg("scale").to_double();
  return 1.0 / std::sqrt(static_cast<double>(dim_of(b.in("query"), -1).as_int()));
}

// query key^T scale, with the root of the scale applied to each side so that 16-bit floats do not
// overflow.
Value* scaled_scores(Builder& b, Value* query, Value* key) {
  Value* transposed = b.transpose(key, -2, -1);
  const Sym width = dim_of(query, -1);
  if (!b.has("scale") && !width.is_int()) {
    Value* size = b.op("scalar_tensor", {b.size(width), query->type.dtype});
    Value* half = b.op("pow.Tensor_Scalar", {size, -0.25});
    return b.op("matmul", {b.mul(query, half), b.mul(transposed, half)});
  }
  const double scale = scale_of(b);
  const double half = std::sqrt(std::abs(scale));
  return b.op("matmul", {b.mul(query, scale < 0 ? -half : half), b.mul(transposed, half)});
}

// Backends take attention whole only with an additive mask. Replaces a boolean mask by that form,
// and causal attention over dynamic lengths by attention with a computed mask; returns false if the
// call is of neither kind.
bool with_additive_mask(Builder& b) {
  Value *query = b.in("query"), *key = b.in("key");
  const size_t rank = query->type.rank();
  if (rank < 2 || key->type.rank() != rank || b.in("value")->type.rank() != rank) return false;
  Value* mask = nullptr;
  if (b.arg("is_causal").to_bool()) {
    if (dim_of(query, -2).is_int() && dim_of(key, -2).is_int()) return false;
    mask = causal(b, query, key);
  } else if (b.has("attn_mask") && b.in("attn_mask")->type.dtype == ScalarType::kBool) {
    mask = b.in("attn_mask");
  }
  if (mask == nullptr) return false;
  b.result(b.op("scaled_dot_product_attention",
                {query, key, b.in("value"), additive(b, mask, query->type.dtype),
                 b.arg("dropout_p"), false, b.arg("scale"), b.arg("enable_gqa")}));
  return true;
}

void attention(Builder& b) {
  if (with_additive_mask(b)) return;
  Value* query = b.in("query");
  Value* key = b.in("key");
  Value* value = b.in("value");
  if (b.arg("enable_gqa").to_bool()) {
    const Sym heads = dim_of(query, -3);
    key = repeat_heads(b, key, heads);
    value = repeat_heads(b, value, heads);
  }
  Value* scores = scaled_scores(b, query, key);
  Value* mask = mask_of(b, query, key);
  if (mask == nullptr) {
    return b.result(b.op("matmul", {b.op("_softmax", {scores, -1, false}), value}));
  }
  Value* weights = b.op("_safe_softmax", {b.add(scores, mask), -1});
  b.result(b.op("matmul", {weights, value}));
}

// What PyTorch's processor kernel for attention is called after a decomposition. The logarithm of
// the sums is for training; it is dead otherwise.
void flash_attention(Builder& b) {
  Value *query = b.in("query"), *key = b.in("key");
  const Argument& mask = b.arg("attn_mask");
  b.result(
      b.op("scaled_dot_product_attention", {query, key, b.in("value"), mask, b.arg("dropout_p"),
                                            b.arg("is_causal"), b.arg("scale"), false}),
      0);
  Value* scores = scaled_scores(b, query, key);
  if (Value* added = mask_of(b, query, key)) scores = b.add(scores, added);
  Value* top = b.op("amax", {scores, int_list({-1}), true});
  Value* sum = b.sum(b.op("exp", {b.sub(scores, top)}), {-1});
  b.result(b.add(b.squeeze(top, -1), b.op("log", {sum})), 1);
}

// softmax, except that rows of -inf only give zeros instead of NaN.
void safe_softmax(Builder& b) {
  Value* x = b.in("self");
  if (b.has("dtype")) x = b.cast(x, std::get<ScalarType>(b.arg("dtype").v));
  const int64_t dim = b.arg("dim").to_int();
  Value* weights = b.op("_softmax", {x, dim, false});
  Value* top = b.op("amax", {x, int_list({dim}), true});
  Value* empty = b.op("eq.Scalar", {top, kMinusInfinity});
  b.result(b.op("where.self", {empty, b.constant(0, x->type.dtype), weights}));
}

// ---- As one operator of this runtime ----

// Whether tensors of these sizes are heads of queries and of the keys that they share; see
// kernels_portable/cores/attention_heads.h.
bool are_heads(const std::vector<Sym>& query, const std::vector<Sym>& key, bool may_share) {
  const size_t rank = query.size();
  if (rank < 2 || key.size() != rank) return false;
  for (size_t d = 0; d + 3 < rank; ++d) {
    if (!(query[d] == key[d])) return false;
  }
  if (rank == 2 || query[rank - 3] == key[rank - 3]) return true;
  const Sym &heads = query[rank - 3], &shared = key[rank - 3];
  return may_share && heads.is_int() && shared.is_int() && shared.as_int() > 0 &&
         heads.as_int() % shared.as_int() == 0;
}

bool is_mask_of(const std::vector<Sym>& mask, const std::vector<Sym>& query, const Sym& keys) {
  if (mask.size() > query.size()) return false;
  for (size_t d = 1; d <= mask.size(); ++d) {
    const Sym& size = mask[mask.size() - d];
    if (!(size == Sym(1)) && !(size == (d == 1 ? keys : query[query.size() - d]))) return false;
  }
  return true;
}

bool is_one_operator(const Node& node) {
  if (node.outputs[0]->type.dtype == ScalarType::kDouble) return false;
  const auto sizes = [&](const char* name) -> const std::vector<Sym>& {
    return node.arg(name).value()->type.sizes;
  };
  const std::vector<Sym>&query = sizes("query"), &key = sizes("key"), &value = sizes("value");
  const bool may_share = node.arg("enable_gqa").to_bool();
  if (!are_heads(query, key, may_share) || !are_heads(query, value, may_share)) return false;
  const size_t rank = query.size();
  if (!std::equal(key.begin(), key.end() - 1, value.begin())) return false;
  if (node.arg("scale").is_none() && !query[rank - 1].is_int()) return false;
  if (node.arg("dropout_p").to_double() != 0) return false;
  if (node.arg("attn_mask").is_none()) return true;
  return !node.arg("is_causal").to_bool() && is_mask_of(sizes("attn_mask"), query, key[rank - 2]);
}

void attention_operator(Builder& b) {
  Value* query = b.in("query");
  Argument mask;
  if (b.has("attn_mask")) {
    Value* given = b.in("attn_mask");
    mask = given->type.dtype == ScalarType::kBool ? additive(b, given, query->type.dtype) : given;
  }
  b.result(b.op("taper::attention", {query, b.in("key"), b.in("value"), mask, scale_of(b),
                                     b.arg("is_causal").to_bool()}));
}

}  // namespace

const Decompositions& attention_operator_rules() {
  static const Decompositions table = {
      {"scaled_dot_product_attention", attention_operator, kWide, is_one_operator},
  };
  return table;
}

const Decompositions& attention_rules() {
  static const Decompositions table = {
      {"scaled_dot_product_attention", attention, kWide},
      {"_safe_softmax", safe_softmax},
      {"_scaled_dot_product_flash_attention_for_cpu", flash_attention},
  };
  return table;
}

}  // namespace taper::exir
