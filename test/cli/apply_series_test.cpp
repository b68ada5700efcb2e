// Tests scripts/apply_series.sh: changes to a library's sources apply exactly, or it stops and
// names the change that does not.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "test/cli/command.h"
#include "tools/atomic_file.h"

namespace taper::test {
namespace {

class ApplySeries : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(scratch_ / "sources/src");
    std::filesystem::create_directories(scratch_ / "changes");
    write("sources/src/a.c", "one\ntwo\nthree\n");
    write("sources/src/b.c", "max(x, low)\nplain\nmax(y, low)\n");
    write("changes/two.patch", kTwo);
    write("changes/swap.sed",
          "# Rewrites 2 lines of 1 files in src\ns/max\\((.), low\\)/max(low, \\1)/g\n");
    write("changes/series", "# In order.\ntwo.patch\nswap.sed\n");
  }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(scratch_ / name) << text;
  }

  Said apply() {
    return run(TAPER_SOURCE_DIR "/scripts/apply_series.sh",
               {scratch_ / "changes", scratch_ / "sources"});
  }

  void refuses(const std::string& message) {
    const Said said = apply();
    EXPECT_EQ(said.code, 1);
    EXPECT_EQ(said.err, "apply_series.sh: " + message + "\n");
  }

  static constexpr const char* kTwo =
      "Why.\n\n--- a/src/a.c\n+++ b/src/a.c\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
  ScratchFolder scratch_;
};

TEST_F(ApplySeries, ChangesTheSources) {
  const Said said = apply();
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(said.out + said.err, "");
  EXPECT_EQ(tools::read_file(scratch_ / "sources/src/a.c"), "one\n2\nthree\n");
  EXPECT_EQ(tools::read_file(scratch_ / "sources/src/b.c"), "max(low, x)\nplain\nmax(low, y)\n");
}

TEST_F(ApplySeries, RefusesOtherText) {
  write("sources/src/a.c", "one\nzwei\nthree\n");
  refuses("two.patch does not apply to these sources: Hunk #1 FAILED at 1.");
}

TEST_F(ApplySeries, RefusesOtherSurroundings) {  // patch itself would accept this, with fuzz.
  write("sources/src/a.c", "eins\ntwo\nthree\n");
  refuses("two.patch does not apply to these sources: Hunk #1 FAILED at 1.");
}

TEST_F(ApplySeries, RefusesAnotherPlace) {
  write("sources/src/a.c", "zero\none\ntwo\nthree\n");
  refuses("two.patch was made for other sources: Hunk #1 succeeded at 2 (offset 1 line).");
}

TEST_F(ApplySeries, RefusesWhatIsAppliedAlready) {
  write("changes/series", "two.patch\nswap.sed\ntwo.patch\n");
  refuses(
      "two.patch does not apply to these sources: Reversed (or previously applied) patch detected!"
      "  Skipping patch.");
}

TEST_F(ApplySeries, RefusesAnotherCount) {
  write("sources/src/b.c", "max(x, low)\nplain\n");
  refuses("swap.sed rewrote 1 lines of 1 files of these sources, and not 2 lines of 1 files");
}

TEST_F(ApplySeries, RefusesAMissingFolder) {
  write("changes/swap.sed", "# Rewrites 2 lines of 1 files in other\ns/a/b/\n");
  refuses("swap.sed rewrites files of other, which these sources do not have");
}

TEST_F(ApplySeries, RefusesAnIncompleteSeries) {
  write("changes/series", "two.patch\n");
  refuses(scratch_ / "changes/swap.sed is not in the series");
  write("changes/series", "two.patch\nswap.sed\nmore.patch\n");
  refuses("the series names more.patch, which is not there");
}

}  // namespace
}  // namespace taper::test
