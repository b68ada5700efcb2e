// taper quantize as a command: what it writes, and its one line for each wrong input.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "test/cli/command.h"
#include "test/cli/npz.h"
#include "tools/atomic_file.h"
#include "tools/npy.h"

namespace taper::test {
namespace {

const std::string kDigits = std::string(TAPER_SOURCE_DIR) + "/demo/digits";

std::string floats(const std::vector<int64_t>& shape, float value) {
  size_t count = 1;
  for (const int64_t size : shape) count *= static_cast<size_t>(size);
  const std::vector<float> values(count, value);
  return tools::npy_bytes(ScalarType::kFloat, shape,
                          {reinterpret_cast<const char*>(values.data()), count * sizeof(float)});
}

Said quantize(const ScratchFolder& folder, std::vector<std::string> more) {
  std::vector<std::string> arguments = {"quantize", kDigits + ".pt2", "-o", folder / "q.pt2"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run("taper", arguments);
}

TEST(Quantize, WritesAProgramThatExportTakes) {
  const ScratchFolder folder;
  const std::string images = kDigits + "_images.npy";
  const Said said = quantize(folder, {"-c", images, "--labels", kDigits + "_labels.npy", "--json",
                                      folder / "r.json", "--html", folder / "r.html"});
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(said.err, "");
  EXPECT_NE(said.out.find("21 of 21 layers quantised"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("accuracy 98.89 %"), std::string::npos) << said.out;
  EXPECT_NE(tools::read_file(folder / "r.json").find("\"weight_snr_db\""), std::string::npos);
  EXPECT_NE(tools::read_file(folder / "r.html").find("<td>conv2d"), std::string::npos);
  EXPECT_EQ(run("taper", {"check", folder / "q.pt2"}).code, 0);
  const Said exported = run("taper", {"export", folder / "q.pt2", "-o", folder / "q.pte"});
  EXPECT_EQ(exported.code, 0) << exported.err;
  // What was written may be read again, and quantising it once more finds nothing new to do.
  const Said twice =
      run("taper", {"quantize", folder / "q.pt2", "-o", folder / "qq.pt2", "-c", images});
  EXPECT_EQ(twice.code, 1);
  EXPECT_NE(twice.err.find("q.pt2' is quantised already"), std::string::npos) << twice.err;
}

TEST(Quantize, SameInputSameBytes) {
  const ScratchFolder folder;
  const std::vector<std::string> options = {"-c", kDigits + "_images.npy", "--sensitivity"};
  ASSERT_EQ(quantize(folder, options).code, 0);
  const std::string first = tools::read_file(folder / "q.pt2");
  ASSERT_EQ(quantize(folder, options).code, 0);
  EXPECT_EQ(tools::read_file(folder / "q.pt2"), first);
}

TEST(Quantize, TakesEveryScheme) {
  const ScratchFolder folder;
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--dynamic"},
                                                  {"--weights", "int8"},
                                                  {"--weights", "int4:32"},
                                                  {"--dynamic", "--weights", "int4:8"},
                                                  {"--target", "portable", "--weights", "int4"}}) {
    const Said said = quantize(folder, options);
    EXPECT_EQ(said.code, 0) << said.err;
    EXPECT_EQ(run("taper", {"export", folder / "q.pt2", "-o", folder / "q.pte"}).code, 0);
  }
}

TEST(Quantize, ReadsSamplesInEveryForm) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder / "files");
  std::filesystem::create_directories(folder / "archives");
  std::filesystem::create_directories(folder / "folders/0");
  std::filesystem::create_directories(folder / "folders/1");
  tools::write_file(folder / "files/9.npy", floats({1, 1, 8, 8}, 0.5f));
  tools::write_file(folder / "files/10.npy", floats({3, 1, 8, 8}, 1));
  tools::write_file(folder / "archives/a.npz", npz({{"x", floats({1, 1, 8, 8}, 0)}}));
  tools::write_file(folder / "archives/b.npz", npz({{"x", floats({2, 1, 8, 8}, 1)}}));
  tools::write_file(folder / "folders/0/x.npy", floats({1, 1, 8, 8}, 0));
  tools::write_file(folder / "folders/1/x.npy", floats({1, 1, 8, 8}, 1));
  tools::write_file(folder / "stacked.npy", floats({5, 1, 1, 8, 8}, 1));
  EXPECT_NE(quantize(folder, {"-c", folder / "files"}).out.find("on 4 samples"), std::string::npos);
  EXPECT_NE(quantize(folder, {"-c", folder / "stacked.npy"}).out.find("on 5 samples"),
            std::string::npos);
  EXPECT_NE(quantize(folder, {"-c", folder / "archives"}).out.find("on 3 samples"),
            std::string::npos);
  EXPECT_NE(quantize(folder, {"-c", folder / "folders"}).out.find("on 2 samples"),
            std::string::npos);
}

TEST(Quantize, KeepsLayersInFloat) {
  const ScratchFolder folder;
  const Said said = quantize(folder, {"-c", kDigits + "_images.npy", "--keep", "classifier.1"});
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_NE(said.out.find("float: kept as asked"), std::string::npos) << said.out;
}

// One line that names the cause, the right exit code, and no file.
TEST(Quantize, SaysWhatIsWrong) {
  const ScratchFolder folder;
  tools::write_file(folder / "shape.npy", floats({4, 1, 8, 7}, 1));
  tools::write_file(folder / "stack.npy", floats({4, 1, 1, 8, 7}, 1));
  tools::write_file(folder / "none.npy", floats({0, 1, 8, 8}, 1));
  tools::write_file(folder / "nan.npy", floats({1, 1, 8, 8}, std::nanf("")));
  tools::write_file(folder / "text.npy", "not an array");
  tools::write_file(folder / "text.npz", "not an archive");
  tools::write_file(folder / "dtype.npy",
                    tools::npy_bytes(ScalarType::kByte, {1, 1, 8, 8}, std::string(64, 'x')));
  std::filesystem::create_directories(folder / "empty");
  struct Case {
    std::vector<std::string> options;
    int code;
    const char* says;
  };
  const std::string images = kDigits + "_images.npy";
  for (const Case& each : {
           Case{{}, 2, "--calibrate is missing"},
           Case{{"-c", folder / "absent"}, 1, "absent"},
           Case{{"-c", folder / "empty"}, 1, "there is no .npy or .npz file"},
           Case{{"-c", folder / "shape.npy"}, 1, "given float32 (4, 1, 8, 7)"},
           Case{{"-c", folder / "stack.npy"}, 1, "given float32 (4, 1, 1, 8, 7)"},
           Case{{"-c", folder / "none.npy"}, 1, "is empty"},
           Case{{"-c", folder / "nan.npy"}, 1, "NaN or infinity"},
           Case{{"-c", folder / "dtype.npy"}, 1, "given uint8"},
           Case{{"-c", folder / "text.npy"}, 1, "text.npy"},
           Case{{"-c", folder / "text.npz"}, 1, "text.npz"},
           Case{{"-c", images, "--keep", "nobody"}, 1, "digits.pt2' has no layer 'nobody'"},
           Case{{"-c", images, "--ranges", "best"}, 2, "best"},
           Case{{"-c", images, "--without", "luck"}, 2, "luck"},
           Case{{"-c", images, "--max-drop", "much"}, 2, "much"},
           Case{{"-c", images, "--labels", images}, 1, "expected integers"},
           Case{{"--weights", "int3"}, 2, "int3"},
           Case{{"--weights", "int4:0"}, 2, "int4:0"},
           Case{{"--dynamic", "--max-drop", "1%"}, 2, "need samples"},
           Case{{"-c", images, "--target", "nothing"}, 2, "nothing"},
           Case{{"--dynamic", "--target", "nothing"}, 2, "--target: no backend 'nothing'"},
           Case{{"--float16", "--dynamic"}, 2, "--float16 and --dynamic exclude each other"},
           Case{{"--float16", "--weights", "int8"}, 2, "--float16 and --weights"},
           Case{{"--float16", "--without", "bias"}, 2, "--float16 and --without"},
           Case{{"--float16", "--max-drop", "1%"}, 2, "need samples"},
       }) {
    const Said said = quantize(folder, each.options);
    EXPECT_EQ(said.code, each.code) << each.says << said.err;
    EXPECT_NE(said.err.find(each.says), std::string::npos) << each.says << ": " << said.err;
    EXPECT_FALSE(std::filesystem::exists(folder / "q.pt2")) << each.says;
  }
}

}  // namespace
}  // namespace taper::test
