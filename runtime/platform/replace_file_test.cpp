// Tests that files are written whole or not at all.

#include "taper/replace_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace taper {
namespace {

class ReplaceFile : public testing::Test {
 protected:
  ReplaceFile() : folder_(testing::TempDir() + "taper_replace_" + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~ReplaceFile() override { std::filesystem::remove_all(folder_); }

  static Span<const uint8_t> bytes(const std::string& text) {
    return {reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  }
  std::string read() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t files() const {
    const std::filesystem::directory_iterator all(folder_);
    return static_cast<size_t>(std::distance(begin(all), end(all)));
  }

  const std::string folder_, path_ = folder_ + "/file";
};

TEST_F(ReplaceFile, HasItsPartsAndZerosBetween) {
  const std::string head = "head", tail = "tail";
  const FilePart parts[] = {{6, bytes(tail)}, {0, bytes(head)}};
  ASSERT_TRUE(replace_file(path_.c_str(), 12, parts).ok());
  EXPECT_EQ(read(), std::string("head\0\0tail\0\0", 12));
  ASSERT_TRUE(replace_file(path_.c_str(), 0, {}).ok());
  EXPECT_EQ(read(), "");
  EXPECT_EQ(files(), 1u);
}

TEST_F(ReplaceFile, WhatCannotBeWrittenLeavesNothing) {
  const Status none = replace_file((folder_ + "/none/file").c_str(), 1, {});
  EXPECT_EQ(none.error(), Error::kAccessFailed);
  EXPECT_STREQ(none.message(), "there is no such folder");
  const Status folder = replace_file(folder_.c_str(), 1, {});
  EXPECT_EQ(folder.error(), Error::kAccessFailed);
  EXPECT_EQ(replace_file(std::string(5000, 'a').c_str(), 1, {}).error(), Error::kAccessFailed);
  EXPECT_EQ(files(), 0u);
}

}  // namespace
}  // namespace taper
