// Sums, means and maxima of the rows of a table that bags of indices select.

#include <limits>

#include "exir/decompose/rules.h"

namespace taper::exir {
namespace {

constexpr int64_t kLargest = 2;  // The mode that takes the maximum.

struct Bags {
  Value* offsets;
  bool closed;  // The last offset is the end of the last bag, not the start of another.
  Sym count;
};
Bags bags_of(Builder& b) {
  Value* offsets = b.in("offsets");
  const bool closed = b.arg("include_last_offset").to_bool();
  return {offsets, closed, closed ? dim_of(offsets, 0) - Sym(1) : dim_of(offsets, 0)};
}

// The index of the padding row, which does not contribute; -1 if there is none.
int64_t padding_of(Builder& b) {
  if (!b.knows("padding_idx") || !b.has("padding_idx")) return -1;
  const int64_t padding = b.arg("padding_idx").to_int();
  // In the public overload -1 is the last row; in the internal ones it means that there is none.
  const bool wraps =
      padding < -1 || (padding == -1 && b.node().is("aten::embedding_bag.padding_idx"));
  const Sym rows = dim_of(b.in("weight"), 0);
  return wraps && rows.is_int() ? padding + rows.as_int() : padding;
}

// The mask [bags, N] of the indices that each bag holds: those from its offset up to the next.
Value* members(Builder& b, const Bags& bags, const Sym& count) {
  Value* offsets = bags.offsets;
  Value* place = b.unsqueeze(b.arange(0, count, offsets->type.dtype), 0);
  Value* end = b.slice(offsets, 0, 1, dim_of(offsets, 0));
  if (!bags.closed) end = b.cat({end, b.full({Sym(1)}, b.size(count), offsets->type.dtype)}, 0);
  Value* start = b.unsqueeze(b.slice(offsets, 0, 0, bags.count), 1);
  return b.op("logical_and",
              {b.op("ge.Tensor", {place, start}), b.op("lt.Tensor", {place, b.unsqueeze(end, 1)})});
}

Value* largest_in_bags(Builder& b, Value* inside, Value* rows) {
  const ScalarType dtype = rows->type.dtype;
  Value* low = b.constant(-std::numeric_limits<double>::infinity(), dtype);
  Value* wide = b.op("where.self", {b.unsqueeze(inside, 2), b.unsqueeze(rows, 0), low});
  Value* some = b.op("any.dim", {inside, 1, true});
  return b.where(some, b.op("amax", {wide, int_list({1})}), 0.0);
}

// The bag of each row: the number of offsets at or before its position, less one.
Value* bag_of_rows(Builder& b, const Bags& bags, const Sym& count) {
  Value* place = b.arange(0, count, bags.offsets->type.dtype);
  const TensorType type(ScalarType::kLong, {count});
  const Argument::List args{bags.offsets, place, false, true};
  return b.sub(b.rewriter().emit("aten::searchsorted.Tensor", args, {type})[0], 1);
}

// `value` for each bag, and for one more that collects the rows after the last offset if that one
// ends a bag.
Value* full_bags(Builder& b, const Bags& bags, const Value* rows, double value) {
  std::vector<Sym> sizes = rows->type.sizes;
  sizes[0] = bags.count + Sym(1);
  return b.full(sizes, value, rows->type.dtype);
}

Value* sum_in_bags(Builder& b, const Bags& bags, Value* rows) {
  const Argument::List bag{bag_of_rows(b, bags, dim_of(rows, 0))};
  Value* sums = b.op("index_put", {full_bags(b, bags, rows, 0.0), bag, rows, true});
  return b.slice(sums, 0, 0, bags.count);
}

// The rows of an embedding_bag, times their weights.
Value* rows_of(Builder& b) {
  Value* rows = b.cast(b.op("embedding", {b.in("weight"), b.in("indices")}), b.wide_type());
  if (!b.has("per_sample_weights")) return rows;
  return b.mul(rows, b.unsqueeze(b.cast(b.in("per_sample_weights"), rows->type.dtype), 1));
}

// Which indices are not the padding; null if there is none.
Value* real_indices(Builder& b) {
  const int64_t padding = padding_of(b);
  return padding < 0 ? nullptr : b.op("ne.Scalar", {b.in("indices"), padding});
}

// Sum, mean or maximum of the rows of each bag; an empty bag gives zeros.
void embedding_bag(Builder& b) {
  const Bags bags = bags_of(b);
  Value* rows = rows_of(b);
  const ScalarType dtype = rows->type.dtype;
  const int64_t mode = b.arg("mode").to_int();
  Value* real = real_indices(b);
  if (mode == kLargest) {
    Value* inside = members(b, bags, dim_of(rows, 0));
    if (real != nullptr) inside = b.op("logical_and", {inside, b.unsqueeze(real, 0)});
    return b.result(largest_in_bags(b, inside, rows));
  }
  if (real != nullptr) rows = b.where(b.unsqueeze(real, 1), rows, 0.0);
  Value* sum = sum_in_bags(b, bags, rows);
  if (mode == 0) return b.result(sum);
  Value* ones = real != nullptr ? b.cast(real, dtype) : b.full({dim_of(rows, 0)}, 1.0, dtype);
  Value* count = b.unsqueeze(sum_in_bags(b, bags, ones), 1);
  b.result(b.div(sum, b.op("clamp", {count, 1, Argument()})));
}

// The maximum in one pass over the rows. Bags without rows keep the infinity.
void largest_scattered(Builder& b) {
  const Bags bags = bags_of(b);
  Value* rows = rows_of(b);
  const Sym count = dim_of(rows, 0);
  Value* bag = bag_of_rows(b, bags, count);
  if (Value* real = real_indices(b)) {
    bag = b.where(real, bag, b.full({}, b.size(bags.count), ScalarType::kLong));
  }
  const double low = -std::numeric_limits<double>::infinity();
  Value* none = full_bags(b, bags, rows, low);
  Value* places = b.expand(b.unsqueeze(bag, 1), rows->type.sizes);
  Value* most = b.op("scatter_reduce.two", {none, 0, places, rows, "amax", true});
  most = b.slice(most, 0, 0, bags.count);
  Value* sizes =
      b.op("index_put", {b.full({bags.count + Sym(1)}, 0, ScalarType::kLong), Argument::List{bag},
                         b.full({count}, 1, ScalarType::kLong), true});
  Value* some = b.op("gt.Scalar", {b.slice(sizes, 0, 0, bags.count), 0});
  b.result(b.where(b.unsqueeze(some, 1), most, 0.0));
}

bool is_largest(const Node& node) { return node.arg("mode").to_int() == kLargest; }

}  // namespace

const Decompositions& bag_rules() {
  static const Decompositions table = {
      {"embedding_bag", embedding_bag},
      {"embedding_bag.padding_idx", embedding_bag},
      {"_embedding_bag", embedding_bag},
      {"_embedding_bag_forward_only", embedding_bag},
  };
  return table;
}

const Decompositions& scattered_bag_rules() {
  static const Decompositions table = {
      {"embedding_bag", largest_scattered, Precision::kSame, is_largest},
      {"embedding_bag.padding_idx", largest_scattered, Precision::kSame, is_largest},
      {"_embedding_bag", largest_scattered, Precision::kSame, is_largest},
      {"_embedding_bag_forward_only", largest_scattered, Precision::kSame, is_largest},
  };
  return table;
}

}  // namespace taper::exir
