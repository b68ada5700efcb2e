// Signatures as text.

#include "exir/emit/signature.h"

#include <gtest/gtest.h>

#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

TEST(Signature, ListsTheInputsWithSymbolicSizes) {
  Graph graph(builtin_operators());
  const Sym rows = Sym::symbol("s0");
  Value* fixed = graph.new_tensor("fixed", TensorType(ScalarType::kFloat, {3}));
  Value* open = graph.new_tensor("open", TensorType(ScalarType::kFloat, {rows, rows * 2}));
  graph.inputs = {Argument(fixed), Argument(7), Argument(open)};
  graph.ranges["s0"] = {1, 5};
  graph.ranges["s1"] = {1, 9};
  EXPECT_EQ(signature_text(signature_of(graph)),
            "input 2 open (s0, 2*s0)\nsymbol s0 from 1 to 5\n");
}

}  // namespace
}  // namespace taper::exir
