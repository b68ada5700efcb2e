// Tests weights packed ahead of time: beside the model with --cache, or in it with taper pack.

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "backends/devices.h"
#include "test/cli/command.h"
#include "tools/atomic_file.h"

namespace taper::test {
namespace {

const std::string kModels = TAPER_SOURCE_DIR "/test/models/data/";

// The first backend that packs weights ahead of time; null if this build has none.
const DeviceDescriptor* packer() {
  for (const DeviceDescriptor* each : backend_devices()) {
    if (each->packed_key != nullptr) return each;
  }
  return nullptr;
}

// Exports a test model, by default a small ResNet-18, for that backend.
std::string exported(const ScratchFolder& scratch, const std::string& model = "resnet18") {
  std::string path = scratch / (model + ".pte");
  const char* backend = packer() == nullptr ? "portable" : packer()->identity.name;
  const Said said =
      run("taper", {"export", kModels + model + ".pt2", "--backend", backend, "-o", path});
  EXPECT_EQ(said.code, 0) << said.err;
  return path;
}

using Options = std::vector<std::string>;

Said run_with(const std::string& path, const Options& options) {
  Options arguments = {"run", path, "--threads", "1"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return run("taper", arguments);
}

Said run_model(const std::string& path, bool cache = false) {
  Said said = run_with(path, cache ? Options{"--cache"} : Options{});
  EXPECT_EQ(said.code, 0) << said.err;
  return said;
}

bool has(const Said& said, const std::string& part) {
  return said.err.find(part) != std::string::npos;
}

class Cache : public testing::Test {
 protected:
  void SetUp() override {
    if (packer() == nullptr) {
      const Said said = run("taper", {"pack", exported(scratch_), "--for", "this-cpu"});
      EXPECT_EQ(said.code, 1);
      EXPECT_TRUE(has(said, "no backend of this taper packs weights; this taper was built without"))
          << said.err;
      GTEST_SKIP() << "no backend of this build packs weights";
    }
    path_ = exported(scratch_);
    cache_ = scratch_ / (std::string("resnet18.") + packer()->packed_suffix);
    plain_ = run_model(path_).out;
  }

  ScratchFolder scratch_;
  std::string path_, cache_, plain_;
};

TEST_F(Cache, IsMadeWhenAskedForAndUsedWhenItIsThere) {
  EXPECT_FALSE(std::filesystem::exists(cache_));
  const Said made = run_model(path_, true);
  EXPECT_EQ(made.err, "taper: note: packed weights: '" + cache_ + "' is written\n");
  const std::string bytes = tools::read_file(cache_);
  const Said used = run_model(path_);
  EXPECT_EQ(used.err, "");
  EXPECT_EQ(made.out, plain_);
  EXPECT_EQ(used.out, plain_);
  EXPECT_EQ(tools::read_file(cache_), bytes);
}

TEST_F(Cache, WhatIsOfNoUseIsToldOnceAndMadeAnew) {
  run_model(path_, true);
  const std::string good = tools::read_file(cache_);
  for (const size_t size : {size_t{0}, size_t{10}, good.size() / 2, good.size() - 1}) {
    tools::write_file(cache_, good.substr(0, size));
    const Said said = run_model(path_);
    EXPECT_EQ(said.out, plain_);
    EXPECT_EQ(said.error_lines().size(), 1u) << said.err;
    EXPECT_TRUE(has(said, "is not used: it is damaged or cut short; it is rebuilt")) << said.err;
    EXPECT_EQ(run_model(path_).err, "");
  }
}

TEST_F(Cache, WhatOthersCanWriteIsUsedOnlyWhenAskedFor) {
  run_model(path_, true);
  const std::string before = tools::read_file(cache_);
  const auto good = std::filesystem::status(cache_).permissions();
  for (const auto bad :
       {std::filesystem::perms::others_write, std::filesystem::perms::group_write}) {
    std::filesystem::permissions(cache_, good | bad);
    const Said unasked = run_model(path_);
    EXPECT_TRUE(has(unasked, "is not used: another user can write it")) << unasked.err;
    EXPECT_EQ(unasked.out, plain_);
    EXPECT_EQ(tools::read_file(cache_), before);
    EXPECT_EQ(run_model(path_, true).err, "");
  }
}

TEST_F(Cache, OfAnotherUserIsUsedOnlyWhenAskedFor) {
  run_model(path_, true);
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  ASSERT_EQ(::chown(cache_.c_str(), 65534, 65534), 0);
  EXPECT_TRUE(has(run_model(path_), "is not used: another user can write it"));
  EXPECT_EQ(run_model(path_, true).err, "");
}

// It is mapped, and no key signs it.
TEST_F(Cache, IsNotUsedWhereFilesAreReadOrHaveToBeSigned) {
  run_model(path_, true);
  tools::write_file(cache_, "no packed weights: who opens it says so");
  EXPECT_TRUE(has(run_model(path_), "is not used: "));
  run_model(path_, true);
  tools::write_file(cache_, "no packed weights: who opens it says so");
  const std::string key = scratch_ / "author.pem";
  ASSERT_EQ(run("taper", {"sign", "--new-key", key}).code, 0);
  ASSERT_EQ(run("taper", {"sign", path_, "--key", key}).code, 0);
  const std::string public_key = scratch_ / "author.pub.pem";
  for (const Options& options : {Options{"--no-mmap"}, Options{"--key", public_key}}) {
    const Said said = run_with(path_, options);
    EXPECT_EQ(said.out, plain_);
    EXPECT_EQ(said.err, "");
    Options both = options;
    both.push_back("--cache");
    const Said refused = run_with(path_, both);
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(has(refused, "exclude each other")) << refused.err;
  }
}

// Compiled shaders, which nothing but the caller's word makes safe.
TEST(CodeBesideAModel, IsUsedOnlyWhenAskedFor) {
  const DeviceDescriptor* compiler = nullptr;
  for (const DeviceDescriptor* each : backend_devices()) {
    if (each->packed_is_code) compiler = each;
  }
  if (compiler == nullptr) GTEST_SKIP() << "no backend of this build keeps code";
  const ScratchFolder scratch;
  const std::string path = exported(scratch, "add");
  const std::string file = scratch / (std::string("add.") + compiler->packed_suffix);
  tools::write_file(file, "code");
  EXPECT_EQ(
      run_model(path).err,
      "taper: note: '" + file + "' is not used: it holds code; --cache uses it nevertheless\n");
  EXPECT_EQ(tools::read_file(file), "code");
}

TEST_F(Cache, IsNotThatOfAModelThatHasTakenThePlace) {
  run_model(path_, true);
  const std::string other = exported(scratch_, "mobilenet_v2");
  const std::string expected = run_model(other).out;
  std::filesystem::rename(other, path_);
  const Said said = run_model(path_);
  EXPECT_EQ(said.out, expected);
  EXPECT_TRUE(has(said, "it was made for another model; it is rebuilt")) << said.err;
  EXPECT_EQ(run_model(path_).err, "");
}

TEST_F(Cache, ChangedWeightsAreNoticed) {
  run_model(path_, true);
  // The same graph with other weights: changes bytes in the middle of the file, which are weights.
  std::string bytes = tools::read_file(path_);
  for (size_t i = bytes.size() / 2; i < bytes.size() / 2 + 4096; i += 4) bytes[i] ^= 1;
  tools::write_file(path_, bytes);
  std::filesystem::rename(cache_, scratch_ / "kept");
  const std::string expected = run_model(path_).out;
  std::filesystem::rename(scratch_ / "kept", cache_);
  const Said said = run_model(path_);
  EXPECT_EQ(said.out, expected);
  EXPECT_TRUE(has(said, "it was made for another model; it is rebuilt")) << said.err;
}

TEST_F(Cache, IsPutIntoTheProgram) {
  const auto size = std::filesystem::file_size(path_);
  const std::string packed = scratch_ / "packed.pte";
  const Said said = run("taper", {"pack", path_, "--for", "this-cpu", "-o", packed});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(std::filesystem::file_size(path_), size);
  EXPECT_GT(std::filesystem::file_size(packed), size + size / 2);
  const Said used = run_model(packed);
  EXPECT_EQ(used.out, plain_);
  EXPECT_EQ(used.err, "");
  EXPECT_EQ(run("taper", {"verify", packed}).code, 0);
  // Pack again, in place: the same file.
  const std::string once = tools::read_file(packed);
  EXPECT_EQ(run("taper", {"pack", packed, "--for", "this-cpu"}).code, 0);
  EXPECT_EQ(tools::read_file(packed), once);
  EXPECT_EQ(run_model(packed).out, plain_);
  EXPECT_EQ(scratch_.files(), (std::vector<std::string>{"packed.pte", "resnet18.pte"}));
}

TEST_F(Cache, WhatIsDamagedInTheProgramIsNotUsed) {
  EXPECT_EQ(run("taper", {"pack", path_, "--for", "this-cpu"}).code, 0);
  std::string bytes = tools::read_file(path_);
  bytes[bytes.size() - 1000] ^= 1;
  tools::write_file(path_, bytes);
  const Said said = run_model(path_);
  EXPECT_EQ(said.out, plain_);
  EXPECT_TRUE(has(said, "are not used: it is damaged or cut short")) << said.err;
}

TEST_F(Cache, OnlyThisProcessorAndOnlyDelegatesThatPack) {
  EXPECT_EQ(run("taper", {"pack", path_}).code, 2);
  EXPECT_EQ(run("taper", {"pack", path_, "--for", "another"}).code, 2);
  const std::string portable = scratch_ / "add.pte";
  ASSERT_EQ(run("taper", {"export", kModels + "add.pt2", "-o", portable}).code, 0);
  const Said said = run("taper", {"pack", portable, "--for", "this-cpu"});
  EXPECT_EQ(said.code, 1);
  EXPECT_TRUE(has(said, "export it with --backend ")) << said.err;
  EXPECT_EQ(run("taper", {"pack", scratch_ / "none.pte", "--for", "this-cpu"}).code, 1);
}

}  // namespace
}  // namespace taper::test
