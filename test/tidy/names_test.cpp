// Tests that common words each name a single type, so that their meaning is unambiguous: Graph,
// Node, Value and Delegate are the compiler's, and Failure is its exception.

#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "test/tidy/tree.h"

namespace taper::tidy {
namespace {

TEST(Names, CommonWordsNameOneType) {
  const std::regex definition(
      R"(^\s*(struct|class|union|enum|enum class|using) (Graph|Node|Value|Delegate|Failure)\b[^;]*(\{|=|:|$).*)");
  std::map<std::string, std::vector<std::string>> places;
  std::smatch match;
  for (const File& file : all_files()) {
    if (!file.is_cpp()) continue;
    for (const std::string& line : file.lines) {
      if (std::regex_match(line, match, definition)) places[match[2]].push_back(file.path);
    }
  }
  EXPECT_EQ(places.size(), 5u);
  for (const auto& [name, files] : places) {
    for (const std::string& file : files) {
      EXPECT_TRUE(files.size() == 1) << name << " is also defined in " << file;
    }
  }
}

}  // namespace
}  // namespace taper::tidy
