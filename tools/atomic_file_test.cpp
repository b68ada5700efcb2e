// Tests that output files are written completely, or the previous files are kept.

#include "tools/atomic_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "tools/error.h"

namespace taper::tools {
namespace {

namespace fs = std::filesystem;

class AtomicFile : public testing::Test {
 protected:
  void SetUp() override {
    char pattern[] = "/tmp/taper_atomic_XXXXXX";
    ASSERT_NE(mkdtemp(pattern), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string at(const char* name) const { return folder_ + "/" + name; }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  std::string folder_;
};

TEST_F(AtomicFile, WritesAndReplaces) {
  write_file(at("a"), "first");
  write_file(at("a"), std::string_view("sec\0nd", 6));
  EXPECT_EQ(read_file(at("a")), std::string("sec\0nd", 6));
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFile, NothingAppearsBeforeCommit) {
  write_file(at("a"), "old");
  {
    OutputFiles out;
    out.add(at("a"), "new");
    out.add(at("b"), "new");
    EXPECT_EQ(read_file(at("a")), "old");
    EXPECT_FALSE(fs::exists(at("b")));
  }
  EXPECT_EQ(read_file(at("a")), "old");
  EXPECT_EQ(files(), 1u);
}

TEST_F(AtomicFile, OneUnwritableFileKeepsTheOtherAway) {
  OutputFiles out;
  out.add(at("a"), "new");
  EXPECT_THROW(out.add(at("no/such/folder/b"), "new"), InputError);
  EXPECT_FALSE(fs::exists(at("a")));
}

TEST_F(AtomicFile, ErrorsNameThePathAndTheReason) {
  try {
    read_file(at("missing"));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              "cannot read '" + at("missing") + "': No such file or directory");
  }
  try {
    write_file(folder_, "x");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()), "cannot write '" + folder_ + "': Is a directory");
  }
}

TEST_F(AtomicFile, FollowsSymbolicLinksAndWritesDevices) {
  write_file(at("real"), "old");
  fs::create_symlink(at("real"), at("link"));
  write_file(at("link"), "new");
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(read_file(at("real")), "new");
  write_file("/dev/null", "gone");
}

}  // namespace
}  // namespace taper::tools
