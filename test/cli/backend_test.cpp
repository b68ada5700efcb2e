// Tests --backend: lists, options, the report of what each backend took, and all errors.

#include <gtest/gtest.h>

#include "backends/compilers.h"
#include "backends/devices.h"
#include "test/cli/command.h"
#include "tools/atomic_file.h"
#include "tools/compare.h"

namespace taper::test {
namespace {

// A taper that also contains the backends for tests.
constexpr char kTaper[] = "taper_with_test_backends";
const std::string kDigits = TAPER_SOURCE_DIR "/demo/digits.pt2";

Said export_for(const std::string& backend, const std::string& out) {
  return run(kTaper, {"export", kDigits, "--backend", backend, "-o", out});
}

tools::NpyArray first_output(const std::string& program) {
  const ScratchFolder scratch;
  const Said said = run(kTaper, {"run", program, "--outputs", scratch / "out"});
  EXPECT_EQ(said.code, 0) << said.err;
  return tools::read_npy(scratch / "out/out0.npy");
}

// The rest of the line after "taper: error: --backend: "; the exit code must be 2.
std::string refusal(const std::string& backend) {
  const ScratchFolder scratch;
  const Said said = export_for(backend, scratch / "out.pte");
  EXPECT_EQ(said.code, 2) << said.err;
  EXPECT_TRUE(scratch.files().empty());
  const std::string head = "taper: error: --backend: ";
  const std::string line = said.error_lines().empty() ? "" : said.error_lines()[0];
  EXPECT_EQ(line.substr(0, head.size()), head);
  return line.substr(std::min(head.size(), line.size()));
}

const exir::CompilerDescriptor& first() { return *backend_compilers()[0]; }

std::string names() {
  std::string names = "portable";
  for (const exir::CompilerDescriptor* each : backend_compilers()) {
    names += std::string(", ") + each->identity.name;
  }
  return names;
}

TEST(BackendOption, AnUnknownBackendOrOptionNamesThoseThatExist) {
  EXPECT_EQ(refusal("vulcan"), "no backend 'vulcan'; there are: " + names());
  EXPECT_EQ(refusal(""), "no backend ''; there are: " + names());
  std::string keys;
  for (const exir::CompileOption& option : first().options) {
    keys += (keys.empty() ? "" : ", ") + std::string(option.key);
  }
  const std::string name = first().identity.name;
  EXPECT_EQ(refusal(name + ":fast=1"), name + ": no option 'fast'; there are: " + keys);
}

TEST(BackendOption, EverythingThatIsWrongIsSaidInOneLine) {
  const std::string name = first().identity.name;
  const exir::CompileOption& option = first().options[0];
  const std::string key(option.key), range = "'" + key + "' is a whole number from " +
                                             std::to_string(option.least) + " to " +
                                             std::to_string(option.most) + ", not ";
  EXPECT_EQ(refusal(name + ":" + key + "=-1:" + key + "=0,vulcan," + name + ",portable"),
            name + ": " + range + "'-1'; " + name + ": '" + key +
                "' is given twice; no backend 'vulcan'; there are: " + names() + "; the backend '" +
                name +
                "' is given twice; 'portable' stands alone: its kernels run what backends leave");
  for (const char* value : {"", "x", "1x", "0x10", "99999999999", " 1", "1.5"}) {
    EXPECT_EQ(refusal(name + ":" + key + "=" + value), name + ": " + range + "'" + value + "'");
  }
  EXPECT_EQ(refusal(name + ":" + key), name + ": " + range + "''");
}

TEST(BackendOption, TheListOfBackendsNamesTheirOptions) {
  const Said said = run(kTaper, {"export", "--list-backends"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(said.out.rfind("portable  ", 0), 0u) << said.out;
  EXPECT_NE(said.out.find(std::string("\n") + first().identity.name + "  " +
                          first().identity.delegate_id),
            std::string::npos)
      << said.out;
  for (const exir::CompileOption& option : first().options) {
    EXPECT_NE(said.out.find("\n    " + std::string(option.key) + "="), std::string::npos);
  }
}

// Options that the device half reads are stored in the file. They change results by no more than
// the rounding of bfloat16, which some processors multiply if they are asked to.
TEST(BackendOption, OptionsForTheDeviceAreInTheFile) {
  for (const exir::CompilerDescriptor* each : backend_compilers()) {
    const std::string name = each->identity.name;
    for (const exir::CompileOption& option : each->options) {
      if (option.reader != exir::CompileOption::Reader::kDevice) continue;
      SCOPED_TRACE(name + ":" + std::string(option.key));
      const ScratchFolder scratch;
      const std::string plain = scratch / "plain.pte", other = scratch / "other.pte";
      ASSERT_EQ(export_for(name, plain).code, 0);
      const int value = option.standard == option.least ? option.most : option.least;
      const Said said =
          export_for(name + ":" + std::string(option.key) + "=" + std::to_string(value), other);
      ASSERT_EQ(said.code, 0) << said.err;
      const std::string line = "\n    spec      " + std::string(option.key) + "=";
      EXPECT_EQ(run(kTaper, {"inspect", plain}).out.find(line), std::string::npos);
      EXPECT_NE(run(kTaper, {"inspect", other}).out.find(line), std::string::npos);
      if (find_device(name) == nullptr) continue;
      const tools::NpyArray expected = first_output(plain), given = first_output(other);
      const tools::Comparison result = tools::compare(given, expected, 3e-2);
      EXPECT_TRUE(result.equal) << result.text;
    }
  }
}

TEST(BackendOption, TheReportNamesWhoTookEachNode) {
  const ScratchFolder scratch;
  const std::string name = first().identity.name;
  const Said said =
      run(kTaper, {"export", kDigits, "--backend", name, "--report", "-o", scratch / "digits.pte"});
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_NE(said.out.find(" delegate::call "), std::string::npos) << said.out;
  EXPECT_NE(said.out.find(" aten::convolution\n"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find(" nodes in 1 call of " + name + ", "), std::string::npos) << said.out;
}

// Conditions on inputs are no backend's business.
TEST(BackendOption, FullDelegationLeavesConditionsOutside) {
  const ScratchFolder scratch;
  const std::string model = TAPER_SOURCE_DIR "/test/models/data/dynamic_batch.pt2";
  for (const exir::CompilerDescriptor* each : backend_compilers()) {
    const Said said = run(kTaper, {"export", model, "--backend", each->identity.name, "-o",
                                   scratch / "out.pte", "--require-full-delegation"});
    EXPECT_EQ(said.err.find("taper::assert"), said.err.npos) << said.err;
    EXPECT_EQ(said.err.find("sym_size"), said.err.npos) << said.err;
  }
}

TEST(BackendOption, RoundedNumbersSayWhatTheyChange) {
  const ScratchFolder scratch;
  const std::string model = TAPER_SOURCE_DIR "/test/models/data/resnet18.pt2";
  const auto export_in = [&](const std::string& backend, const std::string& precision) {
    return run(kTaper, {"export", model, "--backend", backend, "--precision", precision, "-o",
                        scratch / "out.pte"});
  };
  EXPECT_EQ(export_in("portable", "f64").code, 2);
  EXPECT_NE(export_in("portable", "f64").err.find("must be f32, f16 or bf16, not 'f64'"),
            std::string::npos);
  const struct {
    exir::Numerals numerals;
    const char *option, *name;
  } precisions[] = {{exir::Numerals::kFloat16, "f16", "float16"},
                    {exir::Numerals::kBfloat16, "bf16", "bfloat16"}};
  for (const auto& precision : precisions) {
    const std::string refusal = std::string("none of them computes in ") + precision.name;
    EXPECT_NE(export_in("portable", precision.option).err.find(refusal), std::string::npos);
    for (const exir::CompilerDescriptor* each : backend_compilers()) {
      const std::string name = each->identity.name;
      if (each->option_for(precision.numerals).empty() || find_device(name) == nullptr) continue;
      const Said said = export_in(name, precision.option);
      ASSERT_EQ(said.code, 0) << said.err;
      const std::string line =
          std::string("forward in ") + precision.name + ": output 0 changes by ";
      const size_t at = said.out.find(line);
      ASSERT_NE(at, std::string::npos) << said.out;
      const double change = std::strtod(said.out.c_str() + at + line.size(), nullptr);
      EXPECT_GT(change, 0) << said.out;
      EXPECT_LT(change, 0.01) << said.out;
      EXPECT_EQ(export_in(name, "f32").out.find(" changes by "), std::string::npos);
    }
  }
}

TEST(BackendOption, MemoryOfDelegatesIsFoundByLoadingThem) {
  const ScratchFolder scratch;
  const std::string path = scratch / "digits.pte";
  ASSERT_EQ(export_for(first().identity.name, path).code, 0);
  const Said said = run(kTaper, {"inspect", path, "--memory"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_NE(said.out.find("\n  delegate 0    " + std::string(first().identity.delegate_id)),
            std::string::npos)
      << said.out;
  EXPECT_NE(said.out.find("intermediate results"), std::string::npos) << said.out;
}

TEST(BackendOption, ADelegateOfNobodyIsNamedWhenItIsLoaded) {
  const ScratchFolder scratch;
  const std::string path = scratch / "digits.pte", id = first().identity.delegate_id;
  ASSERT_EQ(export_for(first().identity.name, path).code, 0);
  std::string bytes = tools::read_file(path);
  const size_t at = bytes.find(id);
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'Q';
  tools::write_file(path, bytes);
  const Said said = run(kTaper, {"run", path});
  EXPECT_EQ(said.code, 1);
  ASSERT_EQ(said.error_lines().size(), 1u) << said.err;
  EXPECT_NE(said.err.find("the application provides no backend of this name: Q" + id.substr(1)),
            std::string::npos)
      << said.err;
}

}  // namespace
}  // namespace taper::test
