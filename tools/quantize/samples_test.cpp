#include "tools/quantize/samples.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "exir/ops/builtin.h"
#include "test/support/scratch_folder.h"
#include "tools/atomic_file.h"
#include "tools/error.h"
#include "tools/npy.h"

namespace taper::tools {
namespace {

std::string floats(const std::vector<int64_t>& shape, size_t count) {
  return npy_bytes(ScalarType::kFloat, shape, std::string(count * sizeof(float), 0));
}

// Found by fuzzing: any number of samples fits into no bytes.
TEST(Samples, SeveralWithoutElementsAreRefused) {
  const auto graph =
      exir::parse_graph("graph \"g\" {\n  input %x: float32[s0, s1]\n  return %x\n}");
  const test::ScratchFolder folder;
  const std::string path = folder / "x.npy";
  for (const int64_t count : {int64_t{2}, int64_t{1} << 53}) {
    write_file(path, floats({count, 0}, 0));
    try {
      read_samples(path, *graph);
      FAIL() << count << " samples of nothing";
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()), "sample '" + path + "' holds no element");
    }
  }
  write_file(path, floats({1, 0}, 0));
  EXPECT_EQ(read_samples(path, *graph).size(), 1u);
}

// Such as the past of a decoder at its first step.
TEST(Samples, OneInputOfSeveralMayBeEmpty) {
  const auto graph = exir::parse_graph(
      "graph \"g\" {\n  input %past: float32[1, 0, 2]\n  input %x: float32[1, 4]\n"
      "  return %x\n}");
  const test::ScratchFolder folder;
  std::filesystem::create_directories(folder / "samples");
  write_file(folder / "samples/0.npy", floats({3, 0, 2}, 0));
  write_file(folder / "samples/1.npy", floats({3, 4}, 12));
  const std::vector<exir::Sample> samples = read_samples(folder / "samples", *graph);
  ASSERT_EQ(samples.size(), 3u);
  EXPECT_EQ(samples[2][0].sizes, (std::vector<int64_t>{1, 0, 2}));
  EXPECT_EQ(samples[2][1].bytes.size(), 4 * sizeof(float));
}

}  // namespace
}  // namespace taper::tools
