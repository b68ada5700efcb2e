// Tests lists of backends on the command line: every pair, including the backend for tests.

#include <gtest/gtest.h>

#include <cstring>

#include "backends/compilers.h"
#include "backends/devices.h"
#include "test/cli/command.h"
#include "tools/npy.h"

namespace taper::test {
namespace {

constexpr char kTaper[] = "taper_with_test_backends";
const std::string kModel = TAPER_SOURCE_DIR "/demo/digits.pt2";

// Compares with the outputs that PyTorch computes for an image of ones.
void expect_digits(const ScratchFolder& scratch, const std::string& program) {
  const Said said = run(kTaper, {"run", program, "--outputs", scratch / "results"});
  ASSERT_EQ(said.code, 0) << said.err;
  const tools::NpyArray array = tools::read_npy(scratch / "results/out0.npy");
  const std::vector<double> wanted = {-0.603742, -0.483303, -0.436131, -0.976292, -0.413193,
                                      -1.01005,  -0.212286, -0.989867, 4.73386,   -1.0208};
  ASSERT_EQ(array.data.size(), wanted.size() * sizeof(float));
  for (size_t i = 0; i < wanted.size(); ++i) {
    float found;
    std::memcpy(&found, array.data.data() + i * sizeof(float), sizeof(float));
    EXPECT_NEAR(found, wanted[i], 1e-4);
  }
}

TEST(Backends, EveryPairRunsAModelAndTheReportNamesBoth) {
  const ScratchFolder scratch;
  const std::string path = scratch / "digits.pte";
  for (const exir::CompilerDescriptor* first : backend_compilers()) {
    for (const exir::CompilerDescriptor* second : backend_compilers()) {
      if (first == second) continue;
      const std::string a = first->identity.name, b = second->identity.name;
      const Said said =
          run(kTaper, {"export", kModel, "-o", path, "--backend", a + "," + b, "--report"});
      ASSERT_EQ(said.code, 0) << said.err;
      EXPECT_NE(said.out.find(" of " + a + ", "), said.out.npos) << said.out;
      EXPECT_NE(said.out.find(" of " + b + ", "), said.out.npos) << said.out;
      if (find_device(a) != nullptr && find_device(b) != nullptr) expect_digits(scratch, path);
    }
  }
}

}  // namespace
}  // namespace taper::test
