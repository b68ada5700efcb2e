#include "exir/ops/declare.h"

#include <gtest/gtest.h>

#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

std::string problem(const std::string& text) {
  try {
    for_each_declaration(text, "ops.txt", [](const Declaration&) {});
    return "";
  } catch (const Failure& failure) {
    return failure.what();
  }
}

Declaration one(const std::string& line) {
  Declaration out;
  for_each_declaration(line, "ops.txt", [&](const Declaration& op) { out = op; });
  return out;
}

TEST(Declare, DerivesTheKernel) {
  EXPECT_EQ(to_text(*one("t::f(Tensor x, float by=2.0) -> Tensor").kernel),
            "t::f.out(Tensor x, float by=2.0, *, Tensor(o0!) out) -> Tensor(o0!)");
  EXPECT_EQ(to_text(*one("t::f.int(Tensor out) -> (Tensor, Tensor)").kernel),
            "t::f.int_out(Tensor out, *, Tensor(o0!) out0, Tensor(o1!) out1) -> (Tensor(o0!), "
            "Tensor(o1!))");
  EXPECT_EQ(to_text(*one("t::f(Tensor x) -> Tensor[]  kernel t::fast.o").kernel),
            "t::fast.o(Tensor x, *, Tensor(o0!)[] out) -> ()");
  EXPECT_FALSE(one("t::w_(Tensor(a!) x) -> ()").kernel.has_value());
  EXPECT_EQ(to_text(*one("t::w_(Tensor(a!) x) -> Tensor(a!) kernel t::v_").kernel),
            "t::v_(Tensor(a!) x) -> Tensor(a!)");
}

TEST(Declare, FormsWithoutWrites) {
  EXPECT_EQ(to_text(*form_without_writes(one("t::w_(Tensor(a!) x, Tensor y) -> Tensor").schema)),
            "t::w_.functional(Tensor x, Tensor y) -> (Tensor, Tensor)");
  EXPECT_FALSE(form_without_writes(one("t::f(Tensor x) -> Tensor").schema).has_value());
}

TEST(Declare, NamesTheLineAndWhatIsWrong) {
  EXPECT_EQ(problem("# nothing\n\n  \t\n"), "");
  EXPECT_EQ(problem("\nt::f(Tensor x)"), "ops.txt:2: \"->\" and the results are missing");
  EXPECT_NE(problem("t::f(Tensor x ->").find("ops.txt:1: "), std::string::npos);
  EXPECT_EQ(problem("aten::f(Tensor x) -> Tensor"),
            "ops.txt:1: the namespace of aten::f is PyTorch's own");
  EXPECT_EQ(problem("::f(Tensor x) -> Tensor"),
            "ops.txt:1: \"::f\" is no name like ns::op or ns::op.overload");
  EXPECT_EQ(problem("t::f(Tensor x, int x) -> Tensor"), "ops.txt:1: two arguments are called x");
  EXPECT_EQ(problem("t::f(Tensor x) -> int"), "ops.txt:1: results must be tensors");
  EXPECT_EQ(problem("t::f(Tensor(a!)? x) -> ()"), "ops.txt:1: only single tensors can be written");
  EXPECT_EQ(problem("t::f(Tensor(a) x) -> Tensor(a)"),
            "ops.txt:1: a result aliases \"a\", which no argument does");
  EXPECT_EQ(problem("t::f(Tensor x) -> Tensor  like z"),
            "ops.txt:1: \"like\" needs the name of a tensor argument for each result");
  EXPECT_EQ(problem("t::f(Tensor x) -> Tensor  as aten::nothing"),
            "ops.txt:1: no type rule is called aten::nothing");
  EXPECT_EQ(problem("t::f(Tensor x) -> Tensor  likely x"),
            "ops.txt:1: \"likely\" is none of like, as, kernel, random");
  EXPECT_EQ(problem("t::f(Tensor x) -> Tensor  kernel"),
            "ops.txt:1: a name must follow \"kernel\"");
}

TEST(Declare, MakesOperatorsKnown) {
  const Operators known = declare_operators(
      builtin_operators(), "declare_test::f(Tensor x, Tensor y) -> Tensor  as aten::mm", "ops.txt");
  EXPECT_TRUE(known->is_declared("declare_test::f"));
  EXPECT_TRUE(known->is_declared("declare_test::f.out"));
  EXPECT_FALSE(known->is_declared("aten::mm"));
  EXPECT_EQ(known->out_variant("declare_test::f")->name, "declare_test::f.out");
  EXPECT_EQ(known->functional_variant("declare_test::f.out")->name, "declare_test::f");
  EXPECT_EQ(known->out_variant("aten::add.Tensor")->name, "aten::add.out");
  Graph graph(known);
  Value* x = graph.new_tensor("x", {ScalarType::kFloat, {2, 3}});
  Value* y = graph.new_tensor("y", {ScalarType::kFloat, {3, 5}});
  const auto types =
      known->declared_types("declare_test::f")(*known->need("declare_test::f"), {x, y});
  ASSERT_EQ(types.size(), 1u);
  EXPECT_EQ(types[0], (TensorType{ScalarType::kFloat, {2, 5}}));
}

TEST(Declare, ANameStandsForOneOperator) {
  const std::string_view line = "declare_test::f(Tensor x, Tensor y) -> Tensor";
  const Operators known = declare_operators(builtin_operators(), line, "ops.txt");
  EXPECT_NO_THROW(declare_operators(known, line, "again.txt"));
  EXPECT_THROW(declare_operators(known, "declare_test::f(Tensor x) -> Tensor", "ops.txt"), Failure);
  EXPECT_THROW(
      declare_operators(known, "declare_test::g(Tensor x) -> Tensor kernel aten::relu.out", "ops"),
      Failure);
}

TEST(Declare, DeclarationsOfOneRequestAreUnknownToOthers) {
  const auto declare = [](const std::string& result) {
    return declare_operators(builtin_operators(), "declare_test::f(Tensor x) -> " + result, "ops");
  };
  const Operators one = declare("Tensor"), two = declare("(Tensor, Tensor)");
  EXPECT_EQ(one->need("declare_test::f")->returns.size(), 1u);
  EXPECT_EQ(two->need("declare_test::f")->returns.size(), 2u);
  EXPECT_EQ(builtin_operators()->find("declare_test::f"), nullptr);
  EXPECT_FALSE(builtin_operators()->is_declared("declare_test::f"));
}

TEST(Declare, SuggestsALineForAnUnknownOperator) {
  Graph graph(builtin_operators());
  Schema schema;
  schema.name = "t::g";
  for (const char* name : {"x", "dims", "mode", "eps"})
    schema.args.push_back({name, {}, "", false, false, ""});
  Node* node =
      graph.append(std::make_shared<Schema>(schema),
                   {graph.new_tensor("x", {ScalarType::kFloat, {}}), int_list({1, 2}), "sum", 0.5});
  EXPECT_EQ(suggested_declaration(*node),
            "t::g(Tensor(a!) x, int[] dims, str mode, float eps) -> ()");
  node->outputs = {graph.new_tensor("y", {ScalarType::kFloat, {}})};
  EXPECT_EQ(suggested_declaration(*node),
            "t::g(Tensor x, int[] dims, str mode, float eps) -> Tensor");
}

}  // namespace
}  // namespace taper::exir
