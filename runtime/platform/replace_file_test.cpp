// Tests that files are written whole or not at all.

#include "taper/replace_file.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "runtime/platform/mapped_file.h"
#include "test/support/scratch_folder.h"

namespace taper {
namespace {

class ReplaceFile : public testing::Test {
 protected:
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

  const test::ScratchFolder scratch_;
  const std::string folder_ = scratch_.path(), path_ = scratch_ / "file";
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

// Most of its bytes take no space on the disk.
TEST_F(ReplaceFile, LargerThanFourGigabytes) {
  constexpr uint64_t kSize = uint64_t{5} << 30;
  const std::string tail = "tail";
  const FilePart parts[] = {{kSize - 4, bytes(tail)}};
  ASSERT_TRUE(replace_file(path_.c_str(), kSize, parts).ok());
  const Result<Span<const uint8_t>> mapped = internal::map_file(path_.c_str());
  if (kSize > SIZE_MAX) {
    EXPECT_EQ(mapped.status().error(), Error::kNotSupported);
    return;
  }
  ASSERT_TRUE(mapped.ok()) << mapped.status().message();
  ASSERT_EQ(mapped->size(), kSize);
  EXPECT_EQ(std::string(mapped->end() - 4, mapped->end()), tail);
  EXPECT_EQ(mapped->end()[-5], 0);
  internal::release_mapped(*mapped, *mapped);
  EXPECT_EQ(mapped->end()[-1], 'l');
  internal::unmap_file(*mapped);
  std::FILE* const file = internal::open_to_read(path_.c_str());
  EXPECT_EQ(internal::size_of(file), int64_t{kSize});
  std::fclose(file);
}

// Paths are UTF-8 on every system, and may be longer than Windows' own calls take.
TEST_F(ReplaceFile, UnusualPaths) {
  const std::string text = "text";
  const FilePart parts[] = {{0, bytes(text)}};
  for (const std::string& name : {std::string("\u00e4 \u6587 \U0001f56f"), std::string(230, 'x')}) {
    const std::string path = folder_ + "/" + name;
    for (int i = 0; i < 2; ++i) ASSERT_TRUE(replace_file(path.c_str(), 4, parts).ok()) << name;
    const Result<Span<const uint8_t>> mapped = internal::map_file(path.c_str());
    ASSERT_TRUE(mapped.ok()) << name << ": " << mapped.status().message();
    EXPECT_EQ(std::string(mapped->begin(), mapped->end()), text);
    internal::unmap_file(*mapped);
    EXPECT_FALSE(internal::is_directory(path.c_str()));
  }
  EXPECT_TRUE(internal::is_directory(folder_.c_str()));
  EXPECT_EQ(files(), 2u);
  EXPECT_EQ(internal::map_file((path_ + "\xff").c_str()).error(), Error::kNotFound);
}

TEST_F(ReplaceFile, MappingSaysWhatIsWrong) {
  EXPECT_EQ(internal::map_file(path_.c_str()).error(), Error::kNotFound);
  EXPECT_EQ(errno, ENOENT);
  const Result<Span<const uint8_t>> folder = internal::map_file(folder_.c_str());
  EXPECT_EQ(folder.error(), Error::kAccessFailed);
  EXPECT_EQ(errno, EISDIR);
  EXPECT_STREQ(folder.status().message(), "this is not a regular file");
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
