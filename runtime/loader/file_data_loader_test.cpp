// Loaders of files: the ranges that they serve, and paths that they refuse.

#include "taper/file_data_loader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

namespace taper {
namespace {

class FileLoaders : public testing::Test {
 protected:
  void SetUp() override {
    path_ = testing::TempDir() + "taper_file_data_loader_test.bin";
    std::ofstream(path_, std::ios::binary) << "0123456789";
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::string path_;
};

template <typename Loader>
void expect_serves(const std::string& path) {
  Result<Loader> loader = Loader::open(path.c_str());
  ASSERT_TRUE(loader.ok());
  EXPECT_EQ(loader->size(), 10u);
  Result<Span<const uint8_t>> bytes = loader->load(2, 3);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(std::memcmp(bytes->data(), "234", 3), 0);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(loader->load(0, 10)->data()) % 16, 0u);
  EXPECT_EQ(loader->load(5, 6).error(), Error::kInvalidArgument);
  EXPECT_EQ(loader->load(UINT64_MAX, 2).error(), Error::kInvalidArgument);
  EXPECT_EQ(loader->load(2, UINT64_MAX).error(), Error::kInvalidArgument);
}

template <typename Loader>
void expect_refuses() {
  EXPECT_EQ(Loader::open("/no/such/file.pte").error(), Error::kNotFound);
  EXPECT_EQ(Loader::open("/").error(), Error::kAccessFailed);
}

TEST_F(FileLoaders, ReadServesRanges) { expect_serves<FileDataLoader>(path_); }
TEST_F(FileLoaders, MapServesRanges) { expect_serves<MmapDataLoader>(path_); }
TEST_F(FileLoaders, ReadRefusesWhatIsNoFile) { expect_refuses<FileDataLoader>(); }
TEST_F(FileLoaders, MapRefusesWhatIsNoFile) { expect_refuses<MmapDataLoader>(); }

TEST_F(FileLoaders, EmptyFilesHaveNoBytes) {
  std::ofstream(path_, std::ios::trunc).close();
  EXPECT_EQ(FileDataLoader::open(path_.c_str())->size(), 0u);
  EXPECT_EQ(MmapDataLoader::open(path_.c_str())->size(), 0u);
}

}  // namespace
}  // namespace taper
