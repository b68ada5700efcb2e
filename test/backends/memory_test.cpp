// Tests that an execution does not allocate from the heap and writes only its outputs.

#include "test/backends/backend_test.h"
#include "test/support/heap_counter.h"

namespace taper::test {
namespace {

class Memory : public BackendTest {};

TEST_P(Memory, ExecuteTakesNoneFromTheHeap) {
  const auto program = load(lower(scaled_sum("s0")));
  Method& method = *program->module().method("forward");
  FloatTensor x({5, 4}, some_rows(5));
  const auto run = [&] { return method.set_input(0, x.value()).ok() && method.execute().ok(); };
  ASSERT_TRUE(run());
  const uint64_t before = heap_calls();
  ASSERT_TRUE(run());
  ASSERT_TRUE(run());
  EXPECT_EQ(heap_calls(), before);
}

TEST_P(Memory, InputsAndConstantsStayAsTheyWere) {
  const auto program = load(lower(scaled_sum("3")));
  FloatTensor x({3, 4}, some_rows(3));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(floats_of(program->run({x.value()}).at(0)), scaled_sum_of(some_rows(3)));
    EXPECT_EQ(x.values(), some_rows(3));
  }
}

TEST_P(Memory, OutputsAliasNothing) {
  const auto program = load(lower(R"(graph "forward" {
    input %x: float32[2, 4]
    constant %one: float32[1] = {1}
    %y: float32[2, 4] = aten::add.Tensor(%x, %one)
    %z: float32[2, 4] = aten::mul.Tensor(%y, %x)
    return %y, %z
  })"));
  FloatTensor x({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  const std::vector<EValue> outputs = program->run({x.value()});
  ASSERT_EQ(outputs.size(), 2u) << program->error();
  std::fill(x.values().begin(), x.values().end(), -1.0F);
  EXPECT_EQ(floats_of(outputs[0]), (std::vector<float>{2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(floats_of(outputs[1]), (std::vector<float>{2, 6, 12, 20, 30, 42, 56, 72}));
  float* sums = outputs[0].to_tensor().mutable_data_ptr<float>();
  std::fill(sums, sums + 8, -1.0F);
  EXPECT_EQ(floats_of(outputs[1]), (std::vector<float>{2, 6, 12, 20, 30, 42, 56, 72}));
}

INSTANTIATE_TEST_SUITE_P(Suite, Memory, testing::ValuesIn(all_subjects()), subject_name);

}  // namespace
}  // namespace taper::test
