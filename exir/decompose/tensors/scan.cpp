// Scans and searches as operators of this runtime, which take one pass and any sizes; reduce.cpp
// and index.cpp have them in terms of ATen's operators.

#include "exir/decompose/rules.h"

namespace taper::exir {
namespace {

bool has_lines(const Node& node) { return node.arg("self").value()->type.rank() > 0; }

void extremes(Builder& b, const char* target) {
  const std::vector<Value*> results = b.ops(target, {b.in("self"), b.arg("dim")});
  b.result(results[0], 0);
  b.result(results[1], 1);
}
void cummax(Builder& b) { extremes(b, "taper::cummax"); }
void cummin(Builder& b) { extremes(b, "taper::cummin"); }

void cumprod(Builder& b) {
  b.result(b.op("taper::cumprod", {b.cast(b.in("self"), b.out_type().dtype), b.arg("dim")}));
}

bool is_right(Builder& b) {
  const bool has_side = b.knows("side") && b.has("side");
  return b.arg("right").to_bool() || (has_side && b.arg("side").text() == "right");
}
void search(Builder& b, Value* sorted) {
  b.result(
      b.cast(b.op("taper::searchsorted", {b.in("self"), sorted, is_right(b)}), b.out_type().dtype));
}
void searchsorted(Builder& b) {
  Value* sorted = b.in("sorted_sequence");
  if (b.has("sorter")) sorted = b.op("gather", {sorted, -1, b.in("sorter")});
  search(b, sorted);
}
void bucketize(Builder& b) { search(b, b.in("boundaries")); }

bool is_same(const Node& node, const char* sorted) {
  const TensorType &rows = node.arg(sorted).value()->type, &self = node.arg("self").value()->type;
  return rows.dtype == self.dtype && rows.rank() > 0 &&
         (rows.rank() == 1 || rows.rank() == self.rank());
}

}  // namespace

const Decompositions& scan_rules() {
  static const Decompositions table = {
      {"cummax", cummax, Precision::kSame, has_lines},
      {"cummin", cummin, Precision::kSame, has_lines},
      {"cumprod", cumprod, Precision::kSame, has_lines},
      {"searchsorted.Tensor", searchsorted, Precision::kSame,
       [](const Node& node) { return is_same(node, "sorted_sequence"); }},
      {"bucketize.Tensor", bucketize, Precision::kSame,
       [](const Node& node) { return is_same(node, "boundaries"); }},
  };
  return table;
}

}  // namespace taper::exir
