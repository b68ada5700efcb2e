// Operators of prims whose arguments are not those of an operator of ATen.

#include <algorithm>

#include "exir/decompose/rules.h"

namespace taper::exir {
namespace {

// The dimensions of the tensor, each of them at its place in the shape; the rest is repeated.
void broadcast_in_dim(Builder& b) {
  Value* x = b.in("a");
  const TensorSizes& shape = b.out_type().sizes;
  const Argument::List& places = b.arg("broadcast_dimensions").list();
  if (places.size() != x->type.rank()) throw Failure("names another number of dimensions");
  std::vector<Sym> sizes(shape.size(), Sym(1));
  for (size_t d = 0; d < places.size(); ++d) {
    sizes.at(static_cast<size_t>(places[d].to_int())) = x->type.sizes[d];
  }
  b.result(b.expand(b.view(x, sizes), shape));
}

void with_sizes(Builder& b) { b.result(b.view(b.in("a"), b.out_type().sizes)); }

void itself(Builder& b) { b.result(b.in("a")); }

// Integers are divided towards 0.
void divide(Builder& b) {
  Value *left = b.in("self"), *right = b.in("other");
  if (is_floating(b.out_type().dtype)) return b.result(b.div(left, right));
  b.result(b.op("div.Tensor_mode", {left, right, "trunc"}));
}

// start, start + step, ...
void iota(Builder& b) {
  const ScalarType dtype = b.out_type().dtype;
  Value* count = b.arange(Sym(0), b.out_type().sizes.at(0));
  b.result(b.cast(b.add(b.mul(count, b.arg("step")), b.arg("start")), dtype));
}

void product(Builder& b) {
  Value* x = b.in("inp");
  const auto rank = std::max<int64_t>(1, static_cast<int64_t>(x->type.rank()));
  if (!b.has("dims")) return b.result(b.op("prod", {x}));
  std::vector<int64_t> dims;
  for (const Argument& each : b.arg("dims").list()) dims.push_back((each.to_int() + rank) % rank);
  std::sort(dims.rbegin(), dims.rend());
  for (const int64_t dim : dims) x = b.op("prod.dim_int", {x, dim, false});
  b.result(x);
}

}  // namespace

const Decompositions& prim_rules() {
  static const Decompositions table = {
      {"prims::broadcast_in_dim", broadcast_in_dim},
      {"prims::collapse", with_sizes},
      {"prims::collapse_view", with_sizes},
      {"prims::copy_strided", itself},
      {"prims::device_put", itself},
      {"prims::div", divide},
      {"prims::iota", iota},
      {"prims::prod", product},
      {"prims::split_dim", with_sizes},
  };
  return table;
}

}  // namespace taper::exir
