// Tests dynamic sizes, which are known only when the program runs.

#include "test/backends/backend_test.h"

namespace taper::test {
namespace {

class OpenSizes : public BackendTest {
 protected:
  std::vector<float> run(DelegatedProgram& program, int32_t rows) {
    FloatTensor x({rows, 4}, some_rows(rows));
    const std::vector<EValue> outputs = program.run({x.value()});
    EXPECT_EQ(outputs.size(), 1u) << program.error();
    return outputs.empty() ? std::vector<float>() : floats_of(outputs[0]);
  }
};

TEST_P(OpenSizes, OneProgramServesAllWithinTheBounds) {
  const auto program = load(lower(scaled_sum("s0")));
  for (const int32_t rows : {3, 8, 1, 5, 3}) {
    EXPECT_EQ(run(*program, rows), scaled_sum_of(some_rows(rows))) << rows << " rows";
  }
}

// A backend's library may not support empty tensors; the call must then fail with a message.
TEST_P(OpenSizes, NoRowsGiveNoRowsOrAnError) {
  const auto program = load(lower(scaled_sum("s0")));
  FloatTensor x({0, 4}, {});
  const std::vector<EValue> outputs = program->run({x.value()});
  if (outputs.empty()) {
    EXPECT_NE(program->error(), "");
  } else {
    EXPECT_EQ(outputs[0].to_tensor().size(0), 0);
  }
  EXPECT_EQ(run(*program, 2), scaled_sum_of(some_rows(2)));
}

TEST_P(OpenSizes, BeyondTheBoundTheCallIsRefused) {
  const auto program = load(lower(scaled_sum("s0")));
  FloatTensor x({9, 4}, some_rows(9));
  EXPECT_TRUE(program->run({x.value()}).empty());
  EXPECT_NE(program->error(), "");
  EXPECT_EQ(run(*program, 4), scaled_sum_of(some_rows(4)));
}

INSTANTIATE_TEST_SUITE_P(Suite, OpenSizes, testing::ValuesIn(all_subjects()), subject_name);

}  // namespace
}  // namespace taper::test
