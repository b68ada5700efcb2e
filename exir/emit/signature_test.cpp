// Signatures as text, and the check of input sizes against them.

#include "exir/emit/signature.h"

#include <gtest/gtest.h>

#include "exir/ir/failure.h"
#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

constexpr char kText[] =
    "input 0 x (s17, 6)\n"
    "input 2 mask (s17, max(4, 2*s17))\n"
    "symbol s17 from 2 to 10\n"
    "guard ne(s17, 7): x.size()[0] != 7\n";

TEST(Signature, IsReadBackAsWritten) { EXPECT_EQ(signature_text(parse_signature(kText)), kText); }

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

TEST(Signature, SaysWhatContradictsIt) {
  const Signature signature = parse_signature(kText);
  EXPECT_EQ(contradiction(signature, {{3, 6}, {}, {3, 6}}), "");
  EXPECT_EQ(contradiction(signature, {{11, 6}, {}, {11, 22}}),
            "dimension 0 of input x is 11, but its size s17 runs from 2 to 10");
  EXPECT_EQ(contradiction(signature, {{1, 6}, {}, {1, 4}}),
            "dimension 0 of input x is 1, but its size s17 runs from 2 to 10");
  EXPECT_EQ(contradiction(signature, {{3, 6}, {}, {4, 8}}),
            "dimension 0 of input mask is 4, but s17 is 3 by dimension 0 of input x");
  EXPECT_EQ(contradiction(signature, {{3, 6}, {}, {3, 7}}),
            "dimension 1 of input mask is 7, but max(4, 2*s17) is 6");
  EXPECT_EQ(contradiction(signature, {{7, 6}, {}, {7, 14}}),
            "the model was exported for inputs with x.size()[0] != 7 only, but dimension 0 of "
            "input x is 7");
}

TEST(Signature, OtherTextsAreRefused) {
  for (const char* text :
       {"inputs 0 x (s0)", "input x y (s0)", "input 0 x s0", "input 0 x (s0", "symbol s0 to 3",
        "symbol s0 from a to 3", "input 0 x ((s0)", "guard ne(s0, 7)", "guard ne(s0: x"}) {
    EXPECT_THROW(parse_signature(text), Failure) << text;
  }
}

}  // namespace
}  // namespace taper::exir
