// Tests several backends for one graph: nodes that the first does not take go to the next, then to
// the kernels.

#include <set>

#include "test/backends/backend_test.h"
#include "test/support/test_tensor.h"

namespace taper::test {
namespace {

// Nodes that all backends take, mixed with dtypes and operators that few take.
constexpr char kMixed[] = R"(graph "forward" {
  input %x: float32[2, 3]
  input %n: int64[2, 3]
  %a: float32[2, 3] = aten::add.Tensor(%x, %x)
  %m: int64[2, 3] = aten::neg(%n)
  %c: float32[2, 3] = aten::cumsum(%a, 1)
  %y: float32[2, 3] = aten::mul.Tensor(%c, %x)
  return %y, %m
})";

using Operators = std::set<std::string>;

// The operators of the nodes that the backend takes.
Operators taken_by(const std::string& backend, const Lowered& lowered) {
  Operators found;
  for (const exir::Delegation& delegation : lowered.delegations) {
    for (const exir::Delegation::Call& call : delegation.calls) {
      if (call.backend != backend) continue;
      for (const exir::Delegation::Member& node : call.nodes) found.insert(node.target);
    }
  }
  return found;
}

class Lists : public BackendTest {
 protected:
  // Runs kMixed with all backends and compares the results with numbers computed by hand.
  void expect_right(Lowered lowered) {
    std::vector<std::unique_ptr<Device>> devices;
    std::vector<Backend> backends;
    for (const Subject& each : subjects()) {
      devices.push_back(make_device(each));
      backends.push_back(backend_of(each, *devices.back()));
    }
    DelegatedProgram program(lowered.emit(), backends);
    FloatTensor x({2, 3}, {1, 2, 3, -1, 0, 4});
    TestTensor n = TestTensor::of<int64_t>(ScalarType::kLong, {2, 3}, {1, -2, 3, 4, 5, 1 << 20});
    const std::vector<EValue> outputs = program.run({x.value(), EValue(&*n)});
    ASSERT_EQ(outputs.size(), 2u) << program.error();
    EXPECT_EQ(floats_of(outputs[0]), (std::vector<float>{2, 12, 36, 2, 0, 24}));
    const int64_t* negated = outputs[1].to_tensor().const_data_ptr<int64_t>();
    EXPECT_EQ(std::vector<int64_t>(negated, negated + 6),
              (std::vector<int64_t>{-1, 2, -3, -4, -5, -(1 << 20)}));
  }
};

TEST_P(Lists, WhatABackendLeavesRunsOnKernels) {
  Lowered lowered = lower(kMixed);
  EXPECT_EQ(lowered.delegated_nodes() + lowered.refusals().size(), 4u);
  expect_right(std::move(lowered));
}

TEST_P(Lists, TheNextBackendTakesWhatIsLeft) {
  const Operators first = taken_by(subject().name, lower_for(subject().name, kMixed));
  for (const Subject& next : subjects()) {
    if (next.name == subject().name) continue;
    Operators left = taken_by(next.name, lower_for(next.name, kMixed));
    for (const std::string& each : first) left.erase(each);
    Lowered both = lower_for(subject().name + "," + next.name, kMixed);
    EXPECT_EQ(taken_by(subject().name, both), first);
    EXPECT_EQ(taken_by(next.name, both), left);
    EXPECT_EQ(both.refusals().size(), 4 - first.size() - left.size());
    expect_right(std::move(both));
  }
}

TEST_P(Lists, RanksThatABackendLacksStayOutside) {
  const std::string type = ": float32[1, 1, 1, 2, 1, 1, 1, 4]";
  Lowered lowered =
      lower_for(subject().name, "graph \"forward\" {\ninput %x" + type + "\n%y" + type +
                                    " = aten::add.Tensor(%x, %x)\nreturn %y\n}");
  EXPECT_EQ(lowered.delegated_nodes() + lowered.refusals().size(), 1u);
  const auto program = load(std::move(lowered));
  FloatTensor x({1, 1, 1, 2, 1, 1, 1, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(floats_of(program->run({x.value()}).at(0)),
            (std::vector<float>{2, 4, 6, 8, 10, 12, 14, 16}));
}

INSTANTIATE_TEST_SUITE_P(Suite, Lists, testing::ValuesIn(all_subjects()), subject_name);

}  // namespace
}  // namespace taper::test
