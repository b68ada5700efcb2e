// Files of ExecuTorch's own XNNPACK backend, against the numbers that its runtime gave. Processors
// round quantised numbers differently, by a step at most.

#if TAPER_XNNPACK

#include <gtest/gtest.h>

#include "tools/compare.h"
#include "tools/program_runner.h"

namespace taper::test {
namespace {

class ExecuTorchFiles : public testing::TestWithParam<const char*> {};

TEST_P(ExecuTorchFiles, GiveItsNumbers) {
  const std::string stem =
      std::string(TAPER_SOURCE_DIR) + "/test/compat/data/xnnpack_" + GetParam();
  tools::ProgramRunner runner({stem + ".pte", "", "", 1});
  const std::vector<std::string> inputs = {stem + ".in0.npy"};
  runner.set_inputs(tools::read_all(inputs), inputs);
  runner.execute();
  const std::vector<tools::Output> outputs = runner.outputs();
  ASSERT_EQ(outputs.size(), 1u);
  const tools::Comparison result =
      tools::compare(outputs[0].array, tools::read_npy(stem + ".out0.npy"), 0.02);
  EXPECT_TRUE(result.equal) << result.text;
}

INSTANTIATE_TEST_SUITE_P(Quantised, ExecuTorchFiles,
                         testing::Values("int8_static", "int8_dynamic", "int4_groups"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace taper::test

#endif
