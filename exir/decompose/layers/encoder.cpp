// The fused encoder layers that nn.TransformerEncoderLayer and nn.MultiheadAttention call in
// inference: projections of all heads at once, attention, and the feed-forward layers after it.
//
//   attention(x) = (softmax(q k^T / sqrt(width)) v) W_out^T + b_out       for each head
//   norm first     y = x + attention(norm1(x)); y + ffn(norm2(y))
//   norm last      y = norm1(x + attention(x)); norm2(y + ffn(y))
//
// A mask is true for keys that are left out: [L, S] (type 0), [B, S] (type 1) or [B, H, L, S] (type
// 2).

#include <cmath>
#include <limits>

#include "exir/decompose/rules.h"

namespace taper::exir {
namespace {

struct Heads {
  Value* query;
  Value* key;
  Value* value;  // Each [B, H, L, width].
};

// The `index`-th third of the rows of the stacked weights of query, key and value.
Value* third(Builder& b, Value* stacked, int64_t index) {
  const int64_t rows = dim_of(stacked, 0).as_int() / 3;
  return b.slice(stacked, 0, index * rows, (index + 1) * rows);
}

Value* split_heads(Builder& b, Value* x, int64_t heads) {
  const Sym width = dim_of(x, -1).as_int() / heads;
  return b.transpose(b.view(x, {dim_of(x, 0), dim_of(x, 1), Sym(heads), width}), 1, 2);
}

Heads project(Builder& b, Value* query, Value* key, Value* value, int64_t heads) {
  Value* weight = b.in("qkv_weight");
  Value* bias = b.in("qkv_bias");
  if (!dim_of(weight, 0).is_int()) throw Failure("attention of a symbolic width");
  if (query == key && key == value) {
    Value* all = b.op("linear", {query, weight, bias});
    const int64_t width = dim_of(weight, 0).as_int() / 3;
    const auto part = [&](int64_t i) {
      return split_heads(b, b.slice(all, -1, i * width, (i + 1) * width), heads);
    };
    return {part(0), part(1), part(2)};
  }
  const auto part = [&](Value* x, int64_t i) {
    Value* y = b.op("linear", {x, third(b, weight, i), third(b, bias, i)});
    return split_heads(b, y, heads);
  };
  return {part(query, 0), part(key, 1), part(value, 2)};
}

// True for the keys that count, broadcastable over [B, H, L, S]; null if there is no mask.
Value* kept_keys(Builder& b) {
  if (!b.has("mask")) return nullptr;
  Value* keep = b.op("logical_not", {b.cast(b.in("mask"), ScalarType::kBool)});
  const bool by_batch = b.has("mask_type") && b.arg("mask_type").to_int() == 1;
  return by_batch ? b.unsqueeze(b.unsqueeze(keep, 1), 1) : keep;
}

Value* merge_heads(Builder& b, Value* x) {
  Value* transposed = b.transpose(x, 1, 2);
  const auto& sizes = transposed->type.sizes;
  return b.op("linear", {b.view(transposed, {sizes[0], sizes[1], sizes[2] * sizes[3]}),
                         b.in("proj_weight"), b.in("proj_bias")});
}

Value* attend(Builder& b, const Heads& h) {
  Value* keep = kept_keys(b);
  if (keep != nullptr && keep->type.rank() == 4) {  // Backends take only a row for every query.
    keep = b.expand(keep, {dim_of(keep, 0), dim_of(keep, 1), dim_of(h.query, 2), dim_of(h.key, 2)});
  }
  const Argument mask = keep == nullptr ? Argument() : Argument(keep);
  return merge_heads(b, b.op("scaled_dot_product_attention", {h.query, h.key, h.value, mask}));
}

// The same, returning the attention weights as well: of each head, or their mean.
void attend_with_weights(Builder& b, const Heads& h) {
  const double scale = 1 / std::sqrt(static_cast<double>(dim_of(h.query, -1).as_int()));
  Value* scores = b.op("matmul", {b.mul(h.query, scale), b.transpose(h.key, -2, -1)});
  if (Value* keep = kept_keys(b)) {
    constexpr double kNever = -std::numeric_limits<double>::infinity();
    scores = b.where(keep, scores, kNever);
  }
  Value* weights = b.op("_safe_softmax", {scores, -1});
  b.result(merge_heads(b, b.op("matmul", {weights, h.value})));
  const bool mean = b.arg("average_attn_weights").to_bool();
  b.result(mean ? b.op("mean.dim", {weights, int_list({1})}) : weights, 1);
}

void multi_head_attention(Builder& b) {
  const Heads heads =
      project(b, b.in("query"), b.in("key"), b.in("value"), b.arg("num_head").to_int());
  if (b.arg("need_weights").to_bool()) return attend_with_weights(b, heads);
  b.result(attend(b, heads));
  b.result(b.full(b.out_type(1).sizes, 0.0, b.out_type(1).dtype), 1);
}

Value* normalise(Builder& b, Value* x, const char* weight, const char* bias) {
  return b.op("native_layer_norm",
              {x, b.size_list({dim_of(x, -1)}), b.in(weight), b.in(bias), b.arg("eps")});
}

Value* feed_forward(Builder& b, Value* x) {
  Value* wide = b.op("linear", {x, b.in("ffn_weight_1"), b.in("ffn_bias_1")});
  wide = b.op(b.arg("use_gelu").to_bool() ? "gelu" : "relu", {wide});
  return b.op("linear", {wide, b.in("ffn_weight_2"), b.in("ffn_bias_2")});
}

void encoder_layer(Builder& b) {
  Value* x = b.in("src");
  const bool norm_first = b.arg("norm_first").to_bool();
  const auto attention = [&](Value* y) {
    return attend(b, project(b, y, y, y, b.arg("num_heads").to_int()));
  };
  if (norm_first) {
    Value* y = b.add(x, attention(normalise(b, x, "norm_weight_1", "norm_bias_1")));
    return b.result(b.add(y, feed_forward(b, normalise(b, y, "norm_weight_2", "norm_bias_2"))));
  }
  Value* y = normalise(b, b.add(x, attention(x)), "norm_weight_1", "norm_bias_1");
  b.result(normalise(b, b.add(y, feed_forward(b, y)), "norm_weight_2", "norm_bias_2"));
}

}  // namespace

const Decompositions& encoder_rules() {
  static const Decompositions table = {
      {"_transformer_encoder_layer_fwd", encoder_layer},
      {"_native_multi_head_attention", multi_head_attention},
  };
  return table;
}

}  // namespace taper::exir
