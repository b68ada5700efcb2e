// The type rules against the kernels: every case of an operator that has a rule (facts.def). The
// kernels' own tests hold the same results against what they resize their outputs to.

#include <gtest/gtest.h>

#include "exir/ops/builtin.h"
#include "exir/ops/case_call_for_test.h"
#include "exir/ops/facts.h"
#include "exir/ops/infer.h"
#include "kernels_portable/engine/promote.h"
#include "test/support/op_cases.h"

namespace taper::exir {
namespace {

std::string sizes_text(const TensorType& type) {
  std::string text;
  for (const Sym& size : type.sizes) text += " " + size.text();
  return text;
}

// Numbers that are only known when the kernel runs, or complex ones, which split_complex removes.
bool is_beyond_rules(const CaseCall& call) {
  bool beyond = false;
  const auto look = [&](const Value* value) {
    const bool mask =
        call.kernel->name == "aten::index.Tensor_out" && value != call.node.args[0].value() &&
        (value->type.dtype == ScalarType::kBool || value->type.dtype == ScalarType::kByte);
    beyond = beyond || mask || is_complex(value->type.dtype);
  };
  for_each_value(call.node, look);
  for (const Value* output : call.node.outputs) look(output);
  return beyond;
}

void check(const test::OpCase& c) {
  const std::shared_ptr<const Schema> functional =
      builtin_operators()->functional_variant(c.kernel);
  if (functional == nullptr || facts_of(functional->name).rule == nullptr) return;
  const CaseCall call(c, builtin_operators()->need(c.kernel));
  if (is_beyond_rules(call)) return;
  const std::vector<TensorType> types = infer_types(*functional, call.arguments_for(*functional));
  ASSERT_EQ(types.size(), call.node.outputs.size());
  for (size_t i = 0; i < types.size(); ++i) {
    const TensorType& computed = call.node.outputs[i]->type;
    EXPECT_EQ(sizes_text(types[i]), sizes_text(computed)) << "result " << i;
    // A kernel may write into another dtype than that of its result, as PyTorch's out= may.
    EXPECT_TRUE(portable::can_cast(types[i].dtype, computed.dtype))
        << "result " << i << ": " << to_string(types[i].dtype) << ", computed "
        << to_string(computed.dtype);
  }
}

class TypeRules : public testing::TestWithParam<std::string> {};

TEST_P(TypeRules, GiveWhatTheKernelsCompute) {
  std::string problem;
  for (const test::OpCase& c : test::read_op_cases(test::op_case_path(GetParam()), &problem)) {
    if (c.refused || builtin_operators()->find(c.kernel) == nullptr) continue;
    SCOPED_TRACE(c.kernel + ", line " + std::to_string(c.line));
    check(c);
  }
}

INSTANTIATE_TEST_SUITE_P(Portable, TypeRules, testing::ValuesIn(test::op_case_families()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace taper::exir
