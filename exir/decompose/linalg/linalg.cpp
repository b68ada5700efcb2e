// Linear algebra over batches of matrices: inverses, determinants, linear systems.
//
//   inverse(A) = solve(A, identity)         x A = B  is  solve with left = false

#include <limits>

#include "exir/decompose/rules.h"
#include "exir/ops/infer.h"

namespace taper::exir {
namespace {

using Sizes = std::vector<Sym>;

Sizes leading(const Value* x) {
  if (x->type.rank() < 2) throw Failure("linear algebra needs matrices");
  return {x->type.sizes.begin(), x->type.sizes.end() - 2};
}

Value* with_leading(Builder& b, Value* x, Sizes sizes) {
  sizes.push_back(dim_of(x, -2));
  sizes.push_back(dim_of(x, -1));
  return b.expand(x, sizes);
}

Value* identity_like(Builder& b, const Value* matrices) {
  const Sym n = dim_of(matrices, -1);
  return b.expand(b.eye(n, n, matrices->type.dtype), matrices->type.sizes);
}

std::vector<Value*> inverse_and_info(Builder& b, bool check) {
  Value* a = b.node().args.at(0).value();
  const auto solved = b.ops("_linalg_solve_ex", {a, identity_like(b, a), true, check});
  return {solved[0], solved[3]};
}

void inverse(Builder& b) { b.result(inverse_and_info(b, true)[0]); }
void inverse_ex(Builder& b) {
  const auto found = inverse_and_info(b, b.arg("check_errors").to_bool());
  b.result(found[0], 0);
  b.result(found[1], 1);
}

// B may be a vector, or a batch of vectors of the sizes of A without its last dimension.
std::vector<Value*> solved(Builder& b, bool check) {
  Value* a = b.in("A");
  Value* right = b.in("B");
  Sizes rows = leading(a);
  rows.push_back(dim_of(a, -2));
  const bool vector = right->type.rank() == 1 || right->type.sizes == rows;
  if (vector) right = b.unsqueeze(right, -1);
  const Sizes both = broadcast(leading(a), leading(right));
  const auto found =
      b.ops("_linalg_solve_ex",
            {with_leading(b, a, both), with_leading(b, right, both), b.arg("left"), check});
  return {vector ? b.squeeze(found[0], -1) : found[0], found[3]};
}

// LU, pivots and info of A alone.
std::vector<Value*> factors_of(Builder& b, Value* a) {
  Sizes line = leading(a);
  const TensorType info(ScalarType::kInt, line);
  line.push_back(dim_of(a, -1));
  const std::vector<TensorType> types = {a->type, TensorType(ScalarType::kInt, line), info};
  return b.rewriter().emit("aten::linalg_lu_factor_ex", {a, true, false}, types);
}

void solve(Builder& b) { b.result(solved(b, true)[0]); }
void solve_ex(Builder& b) {
  const auto found = solved(b, b.arg("check_errors").to_bool());
  b.result(found[0], 0);
  const bool same = found[1]->type.sizes == b.out_type(1).sizes;
  b.result(same ? found[1] : factors_of(b, b.in("A"))[2], 1);
}

void determinant(Builder& b) { b.result(b.ops("_linalg_det", {b.node().args.at(0)})[0]); }

void sign_and_logarithm(Builder& b) {
  const auto found = b.ops("_linalg_slogdet", {b.node().args.at(0)});
  b.result(found[0], 0);
  b.result(found[1], 1);
}

void logdet(Builder& b) {
  const auto found = b.ops("_linalg_slogdet", {b.in("self")});
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  b.result(b.where(b.op("eq.Scalar", {found[0], -1.0}), kNan, found[1]));
}

void cholesky(Builder& b) {
  b.result(b.ops("linalg_cholesky_ex", {b.in("self"), b.arg("upper"), true})[0]);
}

// The kernels take operands with the same batch dimensions; programs also contain calls with other
// ones.
bool needs_matching(const Node& node) {
  const TensorType& a = node.args.at(0).value()->type;
  const TensorType& right = node.args.at(1).value()->type;
  const auto lead = [](const TensorType& type) {
    return Sizes(type.sizes.begin(), type.sizes.end() - 2);
  };
  return a.rank() >= 2 && (right.rank() != a.rank() || lead(a) != lead(right));
}
void solve_matching(Builder& b) {
  const auto found = solved(b, b.arg("check_errors").to_bool());
  b.result(found[0], 0);
  const auto factors = factors_of(b, b.in("A"));
  for (size_t i = 1; i < 4; ++i) b.result(factors[i - 1], i);
}

void solve_triangular_matching(Builder& b) {
  Value* a = b.in("self");
  Value* right = b.in("B");
  if (right->type.rank() < 2) throw Failure("a triangular system whose right side is no matrix");
  const Sizes both = broadcast(leading(a), leading(right));
  b.result(
      b.op("linalg_solve_triangular", {with_leading(b, a, both), with_leading(b, right, both),
                                       b.arg("upper"), b.arg("left"), b.arg("unitriangular")}));
}

}  // namespace

const Decompositions& linalg_rules() {
  static const Decompositions table = {
      {"inverse", inverse},
      {"linalg_inv", inverse},
      {"linalg_inv_ex", inverse_ex},
      {"linalg_solve", solve},
      {"linalg_solve_ex", solve_ex},
      {"_linalg_solve_ex", solve_matching, Precision::kSame, needs_matching},
      {"linalg_solve_triangular", solve_triangular_matching, Precision::kSame, needs_matching},
      {"det", determinant},
      {"linalg_det", determinant},
      {"slogdet", sign_and_logarithm},
      {"logdet", logdet},
      {"linalg_slogdet", sign_and_logarithm},
      {"cholesky", cholesky},
      {"linalg_cholesky", cholesky},
  };
  return table;
}

}  // namespace taper::exir
