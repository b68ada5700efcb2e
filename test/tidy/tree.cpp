// Reads the project's text files.

#include "test/tidy/tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

namespace taper::tidy {
namespace {

namespace fs = std::filesystem;

// Whether the file is text; others are data.
bool is_text(const fs::path& path) {
  static const std::set<std::string> extensions = {".cpp",  ".h",   ".def", ".fbs", ".cmake",
                                                   ".md",   ".py",  ".sh",  ".ir",  ".txt",
                                                   ".json", ".yml", ""};
  return extensions.count(path.extension().string()) != 0;
}

bool is_ignored(const std::string& name) {
  return name == ".git" || name == "build" || name.rfind("build-", 0) == 0 ||
         name == "__pycache__" || name == ".cache" || name == "corpus" || name == "golden";
}

std::vector<File> read_tree() {
  std::vector<File> files;
  const fs::path root = TAPER_SOURCE_DIR;
  for (auto entry = fs::recursive_directory_iterator(root); entry != fs::end(entry); ++entry) {
    const std::string name = entry->path().filename().string();
    if (entry->is_directory()) {
      if (is_ignored(name)) entry.disable_recursion_pending();
      continue;
    }
    if (!is_text(entry->path())) continue;
    File file{fs::relative(entry->path(), root).generic_string(), {}};
    std::ifstream in(entry->path());
    for (std::string line; std::getline(in, line);) file.lines.push_back(line);
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.path < b.path; });
  return files;
}

}  // namespace

bool File::ends_with(const std::string& suffix) const {
  return path.size() >= suffix.size() &&
         path.compare(path.size() - suffix.size(), suffix.size(), suffix) == 0;
}

bool File::is_under(const std::string& folder) const { return path.rfind(folder + "/", 0) == 0; }

const std::vector<File>& all_files() {
  static const std::vector<File> files = read_tree();
  return files;
}

std::string included(const std::string& line, bool* quoted) {
  const size_t hash = line.find_first_not_of(' ');
  if (hash == std::string::npos || line.compare(hash, 9, "#include ") != 0) return "";
  const size_t open = line.find_first_of("\"<", hash);
  if (open == std::string::npos) return "";
  *quoted = line[open] == '"';
  const size_t close = line.find(*quoted ? '"' : '>', open + 1);
  return close == std::string::npos ? "" : line.substr(open + 1, close - open - 1);
}

}  // namespace taper::tidy
