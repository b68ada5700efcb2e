// libtaper.so: what it shows to the world, and the program in C that uses it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "test/cli/command.h"

#if TAPER_SHARED

namespace taper::test {
namespace {

// The C API. A name that is added here stays: programs are linked against it.
const std::vector<std::string> kSymbols = {"taper_close",
                                           "taper_code_name",
                                           "taper_describe_input",
                                           "taper_describe_method",
                                           "taper_describe_output",
                                           "taper_dtype_name",
                                           "taper_dtype_size",
                                           "taper_fast_kernels",
                                           "taper_get_output",
                                           "taper_load_method",
                                           "taper_method_count",
                                           "taper_method_name",
                                           "taper_open_memory",
                                           "taper_open_path",
                                           "taper_portable_kernels",
                                           "taper_reset_state",
                                           "taper_run",
                                           "taper_set_input",
                                           "taper_version",
                                           "taper_version_text",
                                           "taper_xnnpack_backends"};

std::vector<std::string> visible_symbols() {
  std::vector<std::string> names;
  FILE* lines = ::popen("nm -D --defined-only " TAPER_SHARED_LIBRARY, "r");
  if (lines == nullptr) return names;
  char line[4096];
  while (std::fgets(line, sizeof(line), lines) != nullptr) {
    std::string name = line;
    name.erase(name.find_last_not_of('\n') + 1);
    name.erase(0, name.rfind(' ') + 1);
    name = name.substr(0, name.find('@'));
    if (name != "TAPER_0") names.push_back(name);  // The version that the symbols carry.
  }
  ::pclose(lines);
  std::sort(names.begin(), names.end());
  return names;
}

TEST(SharedLibrary, ShowsTheCApiAndNothingElse) { EXPECT_EQ(visible_symbols(), kSymbols); }

// What PyTorch computes for an image of ones.
void expect_logits(const std::string& out) {
  const std::string head = "input 0 float32 (1, 1, 8, 8)\noutput 0 float32 (1, 10)\n";
  ASSERT_EQ(out.substr(0, head.size()), head);
  std::istringstream logits(out.substr(head.size()));
  for (const double wanted : {-0.603742, -0.483303, -0.436131, -0.976292, -0.413193, -1.01005,
                              -0.212286, -0.989867, 4.73386, -1.0208}) {
    double given = 0;
    ASSERT_TRUE(logits >> given);
    EXPECT_NEAR(given, wanted, 1e-4);
  }
}

TEST(SharedLibrary, IsUsedByAProgramInC) {
  const ScratchFolder scratch;
  const Said exported =
      run("taper", {"export", TAPER_SOURCE_DIR "/demo/digits.pt2", "-o", scratch / "digits.pte"});
  ASSERT_EQ(exported.code, 0) << exported.err;
  const Said said = run("c_api", {scratch / "digits.pte"});
  EXPECT_EQ(said.code, 0) << said.err;
  expect_logits(said.out);
  // The same program, and one that XNNPACK runs, on the fast kernels.
  const Said delegated = run("taper", {"export", TAPER_SOURCE_DIR "/demo/digits.pt2", "--backend",
                                       "xnnpack", "-o", scratch / "xnnpack.pte"});
  ASSERT_EQ(delegated.code, 0) << delegated.err;
  const Said without = run("c_api", {scratch / "xnnpack.pte"});
  EXPECT_EQ(without.code, 1);
  EXPECT_NE(without.err.find("XnnpackBackend"), std::string::npos) << without.err;
  for (const char* name : {"digits.pte", "xnnpack.pte"}) {
    if (!TAPER_SHARED_XNNPACK && name[0] == 'x') continue;  // Built without: refused, as above.
    const Said fast = run("c_api", {scratch / name, "fast"});
    ASSERT_EQ(fast.code, 0) << fast.err;
    expect_logits(fast.out);
  }
  const Said missing = run("c_api", {scratch / "none.pte"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_NE(missing.err.find("none.pte"), std::string::npos) << missing.err;
}

}  // namespace
}  // namespace taper::test

#endif
