// Runs files that ExecuTorch lowered for its own backends or its portable operators, in
// test/compat/data, and compares the outputs with those of its runtime, or of PyTorch. Quantised results may differ by one step between
// processors.

#include <gtest/gtest.h>

#include <filesystem>

#include "backends/devices.h"
#include "tools/compare.h"
#include "tools/program_runner.h"

namespace taper::test {
namespace {

const std::string kFolder = TAPER_SOURCE_DIR "/test/compat/data/";

// A program and what it is called with: "vulkan_methods.decode" for a method that is not forward.
struct Call {
  std::string file, method;

  std::string stem() const { return kFolder + file + (method.empty() ? "" : "." + method); }
  double tolerance() const { return file.find("_int") == file.npos ? 1e-4 : 0.02; }
  // The arrays of that kind: "in" or "out". Steps are executions, between which state persists.
  std::vector<std::string> arrays(const std::string& kind, int step) const {
    const std::string name = stem() + (step == 0 ? "" : ".step" + std::to_string(step));
    std::vector<std::string> paths;
    for (;;) {
      std::string path = name + "." + kind + std::to_string(paths.size()) + ".npy";
      if (!std::filesystem::exists(path)) return paths;
      paths.push_back(std::move(path));
    }
  }
};

// Programs with expected outputs for backends of this build. A name starts with that of the
// backend, or with "portable".
std::vector<Call> files_with_outputs() {
  std::vector<Call> calls;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    const std::string path = entry.path().filename().string();
    const size_t end = path.find(".out0.npy");
    if (end == path.npos) continue;
    if (path.find(".step") != path.npos) continue;
    const std::string stem = path.substr(0, end), file = stem.substr(0, stem.find('.'));
    const std::string kind = file.substr(0, file.find('_'));
    if (kind != "portable" && find_device(kind) == nullptr) continue;
    calls.push_back({file, file == stem ? "" : stem.substr(file.size() + 1)});
  }
  return calls;
}

class ExecuTorchFiles : public testing::TestWithParam<Call> {};

TEST_P(ExecuTorchFiles, GiveItsNumbers) {
  const Call& call = GetParam();
  tools::ProgramRunner runner({kFolder + call.file + ".pte", "", call.method, 1});
  for (int step = 0; step == 0 || !call.arrays("out", step).empty(); ++step) {
    const std::vector<std::string> inputs = call.arrays("in", step);
    const std::vector<std::string> expected = call.arrays("out", step);
    runner.set_inputs(tools::read_all(inputs), inputs);
    runner.execute();
    const std::vector<tools::Output> outputs = runner.outputs();
    ASSERT_EQ(outputs.size(), expected.size());
    for (size_t k = 0; k < outputs.size(); ++k) {
      const tools::Comparison result =
          tools::compare(outputs[k].array, tools::read_npy(expected[k]), call.tolerance());
      EXPECT_TRUE(result.equal) << "step " << step << ": " << result.text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Stored, ExecuTorchFiles, testing::ValuesIn(files_with_outputs()),
                         [](const auto& info) {
                           const Call& call = info.param;
                           return call.file + (call.method.empty() ? "" : "_" + call.method);
                         });

}  // namespace
}  // namespace taper::test
