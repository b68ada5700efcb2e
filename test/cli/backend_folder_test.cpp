// Tests that CMake stops at a folder under backends/ that is not a complete backend, and names it.

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <sstream>

#include "test/cli/command.h"
#include "tools/atomic_file.h"

namespace taper::test {
namespace {

constexpr const char* kParts[] = {"descriptor.h", "backend.cmake", "README.md",
                                  "aot/descriptor.cpp", "runtime/descriptor.cpp"};

class BackendFolders : public testing::Test {
 protected:
  void SetUp() override { add("good", ""); }

  // Adds a backend without the part `lacking`.
  void add(const std::string& name, const std::string& lacking) {
    for (const std::string part : kParts) {
      const std::string path = scratch_ / ("backends/" + name + "/" + part);
      std::filesystem::create_directories(std::filesystem::path(path).parent_path());
      if (part != lacking) tools::write_file(path, "\n");
    }
  }

  // CMake's messages if the backends are listed as `list`; empty if nothing is wrong.
  std::string check(const std::string& list) {
    const std::string script = scratch_ / "check.cmake";
    tools::write_file(script, "cmake_minimum_required(VERSION 3.22)\ninclude(" TAPER_SOURCE_DIR
                              "/cmake/check_backends.cmake)\n" +
                                  ("taper_check_backends(" + scratch_.path()) + " backends \"" +
                                  list + "\")\n");
    FILE* lines = ::popen(("cmake -P " + script + " 2>&1").c_str(), "r");
    if (lines == nullptr) return "no cmake";
    std::string text;
    char line[512];
    while (std::fgets(line, sizeof(line), lines) != nullptr) text += line;
    ::pclose(lines);
    return on_one_line(text);
  }

  // CMake breaks lines at arbitrary places.
  static std::string on_one_line(const std::string& text) {
    std::istringstream words(text);
    std::string line;
    for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
    return line;
  }

  ScratchFolder scratch_;
};

TEST_F(BackendFolders, AWholeBackendIsTaken) { EXPECT_EQ(check("backends/good"), ""); }

TEST_F(BackendFolders, APartThatIsMissingIsNamed) {
  for (const std::string part : kParts) {
    add("bad", part);
    EXPECT_NE(check("backends/good;backends/bad").find("backends/bad has no " + part),
              std::string::npos)
        << check("backends/good;backends/bad");
    std::filesystem::remove_all(scratch_ / "backends/bad");
  }
}

TEST_F(BackendFolders, AFolderThatIsNotInTheListIsNamed) {
  add("other", "");
  EXPECT_NE(check("backends/good").find("backends/other is not in backends/backends.cmake"),
            std::string::npos);
  EXPECT_NE(check("backends/good;backends/other;backends/none").find("lists backends/none"),
            std::string::npos);
}

}  // namespace
}  // namespace taper::test
