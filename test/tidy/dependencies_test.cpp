// Tests that dependencies between folders point in one direction, by checking #include lines
// against the table of ARCHITECTURE.md. The rule with the longest matching folder applies to a
// file; its own folder is always allowed, and a test may also use test/support.

#include <gtest/gtest.h>

#include <cctype>
#include <sstream>

#include "test/tidy/tree.h"

namespace taper::tidy {
namespace {

struct Rule {
  std::string folder;
  std::vector<std::string> may_include;  // Folders; "taper" means runtime/include.
};

// The folders of backends, including those for tests: "backends/xnnpack". No other code names a
// backend; backends/README.md describes the contents of a folder.
const std::vector<std::string>& backend_folders() {
  static const std::vector<std::string> folders = [] {
    std::vector<std::string> found;
    for (const File& file : all_files()) {
      const size_t name = file.path.rfind("/descriptor.h");
      if (name == std::string::npos || name + 13 != file.path.size()) continue;
      const std::string folder = file.path.substr(0, name);
      const std::string parent = folder.substr(0, folder.rfind('/'));
      if (parent == "backends" || parent == "test/support/backends") found.push_back(folder);
    }
    return found;
  }();
  return folders;
}

std::vector<Rule> rules_of_backend(const std::string& folder) {
  const std::string name = folder.substr(folder.rfind('/') + 1);
  return {
      {folder, {"taper"}},
      {folder + "/aot",
       {"taper", folder, "exir/ir", "exir/ops", "exir/delegate", "kernels_portable"}},
      {folder + "/runtime", {"taper", folder, "kernels_portable", "kernels_optimized"}},
      {folder + "/library", {folder + "/library", name}},
      {folder + "/bench", {"taper", folder}},
      {folder + "/fuzz", {"taper", folder, "test/fuzz"}},
  };
}

std::vector<Rule> rules_of_folders() {
  return {
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
      {"runtime/devtools", {"taper", "schema", "runtime/platform", "runtime/module"}},
      {"signing", {"taper"}},
      {"kernels_portable", {"taper"}},
      {"kernels_optimized", {"taper", "kernels_portable"}},
      {"backends", {"taper", "exir/delegate"}},
      // Inside the compiler: ir <- ops <- dialect <- decompose <- passes, delegate, memory <- emit,
      // and beside them the front end; the files in exir/ itself combine all of them.
      {"exir/ir", {"taper", "kernels_portable/engine"}},  // Conversions of numbers.
      {"exir/ops", {"taper", "exir/ir", "kernels_portable"}},
      {"exir/dialect", {"taper", "exir/ir", "exir/ops"}},
      {"exir/frontend",
       {"taper", "runtime/platform", "exir/ir", "exir/ops", "kernels_portable/engine"}},
      {"exir/decompose", {"taper", "exir/ir", "exir/ops", "kernels_portable"}},
      {"exir/passes", {"taper", "exir/ir", "exir/ops", "exir/decompose", "kernels_portable"}},
      {"exir/delegate", {"taper", "exir/ir", "exir/ops", "kernels_portable"}},
      {"exir/memory", {"taper", "exir/ir", "exir/ops", "kernels_portable"}},
      {"exir/emit",
       {"taper", "schema", "runtime", "exir/ir", "exir/ops", "exir/memory", "exir/delegate"}},
      {"exir/writer", {"taper", "exir/ir", "exir/ops", "exir/frontend", "exir/emit"}},
      {"exir/quantize",
       {"taper", "exir/ir", "exir/ops", "exir/frontend", "exir/passes", "exir/writer", "exir/emit",
        "kernels_portable/engine"}},
      {"exir", {"taper", "schema", "runtime", "kernels_portable"}},
      {"selective_build",
       {"taper", "schema", "runtime/program", "kernels_portable", "kernels_optimized"}},
      {"tools",
       {"taper", "schema", "runtime/platform", "exir", "selective_build", "signing",
        "kernels_portable", "kernels_optimized", "backends/compilers.h", "backends/devices.h",
        "aten/interface.h"}},
      {"aten", {"taper"}},
      {"bindings/python",
       {"taper", "bindings/python", "backends/devices.h", "tools/aten_kernels.h",
        "tools/backends.h", "tools/commands.h", "tools/program_runner.h"}},
      {"bindings/web", {"taper"}},
      {"bindings/java", {"taper", "tools/own_threads.h"}},
      {"bindings/swift", {"taper"}},
      {"examples",
       {"taper", "exir", "kernels_portable", "kernels_optimized", "backends/devices.h"}},
      {"test",
       {"taper", "schema", "runtime", "signing", "kernels_portable", "kernels_optimized", "exir",
        "selective_build", "tools", "backends/compilers.h", "backends/devices.h"}},
  };
}

const std::vector<Rule>& rules() {
  static const std::vector<Rule> table = [] {
    std::vector<Rule> all = rules_of_folders();
    for (const std::string& backend : backend_folders()) {
      for (Rule& rule : rules_of_backend(backend)) all.push_back(std::move(rule));
    }
    return all;
  }();
  return table;
}

// Libraries that only some folders may include.
const std::vector<Rule>& libraries() {
  static const std::vector<Rule> table = {
      {"zlib.h", {"exir/frontend", "test"}},
      {"simdjson.h", {"exir/frontend", "exir/emit", "test"}},
      {"cxxopts.hpp", {"tools", "examples"}},
      {"hwy/highway.h", {"kernels_optimized"}},
      {"sodium.h", {"signing"}},
      {"benchmark/benchmark.h", {"test/bench", "backends"}},
  };
  return table;
}

// The headers of a backend's library, listed after LIBRARY_HEADERS in its backend.cmake.
std::vector<Rule> libraries_of(const std::string& folder) {
  std::vector<Rule> found;
  for (const File& file : all_files()) {
    if (file.path != folder + "/backend.cmake") continue;
    for (const std::string& line : file.lines) {
      const size_t at = line.find("LIBRARY_HEADERS ");
      if (at == std::string::npos) continue;
      std::istringstream words(line.substr(at + 16));
      for (std::string word; words >> word;) {
        found.push_back({word.substr(0, word.find(')')), {folder}});
      }
    }
  }
  return found;
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
    if (include == folder || starts_with_folder(include, folder)) return true;
  }
  if (!file.is_test() && !file.ends_with("_for_test.h")) return false;
  // A test of one part of the runtime, or of the compiler, may use the other parts, as may one of a
  // backend's compiler half; every test may use the support folder.
  if (file.path.find("/aot/") != file.path.npos && starts_with_folder(include, "exir")) return true;
  for (const char* half : {"runtime", "exir"}) {
    if (file.is_under(half) && starts_with_folder(include, half)) return true;
  }
  return starts_with_folder(include, "test/support") || starts_with_folder(include, "schema");
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
      const bool copied_alone = file.path.rfind("examples/", 0) == 0;  // Includes its neighbours.
      if (quoted && !copied_alone) {
        EXPECT_NE(include.find('/'), std::string::npos) << file.path << ": " << line;
      }
    }
  }
}

TEST(Dependencies, LibrariesStayWhereTheyBelong) {
  std::vector<Rule> all = libraries();
  for (const std::string& backend : backend_folders()) {
    for (Rule& rule : libraries_of(backend)) all.push_back(std::move(rule));
  }
  for (const File& file : all_files()) {
    if (!file.is_cpp()) continue;
    for (const std::string& line : file.lines) {
      bool quoted = false;
      const std::string include = included(line, &quoted);
      for (const Rule& library : all) {
        if (include != library.folder) continue;
        bool fits = false;
        for (const std::string& folder : library.may_include) fits |= file.is_under(folder);
        EXPECT_TRUE(fits) << file.path << " may not include <" << include << ">";
      }
    }
  }
}

// The line without a comment, in lower case.
std::string code_of(const File& file, const std::string& line) {
  std::string code = line.substr(0, line.find(file.is_cpp() || file.ends_with(".c") ? "//" : "#"));
  for (char& c : code) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return code;
}

// Backends are known to other code only by their descriptors: adding one changes only its folder
// and one line of backends/backends.cmake.
TEST(Dependencies, CodeNamesNoBackendButInItsFolder) {
  size_t seen = 0;
  for (const std::string& folder : backend_folders()) {
    const std::string name = folder.substr(folder.rfind('/') + 1);
    for (const File& file : all_files()) {
      const bool is_code = file.is_cpp() || file.ends_with(".c") || file.ends_with(".cmake") ||
                           file.ends_with("CMakeLists.txt") || file.ends_with("Makefile");
      if (!is_code || file.is_under(folder) || file.path == "backends/backends.cmake") continue;
      // PyTorch has operators that are called after backends of its own.
      if (file.path == "exir/ops/refusals.cpp") continue;
      ++seen;
      for (const std::string& line : file.lines) {
        EXPECT_EQ(code_of(file, line).find(name), std::string::npos) << file.path << ": " << line;
      }
    }
  }
  EXPECT_GT(seen, 0u);
}

}  // namespace
}  // namespace taper::tidy
