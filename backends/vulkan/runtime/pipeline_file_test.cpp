// Tests the file of compiled shaders, without a GPU.

#include "backends/vulkan/runtime/pipeline_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace taper::vulkan {
namespace {

PipelineOrigin some_origin() {
  PipelineOrigin origin = {};
  std::memset(origin.cache_uuid, 7, sizeof(origin.cache_uuid));
  origin.vendor = 1;
  origin.device = 2;
  origin.driver = 3;
  origin.pointer_bytes = 8;
  return origin;
}

// As a driver gives it.
std::vector<uint8_t> driver_data() {
  std::vector<uint8_t> data(32 + 5, 7);
  const uint32_t head[] = {32, 1, 1, 2};
  std::memcpy(data.data(), head, sizeof(head));
  return data;
}

class PipelineFiles : public testing::Test {
 protected:
  PipelineFiles() : path_(testing::TempDir() + "taper_pipelines_" + std::to_string(getpid())) {}
  ~PipelineFiles() override { std::filesystem::remove(path_); }

  void write(const std::vector<uint8_t>& data, const PipelineOrigin& origin = some_origin()) {
    const uint64_t hashes[] = {11, 12};
    ASSERT_TRUE(write_pipeline_file(path_.c_str(), {hashes, data}, origin).ok());
    std::ifstream file(path_, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    size_ = bytes.size();
    words_.resize(size_ / 8 + 1);
    std::memcpy(words_.data(), bytes.data(), size_);
  }
  std::string problem(const PipelineOrigin& origin = some_origin()) const {
    return read_pipeline_file(bytes(), origin).status().message();
  }
  Span<const uint8_t> bytes() const {
    return {reinterpret_cast<const uint8_t*>(words_.data()), size_};
  }

  const std::string path_;
  std::vector<uint64_t> words_;
  size_t size_ = 0;
};

TEST_F(PipelineFiles, HaveWhatWasWritten) {
  const std::vector<uint8_t> data = driver_data();
  write(data);
  const Result<PipelineFile> file = read_pipeline_file(bytes(), some_origin());
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_TRUE(file->has(11) && file->has(12));
  EXPECT_FALSE(file->has(13));
  EXPECT_EQ(std::vector<uint8_t>(file->data.begin(), file->data.end()), data);
}

TEST_F(PipelineFiles, AreOfOneGpuDriverAndBuild) {
  write(driver_data());
  constexpr char kOther[] = "it was made for another GPU or driver";
  for (uint32_t PipelineOrigin::*field :
       {&PipelineOrigin::vendor, &PipelineOrigin::device, &PipelineOrigin::driver}) {
    PipelineOrigin other = some_origin();
    ++(other.*field);
    EXPECT_EQ(problem(other), kOther);
  }
  PipelineOrigin other = some_origin();
  ++other.cache_uuid[15];
  EXPECT_EQ(problem(other), kOther);
}

TEST_F(PipelineFiles, DamageIsFoundAnywhere) {
  write(driver_data());
  auto* bytes = reinterpret_cast<uint8_t*>(words_.data());
  for (size_t at = 0; at < size_; ++at) {
    bytes[at] ^= 16;
    EXPECT_NE(problem(), "") << at;
    bytes[at] ^= 16;
  }
  EXPECT_EQ(problem(), "");
  for (const size_t whole = size_; size_ > 0;) {
    --size_;
    EXPECT_NE(problem(), "") << size_ << " of " << whole;
  }
}

TEST_F(PipelineFiles, TheDriversOwnHeaderIsCheckedToo) {
  for (size_t at = 0; at < 32; ++at) {
    std::vector<uint8_t> data = driver_data();
    data[at] ^= 128;
    write(data);
    EXPECT_EQ(problem(), "it is damaged or cut short") << at;
  }
  write({});
  EXPECT_EQ(problem(), "it is damaged or cut short");
}

}  // namespace
}  // namespace taper::vulkan
