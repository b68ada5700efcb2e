// Tests libtaper.so and libtaper_compiler.so: their exported symbols, and C programs that use them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

#include "backends/compilers.h"
#include "backends/devices.h"
#include "test/cli/command.h"
#include "tools/atomic_file.h"

#if TAPER_SHARED

namespace taper::test {
namespace {

// The C API. A name must not be removed once it is added here: programs are linked against it.
const std::string kDigits = TAPER_SOURCE_DIR "/demo/digits.pt2";
const std::vector<std::string> kSymbols = {"taper_backend_count",
                                           "taper_backend_name",
                                           "taper_bind_input",
                                           "taper_bind_output",
                                           "taper_close",
                                           "taper_code_name",
                                           "taper_describe_input",
                                           "taper_describe_method",
                                           "taper_describe_output",
                                           "taper_dtype_name",
                                           "taper_dtype_size",
                                           "taper_end_recording",
                                           "taper_fast_kernels",
                                           "taper_find_backend",
                                           "taper_find_traced_backend",
                                           "taper_get_output",
                                           "taper_load_method",
                                           "taper_method_count",
                                           "taper_method_name",
                                           "taper_named_data",
                                           "taper_open_memory",
                                           "taper_open_path",
                                           "taper_portable_kernels",
                                           "taper_read_public_key",
                                           "taper_recorded_file",
                                           "taper_reset_state",
                                           "taper_run",
                                           "taper_run_recorded",
                                           "taper_set_input",
                                           "taper_signed_by",
                                           "taper_start_recording",
                                           "taper_version",
                                           "taper_version_text"};

const std::vector<std::string> kCompilerSymbols = {
    "taper_compilation_report", "taper_compile", "taper_compiled_program", "taper_compiled_weights",
    "taper_free_compilation"};

std::vector<std::string> visible_symbols(const std::string& library) {
  std::vector<std::string> names;
  FILE* lines = ::popen(("nm -D --defined-only " + library).c_str(), "r");
  if (lines == nullptr) return names;
  char line[4096];
  while (std::fgets(line, sizeof(line), lines) != nullptr) {
    std::string name = line;
    name.erase(name.find_last_not_of('\n') + 1);
    name.erase(0, name.rfind(' ') + 1);
    name = name.substr(0, name.find('@'));
    if (name != "TAPER_0") names.push_back(name);  // The symbols' version node.
  }
  ::pclose(lines);
  std::sort(names.begin(), names.end());
  return names;
}

TEST(SharedLibrary, ShowsTheCApiAndNothingElse) {
  EXPECT_EQ(visible_symbols(TAPER_SHARED_LIBRARY), kSymbols);
  EXPECT_EQ(visible_symbols(TAPER_COMPILER_LIBRARY), kCompilerSymbols);
}

// Compares with the outputs that PyTorch computes for an image of ones.
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
  const Said exported = run("taper", {"export", kDigits, "-o", scratch / "digits.pte"});
  ASSERT_EQ(exported.code, 0) << exported.err;
  const Said said = run("c_api", {scratch / "digits.pte"});
  EXPECT_EQ(said.code, 0) << said.err;
  expect_logits(said.out);
  const Said fast = run("c_api", {scratch / "digits.pte", "fast"});
  ASSERT_EQ(fast.code, 0) << fast.err;
  expect_logits(fast.out);
  const Said missing = run("c_api", {scratch / "none.pte"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_NE(missing.err.find("none.pte"), std::string::npos) << missing.err;
}

TEST(SharedLibrary, CompilesForAProgramInC) {
  const ScratchFolder scratch;
  const std::string model = TAPER_SOURCE_DIR "/demo/digits.pt2", path = scratch / "digits.pte";
  const Said compiled = run("c_compile", {model, path, "--io=application"});
  ASSERT_EQ(compiled.code, 0) << compiled.err;
  EXPECT_EQ(compiled.out.substr(0, 11), "{\"ok\":true,") << compiled.out;
  const Said said = run("c_api", {path});
  ASSERT_EQ(said.code, 0) << said.err;
  expect_logits(said.out);
  const Said exported =
      run("taper", {"export", model, "-o", scratch / "same.pte", "--io=application"});
  ASSERT_EQ(exported.code, 0) << exported.err;
  EXPECT_EQ(tools::read_file(scratch / "same.pte"), tools::read_file(path));
  const Said refused = run("c_compile", {model, scratch / "none.pte", "--no-such"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find("no-such"), std::string::npos) << refused.err;
  const Said damaged = run("c_compile", {path, scratch / "none.pte"});
  EXPECT_EQ(damaged.code, 1);
  EXPECT_EQ(damaged.out.substr(0, 12), "{\"ok\":false,") << damaged.out;
}

void expect_refused(const Said& said, const std::string& text) {
  EXPECT_EQ(said.code, 1);
  ASSERT_EQ(said.error_lines().size(), 1u) << said.err;
  EXPECT_NE(said.err.find(text), std::string::npos) << said.err;
}

TEST(SharedLibrary, RecordsWhatRanWithinDelegatesToo) {
  const ScratchFolder scratch;
  for (const DeviceDescriptor* each : backend_devices()) {
    if (!TAPER_SHARED_FAST) break;
    const std::string name = each->identity.name, path = scratch / (name + ".pte");
    const std::string file = scratch / (name + ".etdp");
    if (run("taper", {"export", kDigits, "--backend", name, "-o", path}).code != 0) {
      continue;  // A backend only for tests.
    }
    const Said said = run("c_api", {"--record", file, path, "fast", name});
    ASSERT_EQ(said.code, 0) << said.err;
    expect_logits(said.out);
    EXPECT_NE(said.err.find("DELEGATE_CALL"), std::string::npos) << said.err;
    const Said profile = run("taper", {"profile", file});
    ASSERT_EQ(profile.code, 0) << profile.err;
    EXPECT_NE(profile.out.find("a delegate"), std::string::npos) << profile.out;
  }
}

TEST(SharedLibrary, RunsTheDelegatesOfTheBackendsThatAreHandedIn) {
  const ScratchFolder scratch;
  for (const exir::CompilerDescriptor* each : backend_compilers()) {
    const std::string name = each->identity.name, path = scratch / (name + ".pte");
    const Said exported = run("taper", {"export", kDigits, "--backend", name, "-o", path});
    if (exported.code == 2) continue;  // A backend only for tests.
    ASSERT_EQ(exported.code, 0) << exported.err;
    expect_refused(run("c_api", {path}), each->identity.delegate_id);
    if (!TAPER_SHARED_FAST || find_device(name) == nullptr) continue;  // Refused, too.
    for (const std::vector<std::string>& arguments :
         {std::vector<std::string>{path, "fast"}, {path, "fast", name}}) {
      const Said fast = run("c_api", arguments);
      ASSERT_EQ(fast.code, 0) << fast.err;
      expect_logits(fast.out);
    }
    expect_refused(run("c_api", {path, "fast", name, name}),
                   std::string("the backend ") + each->identity.delegate_id + " is given twice");
  }
  expect_refused(run("c_api", {scratch / "none.pte", "fast", "no_such"}), "no backend 'no_such'; ");
}

}  // namespace
}  // namespace taper::test

#endif
