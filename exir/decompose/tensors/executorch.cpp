// Calls that the kernels of ExecuTorch's runtime refuse, in terms of calls that they take.

#include "exir/decompose/rules.h"

namespace taper::exir {
namespace {

Value* self(Builder& b) { return b.in("self"); }

bool is_flat_roll(const Node& node) { return node.arg("dims").list().empty(); }

// Without dimensions the elements move as if they lay in one: ExecuTorch wants as many dimensions
// as shifts.
void flat_roll(Builder& b) {
  Value* x = self(b);
  Value* moved = b.op("roll", {b.view(x, {x->type.numel()}), b.arg("shifts"), int_list({0})});
  b.result(b.view(moved, x->type.sizes));
}

bool is_of_a_number(const Node& node) { return node.arg("self").value()->type.rank() == 0; }

void cumsum_of_a_number(Builder& b) { b.result(b.cast(self(b), b.out_type().dtype)); }

bool number_widens(const Node& node) {
  const Argument& other = node.arg("other");
  const bool is_number = !other.is_value() || other.value()->kind != ValueKind::kTensor;
  const Argument& left = node.arg("self");
  return is_number && left.is_value() && left.value()->kind == ValueKind::kTensor &&
         left.value()->type.dtype != node.outputs[0]->type.dtype;
}

// ExecuTorch adds a number to tensors of the result's dtype only.
template <const char* kName>
void widened(Builder& b) {
  b.result(b.op(kName, {b.cast(self(b), b.out_type().dtype), b.arg("other"), b.arg("alpha")}));
}
constexpr char kAdd[] = "add.Tensor", kSub[] = "sub.Tensor";
constexpr char kAddNumber[] = "add.Scalar", kSubNumber[] = "sub.Scalar";

}  // namespace

const Decompositions& executorch_rules() {
  static const Decompositions table = {
      {"roll", flat_roll, Precision::kSame, is_flat_roll},
      {"cumsum", cumsum_of_a_number, Precision::kSame, is_of_a_number},
      {kAdd, widened<kAdd>, Precision::kSame, number_widens},
      {kSub, widened<kSub>, Precision::kSame, number_widens},
      {kAddNumber, widened<kAddNumber>, Precision::kSame, number_widens},
      {kSubNumber, widened<kSubNumber>, Precision::kSame, number_widens},
  };
  return table;
}

}  // namespace taper::exir
