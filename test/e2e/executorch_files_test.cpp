// Runs files that ExecuTorch lowered for its own backends, in test/compat/data, and compares the
// outputs with those of its runtime, or of PyTorch. Quantised results may differ by one step between processors.

#include <gtest/gtest.h>

#include <filesystem>

#include "backends/devices.h"
#include "tools/compare.h"
#include "tools/program_runner.h"

namespace taper::test {
namespace {

const std::string kFolder = TAPER_SOURCE_DIR "/test/compat/data/";

// Files with expected outputs for backends of this build, such as "xnnpack_int8_static". A name
// starts with that of the backend.
std::vector<std::string> delegated_files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".pte") continue;
    if (!std::filesystem::exists(kFolder + name + ".out0.npy")) continue;
    if (find_device(name.substr(0, name.find('_'))) != nullptr) names.push_back(name);
  }
  return names;
}

class ExecuTorchFiles : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ExecuTorchFiles);

TEST_P(ExecuTorchFiles, GiveItsNumbers) {
  const std::string stem = kFolder + GetParam();
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

INSTANTIATE_TEST_SUITE_P(Delegated, ExecuTorchFiles, testing::ValuesIn(delegated_files()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace taper::test
