// The project's files as text, for the tests of the coding rules.

#pragma once

#include <string>
#include <vector>

namespace taper::tidy {

struct File {
  std::string path;                // From the project root: "exir/ir/graph.h".
  std::vector<std::string> lines;  // Without their newlines.

  bool ends_with(const std::string& suffix) const;
  bool is_under(const std::string& folder) const;  // "exir" or "exir/ir".
  bool is_cpp() const { return ends_with(".cpp") || ends_with(".h"); }
  bool is_test() const { return ends_with("_test.cpp"); }
};

// Every text file of the project except those that git ignores, sorted by path. They are read once.
const std::vector<File>& all_files();

// The path in an #include line; `quoted` is set for "x" and cleared for <x>. Empty for other lines.
std::string included(const std::string& line, bool* quoted);

}  // namespace taper::tidy
