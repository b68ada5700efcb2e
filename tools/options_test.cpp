// Tests command lines: defaults, lists, numbers and errors.

#include "tools/options.h"

#include <gtest/gtest.h>

#include "tools/error.h"

namespace taper::tools {
namespace {

CommandLine parsed(std::vector<std::string> words) {
  CommandLine line("test", "A test.\n", "FILE",
                   {{"Group",
                     {{"n,count", "How many", "N", "3"},
                      {"ratio", "How much", "R", "0.5"},
                      {"names", "Some names", "A,B"},
                      {"flag", "Yes or no"},
                      {"report", "A report", "[FILE]"}}}});
  words.insert(words.begin(), "test");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  EXPECT_TRUE(line.parse(static_cast<int>(argv.size()), argv.data()));
  return line;
}

TEST(CommandLineTest, DefaultsHoldUntilAValueIsGiven) {
  const CommandLine none = parsed({"a.pte"});
  EXPECT_EQ(none.integer("count", 0, 10), 3u);
  EXPECT_EQ(none.number("ratio", 0, 1), 0.5);
  EXPECT_FALSE(none.given("flag"));
  EXPECT_TRUE(none.list("names").empty());
  EXPECT_EQ(none.joined("count"), "3");
  const CommandLine all =
      parsed({"-n", "7", "--ratio=0.25", "a,b.pte", "--names", "x,y", "--names=z", "--flag"});
  EXPECT_EQ(all.integer("count", 0, 10), 7u);
  EXPECT_EQ(all.number("ratio", 0, 1), 0.25);
  EXPECT_TRUE(all.given("flag"));
  EXPECT_EQ(all.list("names"), (std::vector<std::string>{"x", "y", "z"}));
  EXPECT_EQ(all.joined("names"), "x,y,z");
  EXPECT_EQ(all.file(), "a,b.pte");
}

TEST(CommandLineTest, AValueInBracketsMayBeLeftOut) {
  EXPECT_EQ(parsed({"a.pte"}).text("report"), "");
  const CommandLine without = parsed({"--report", "a.pte"});
  EXPECT_EQ(without.text("report"), kNoValue);
  EXPECT_EQ(without.file(), "a.pte");
  EXPECT_EQ(parsed({"--report=r.json", "a.pte"}).text("report"), "r.json");
}

TEST(CommandLineTest, RefusesWhatIsNoNumberOrOutOfRange) {
  for (const char* bad : {"many", "11", "-1", "", "1.5", "99999999999999999999"}) {
    EXPECT_THROW(parsed({"--count=" + std::string(bad)}).integer("count", 0, 10), UsageError)
        << bad;
  }
  for (const char* bad : {"x", "1.5", "nan", "0.5x"}) {
    EXPECT_THROW(parsed({"--ratio=" + std::string(bad)}).number("ratio", 0, 1), UsageError) << bad;
  }
}

TEST(CommandLineTest, RefusesUnknownOptionsAndWrongCounts) {
  EXPECT_THROW(parsed({"--what"}), UsageError);
  EXPECT_THROW(parsed({"--count"}), UsageError);
  EXPECT_THROW(parsed({}).file(), UsageError);
  EXPECT_THROW(parsed({"a", "b"}).file(), UsageError);
}

}  // namespace
}  // namespace taper::tools
