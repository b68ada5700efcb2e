// Reading and writing at computed positions.

#include "exir/decompose/rules.h"
#include "exir/ops/infer.h"

namespace taper::exir {
namespace {

Value* self(Builder& b) { return b.in("self"); }

// [None, ..., index, ...]: the position along one dimension.
Argument::List along(int64_t dim, Value* index) {
  Argument::List list(static_cast<size_t>(dim));
  list.push_back(index);
  return list;
}

int64_t dim_arg(Builder& b) {
  return wrap_dim(b.arg("dim").to_int(), static_cast<int64_t>(self(b)->type.rank()));
}

// The values have the rank of self, with the index's length at `dim`.
void index_copy(Builder& b) {
  const int64_t dim = dim_arg(b);
  b.result(b.op("index_put", {self(b), along(dim, b.in("index")), b.in("source"), false}));
}
void index_add(Builder& b) {
  Value* source = b.in("source");
  if (b.arg("alpha").to_double() != 1) source = b.mul(source, b.arg("alpha"));
  b.result(b.op("index_put", {self(b), along(dim_arg(b), b.in("index")), source, true}));
}
void index_fill(Builder& b) {
  Value* value = b.constant(b.arg("value").to_double(), self(b)->type.dtype);
  b.result(b.op("index_put", {self(b), along(dim_arg(b), b.in("index")), value, false}));
}

void take_along_dim(Builder& b) {
  Value* x = self(b);
  Value* index = b.in("indices");
  if (!b.has("dim")) return b.result(b.op("gather", {b.view(x, {x->type.numel()}), 0, index}));
  const int64_t dim = dim_arg(b);
  std::vector<Sym> xs = x->type.sizes, is = index->type.sizes;
  xs[static_cast<size_t>(dim)] = is[static_cast<size_t>(dim)] = 1;
  std::vector<Sym> both = broadcast(xs, is), xw = both, iw = both;
  xw[static_cast<size_t>(dim)] = dim_of(x, dim);
  iw[static_cast<size_t>(dim)] = dim_of(index, dim);
  b.result(b.op("gather", {b.expand(x, xw), dim, b.expand(index, iw)}));
}

void one_hot(Builder& b) {
  const int64_t classes = b.arg("num_classes").to_int();
  if (classes < 1) throw Failure("one_hot needs num_classes: its width would depend on the data");
  Value* x = b.unsqueeze(self(b), -1);
  b.result(b.cast(b.op("eq.Tensor", {x, b.arange(0, classes)}), ScalarType::kLong));
}

// a x b over a dimension of three.
void cross(Builder& b) {
  Value* x = self(b);
  Value* y = b.in("other");
  int64_t dim = -1;
  if (b.has("dim")) {
    dim = b.arg("dim").to_int();
  } else {
    for (int64_t d = 0; d < static_cast<int64_t>(x->type.rank()) && dim < 0; ++d) {
      if (dim_of(x, d) == Sym(3)) dim = d;
    }
  }
  const auto turn = [&](Value* v, int64_t by) {
    return b.cat({b.slice(v, dim, by, 3), b.slice(v, dim, 0, by)}, dim);
  };
  b.result(b.sub(b.mul(turn(x, 1), turn(y, 2)), b.mul(turn(x, 2), turn(y, 1))));
}

void diag_embed(Builder& b) {
  const auto rank = static_cast<int64_t>(b.out_type().rank());
  if (b.arg("offset").to_int() != 0 || wrap_dim(b.arg("dim1").to_int(), rank) != rank - 2 ||
      wrap_dim(b.arg("dim2").to_int(), rank) != rank - 1) {
    throw Failure("diag_embed other than on the main diagonal of the last two dimensions");
  }
  Value* x = self(b);
  Value* row = b.unsqueeze(b.arange(0, dim_of(x, -1)), 1);
  Value* on = b.op("eq.Tensor", {row, b.unsqueeze(b.arange(0, dim_of(x, -1)), 0)});
  b.result(b.op("where.self", {on, b.unsqueeze(x, -1), b.constant(0, x->type.dtype)}));
}

}  // namespace

const Decompositions& index_rules() {
  static const Decompositions table = {
      {"index_copy", index_copy},
      {"index_add", index_add},
      {"index_fill.int_Scalar", index_fill},
      {"take_along_dim", take_along_dim},
      {"one_hot", one_hot},
      {"linalg_cross", cross},
      {"cross", cross},
      {"diag_embed", diag_embed},
  };
  return table;
}

}  // namespace taper::exir
