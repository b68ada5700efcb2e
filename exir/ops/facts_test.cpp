// facts.def against the tables of schemas.

#include "exir/ops/facts.h"

#include <gtest/gtest.h>

#include "exir/ops/builtin.h"

namespace taper::exir {
namespace {

TEST(Facts, EveryRowNamesAnOperator) {
  for (const std::string_view name : operators_with_facts()) {
    EXPECT_NE(builtin_operators()->find(name), nullptr)
        << name << " is in facts.def and has no schema";
  }
}

// A twin takes a number where the operator takes a tensor, and nothing else differs.
TEST(Facts, TwinsTakeANumberForATensor) {
  for (const std::string_view name : operators_with_facts()) {
    const OperatorFacts& facts = facts_of(name);
    for (const char* twin : {facts.scalar, facts.reversed}) {
      if (twin == nullptr) continue;
      EXPECT_TRUE(facts.is(kPromotes)) << name;
      const std::shared_ptr<const Schema> tensors = builtin_operators()->need(name),
                                          numbers = builtin_operators()->find(twin);
      ASSERT_NE(numbers, nullptr) << twin << ", a twin of " << name << ", has no schema";
      ASSERT_GE(numbers->args.size(), 2u) << twin;
      const bool first = numbers->args[0].type.base == TypeBase::kTensor;
      EXPECT_EQ(numbers->args[first ? 1 : 0].type.base, TypeBase::kScalar) << twin;
      EXPECT_EQ(numbers->args[first ? 0 : 1].type.base, TypeBase::kTensor) << twin;
      EXPECT_EQ(tensors->args[1].type.base, TypeBase::kTensor) << name;
    }
  }
}

TEST(Facts, OperatorsWithoutARowHaveNone) {
  EXPECT_EQ(facts_of("aten::no_such_operator").rule, nullptr);
  EXPECT_EQ(facts_of("").traits, 0);
  EXPECT_TRUE(facts_of("aten::add.Tensor").is(kPromotes));
  EXPECT_STREQ(facts_of("aten::sub.Tensor").reversed, "aten::rsub.Scalar");
}

}  // namespace
}  // namespace taper::exir
