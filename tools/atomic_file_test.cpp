// Tests that output files are written completely, or the previous files are kept.

#include "tools/atomic_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "test/support/scratch_folder.h"
#include "tools/error.h"
#include "tools/system.h"

namespace taper::tools {
namespace {

namespace fs = std::filesystem;

class AtomicFile : public testing::Test {
 protected:
  std::string at(const char* name) const { return folder_ + "/" + name; }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  const test::ScratchFolder scratch_;
  const std::string folder_ = scratch_.path();
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

TEST_F(AtomicFile, FollowsSymbolicLinks) {
  write_file(at("real"), "old");
  std::error_code problem;
  fs::create_symlink(at("real"), at("link"), problem);
  if (problem) GTEST_SKIP() << "the C++ library makes no links on this system";
  write_file(at("link"), "new");
  EXPECT_TRUE(fs::is_symlink(at("link")));
  EXPECT_EQ(read_file(at("real")), "new");
}

TEST_F(AtomicFile, WritesDevices) {
  write_file(fs::exists("/dev/null") ? "/dev/null" : "NUL", "gone");
}

// Names of files are UTF-8 on every system.
TEST_F(AtomicFile, NamesHaveSpacesAndAllLetters) {
  const std::string path = at("\u00e4 \u6587 \U0001f56f.pte");
  write_file(path, "first");
  write_file(path, "second");
  EXPECT_EQ(read_file(path), "second");
  EXPECT_TRUE(fs::exists(system::as_path(path)));
  EXPECT_EQ(system::as_text(system::as_path(path)), path);
  EXPECT_EQ(files(), 1u);
}

}  // namespace
}  // namespace taper::tools
