// Dependencies between folders point one way. The table is ARCHITECTURE.md's; the #include lines
// are the evidence. A file obeys the rule with the longest matching folder; its own folder is
// always allowed, and a test may also use test/support.

#include <gtest/gtest.h>

#include "test/tidy/tree.h"

namespace taper::tidy {
namespace {

struct Rule {
  std::string folder;
  std::vector<std::string> may_include;  // Folders; "taper" stands for runtime/include.
};

const std::vector<Rule>& rules() {
  static const std::vector<Rule> table = {
      {"schema", {}},
      {"runtime/include", {"taper"}},
      {"runtime/platform", {"taper"}},
      {"runtime/core", {"taper", "runtime/platform"}},
      {"runtime/loader", {"taper", "runtime/platform", "runtime/core"}},
      {"runtime/program", {"taper", "schema", "runtime/platform", "runtime/core"}},
      {"runtime/executor",
       {"taper", "schema", "runtime/platform", "runtime/core", "runtime/program"}},
      {"runtime/module",
       {"taper", "runtime/platform", "runtime/core", "runtime/program", "runtime/executor",
        "runtime/loader"}},
      {"kernels_portable", {"taper"}},
      {"kernels_optimized", {"taper", "kernels_portable"}},
      {"backends/xnnpack/library", {"backends/xnnpack/library", "xnnpack"}},
      {"backends/xnnpack/runtime", {"taper", "backends/xnnpack", "kernels_optimized"}},
      {"backends/xnnpack/aot", {"taper", "backends/xnnpack", "exir/ir", "exir/delegate"}},
      {"exir", {"taper", "schema", "runtime", "kernels_portable"}},
      {"selective_build",
       {"taper", "schema", "runtime/program", "kernels_portable", "kernels_optimized"}},
      {"tools",
       {"taper", "schema", "exir", "selective_build", "kernels_portable", "kernels_optimized",
        "backends"}},
      {"examples", {"taper", "exir", "kernels_portable", "kernels_optimized", "backends"}},
      {"test",
       {"taper", "schema", "runtime", "kernels_portable", "kernels_optimized", "exir",
        "selective_build", "tools", "backends"}},
  };
  return table;
}

// Libraries that only some folders may name.
const std::vector<Rule>& libraries() {
  static const std::vector<Rule> table = {
      {"zlib.h", {"exir/frontend", "test"}},
      {"simdjson.h", {"exir/frontend", "exir/emit", "test"}},
      {"cxxopts.hpp", {"tools", "examples"}},
      {"hwy/highway.h", {"kernels_optimized"}},
      {"xnnpack.h", {"backends/xnnpack/runtime", "backends/xnnpack/library", "test/bench"}},
      {"pthreadpool.h", {"backends/xnnpack/runtime", "examples", "test"}},
      {"benchmark/benchmark.h", {"test/bench"}},
  };
  return table;
}

bool starts_with_folder(const std::string& path, const std::string& folder) {
  return path.rfind(folder + "/", 0) == 0;
}

const Rule* rule_of(const File& file) {
  const Rule* best = nullptr;
  for (const Rule& rule : rules()) {
    if (!file.is_under(rule.folder)) continue;
    if (best == nullptr || rule.folder.size() > best->folder.size()) best = &rule;
  }
  return best;
}

bool is_ours(const std::string& include) {
  for (const Rule& rule : rules()) {
    const std::string top = rule.folder.substr(0, rule.folder.find('/'));
    if (starts_with_folder(include, top)) return true;
  }
  return starts_with_folder(include, "taper");
}

bool allowed(const File& file, const Rule& rule, const std::string& include) {
  if (starts_with_folder(include, rule.folder)) return true;
  for (const std::string& folder : rule.may_include) {
    if (starts_with_folder(include, folder)) return true;
  }
  if (!file.is_test()) return false;
  // A test of one part of the runtime may drive the others; every test may use the support folder.
  return starts_with_folder(include, "test/support") || starts_with_folder(include, "schema") ||
         (file.is_under("runtime") && starts_with_folder(include, "runtime"));
}

TEST(Dependencies, EveryFolderWithCodeHasARule) {
  for (const File& file : all_files()) {
    if (file.is_cpp()) {
      EXPECT_NE(rule_of(file), nullptr) << file.path << ": add its folder to the table";
    }
  }
}

TEST(Dependencies, IncludesFollowTheTable) {
  size_t seen = 0;
  for (const File& file : all_files()) {
    const Rule* rule = file.is_cpp() ? rule_of(file) : nullptr;
    if (rule == nullptr) continue;
    for (const std::string& line : file.lines) {
      bool quoted = false;
      const std::string include = included(line, &quoted);
      if (include.empty() || !is_ours(include)) continue;
      ++seen;
      EXPECT_TRUE(allowed(file, *rule, include))
          << file.path << " may not include \"" << include << "\" (rule of " << rule->folder << ")";
    }
  }
  EXPECT_GT(seen, 0u);
}

TEST(Dependencies, OurHeadersAreQuotedAndNamedFromTheRoot) {
  for (const File& file : all_files()) {
    if (!file.is_cpp()) continue;
    for (const std::string& line : file.lines) {
      bool quoted = false;
      const std::string include = included(line, &quoted);
      if (include.empty()) continue;
      if (is_ours(include)) {
        EXPECT_TRUE(quoted) << file.path << ": " << line;
      }
      EXPECT_EQ(include.find(".."), std::string::npos) << file.path << ": " << line;
      const bool copied_alone = file.path.rfind("examples/", 0) == 0;  // Finds its own beside it.
      if (quoted && !copied_alone) {
        EXPECT_NE(include.find('/'), std::string::npos) << file.path << ": " << line;
      }
    }
  }
}

TEST(Dependencies, LibrariesStayWhereTheyBelong) {
  for (const File& file : all_files()) {
    if (!file.is_cpp()) continue;
    for (const std::string& line : file.lines) {
      bool quoted = false;
      const std::string include = included(line, &quoted);
      for (const Rule& library : libraries()) {
        if (include != library.folder) continue;
        bool fits = false;
        for (const std::string& folder : library.may_include) fits |= file.is_under(folder);
        EXPECT_TRUE(fits) << file.path << " may not include <" << include << ">";
      }
    }
  }
}

}  // namespace
}  // namespace taper::tidy
