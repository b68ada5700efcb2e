// Tests the rules of CONTRIBUTING.md that can be checked in the text of files.

#include <gtest/gtest.h>

#include <algorithm>

#include <map>
#include <set>

#include "test/tidy/tree.h"

namespace taper::tidy {
namespace {

constexpr size_t kMaxLines = 600;
constexpr size_t kMaxColumns = 100;
constexpr size_t kMaxColumnsOfDrawings = 112;  // For comments that contain columns.
constexpr size_t kMaxColumnsOfTests = 160;     // For graphs and JSON as text.
constexpr size_t kMaxReadmeLines = 70;
constexpr size_t kMaxFilesInFolder = 40;

// Tables may be long, since they are lists of facts, not code.
bool is_table(const File& file) {
  return file.path.find("table") != std::string::npos || file.ends_with(".def") ||
         file.path.find("_data.") != std::string::npos;
}

bool is_source(const File& file) {
  return file.is_cpp() || file.ends_with(".fbs") || file.ends_with(".def") ||
         file.ends_with(".cmake") || file.ends_with(".py") || file.ends_with(".sh");
}

TEST(HouseRules, FilesAreShort) {
  for (const File& file : all_files()) {
    if (is_source(file) && !is_table(file)) {
      EXPECT_LE(file.lines.size(), kMaxLines) << file.path;
    }
  }
}

size_t column_limit(const File& file, const std::string& line) {
  if (file.is_test() || file.ends_with("_for_test.h")) return kMaxColumnsOfTests;
  const size_t start = line.find_first_not_of(' ');
  const bool comment = start != std::string::npos && line.compare(start, 2, "//") == 0;
  return comment && line.find("   ", start) != std::string::npos ? kMaxColumnsOfDrawings
                                                                 : kMaxColumns;
}

// Tests, which are beside their code, do not count.
TEST(HouseRules, FoldersHoldFewFiles) {
  std::map<std::string, size_t> counts;
  for (const File& file : all_files()) {
    if (file.is_cpp() && !file.is_test()) ++counts[file.path.substr(0, file.path.rfind('/'))];
  }
  for (const auto& [folder, count] : counts) EXPECT_LE(count, kMaxFilesInFolder) << folder;
}

TEST(HouseRules, LinesAreNarrowAndAscii) {
  for (const File& file : all_files()) {
    if (!is_source(file)) continue;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const std::string& line = file.lines[i];
      const std::string where = file.path + ":" + std::to_string(i + 1);
      if (file.is_cpp()) {
        EXPECT_LE(line.size(), column_limit(file, line)) << where;
      }
      for (const char c : line) {
        ASSERT_TRUE(static_cast<unsigned char>(c) < 0x80) << where << ": not ASCII";
        ASSERT_NE(c, '\t') << where << ": tab";
        ASSERT_NE(c, '\r') << where << ": carriage return";
      }
      if (!line.empty()) {
        EXPECT_NE(line.back(), ' ') << where << ": trailing space";
      }
    }
  }
}

TEST(HouseRules, NothingIsLeftForLater) {
  // Concatenated, so that the test does not find them in this file.
  const std::string words[] = {std::string("TO") + "DO", std::string("FIX") + "ME",
                               std::string(" XX") + "X", std::string("HA") + "CK"};
  for (const File& file : all_files()) {
    if (!is_source(file)) continue;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      for (const std::string& word : words) {
        EXPECT_EQ(file.lines[i].find(word), std::string::npos)
            << file.path << ":" << i + 1 << ": " << file.lines[i];
      }
    }
  }
}

// A header of vector code is included once per instruction set; Highway's toggle guards it.
TEST(HouseRules, HeadersGuardThemselvesOnce) {
  for (const File& file : all_files()) {
    if (!file.ends_with(".h")) continue;
    size_t found = 0;
    for (const std::string& line : file.lines) {
      const bool toggle = line.find("== defined(HWY_TARGET_TOGGLE)") != std::string::npos;
      found += line == "#pragma once" || toggle;
    }
    EXPECT_EQ(found, 1u) << file.path;
  }
}

// A source file may start by including its own header; all others must open with a comment that
// describes them.
TEST(HouseRules, FilesOpenWithASentence) {
  for (const File& file : all_files()) {
    if (!file.is_cpp() && !file.ends_with(".fbs") && !file.ends_with(".def")) continue;
    ASSERT_FALSE(file.lines.empty()) << file.path << " is empty";
    bool quoted = false;
    const std::string stem = file.path.substr(0, file.path.rfind('.'));
    const std::string first = included(file.lines[0], &quoted);
    const bool own_header =
        file.ends_with(".cpp") && first.size() > 2 &&
        stem.find(first.substr(first.find('/') + 1, first.rfind('.') - first.find('/') - 1)) !=
            std::string::npos;
    // Definitions of libraries for Windows have comments of their own.
    const bool is_library = file.ends_with(".def") && file.lines[0].rfind("; ", 0) == 0;
    EXPECT_TRUE(own_header || is_library || file.lines[0].rfind("//", 0) == 0) << file.path;
  }
}

TEST(HouseRules, FileNamesAreSnakeCase) {
  for (const File& file : all_files()) {
    if (!file.is_cpp() && !file.ends_with(".fbs") && !file.ends_with(".py")) continue;
    for (const char c : file.path) {
      EXPECT_TRUE((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '/' ||
                  c == '.')
          << file.path;
    }
    EXPECT_EQ(file.path.find("util"), std::string::npos) << file.path;
  }
}

// A small folder may be described in its parent's README, which names it in backquotes.
bool is_named_by_parent(const std::string& folder) {
  const size_t slash = folder.rfind('/');
  if (slash == std::string::npos) return false;
  for (const File& file : all_files()) {
    if (file.path != folder.substr(0, slash) + "/README.md") continue;
    for (const std::string& line : file.lines) {
      const std::string name = folder.substr(slash + 1);
      if (line.find("`" + name + "`") != line.npos || line.find("`" + name + "/`") != line.npos) {
        return true;
      }
    }
  }
  return false;
}

TEST(HouseRules, EveryFolderHasAShortReadme) {
  std::set<std::string> folders;
  std::map<std::string, size_t> readmes;
  for (const File& file : all_files()) {
    const size_t slash = file.path.rfind('/');
    if (slash == std::string::npos) continue;
    const std::string folder = file.path.substr(0, slash);
    if (folder[0] == '.' || folder == "runtime/include/taper") continue;
    if (is_source(file)) folders.insert(folder);
    if (file.ends_with("/README.md")) readmes[folder] = file.lines.size();
  }
  for (const std::string& folder : folders) {
    EXPECT_TRUE(readmes.count(folder) || is_named_by_parent(folder))
        << folder << "/README.md is missing";
    // The README of schema/ is the specification of the wire format.
    if (folder != "schema") {
      EXPECT_LE(readmes[folder], kMaxReadmeLines) << folder << "/README.md";
    }
  }
}

// The device half never prints, aborts, throws or touches the heap.
TEST(HouseRules, TheDeviceHalfKeepsQuiet) {
  const std::string words[] = {"printf(", "std::cout", "std::cerr",  "abort(",   "exit(",
                               "throw ",  "malloc(",   "<iostream>", "<vector>", "<string>"};
  for (const File& file : all_files()) {
    const bool device = file.is_under("runtime") || file.is_under("kernels_portable") ||
                        file.is_under("kernels_optimized");
    if (!device || !file.is_cpp() || file.is_test()) continue;
    // Folders that wrap the heap or the operating system.
    if (file.is_under("runtime/platform") || file.is_under("runtime/module")) continue;
    if (file.is_under("runtime/loader") || file.is_under("runtime/devtools")) continue;
    const std::string heap[] = {"module.h", "etdump.h", "bundled_program.h"};
    if (std::any_of(std::begin(heap), std::end(heap), [&](const std::string& name) {
          return file.path == "runtime/include/taper/" + name;
        })) {
      continue;
    }
    for (size_t i = 0; i < file.lines.size(); ++i) {
      const std::string code = file.lines[i].substr(0, file.lines[i].find("//"));
      for (const std::string& word : words) {
        EXPECT_EQ(code.find(word), std::string::npos) << file.path << ":" << i + 1 << ": " << code;
      }
    }
  }
}

// What differs on Windows is in files made for it, and at few more places. The libraries of
// backends have differences of their own.
TEST(HouseRules, FewFilesKnowWindows) {
  const std::string knowing[] = {
      "runtime/include/taper/taper.h", "test/support/heap_counter.cpp",
      "test/support/lock_counter.cpp", "tools/system_posix.cpp",
      "tools/system_windows.cpp",
  };
  for (const File& file : all_files()) {
    if (!file.is_cpp() || file.is_under("runtime/platform") || file.is_under("test/tidy")) continue;
    if (file.is_under("backends") || file.is_under("bindings/python/windows")) continue;
    if (std::find(std::begin(knowing), std::end(knowing), file.path) != std::end(knowing)) continue;
    for (size_t i = 0; i < file.lines.size(); ++i) {
      EXPECT_EQ(file.lines[i].find("_WIN32"), std::string::npos) << file.path << ":" << i + 1;
      EXPECT_EQ(file.lines[i].find("<windows.h>"), std::string::npos) << file.path << ":" << i + 1;
    }
  }
}

}  // namespace
}  // namespace taper::tidy
