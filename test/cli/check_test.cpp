// Tests taper check, inspect and ops, and custom operators: problems, their messages, and a run.

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "test/cli/command.h"
#include "tools/atomic_file.h"
#include "tools/npy.h"

namespace taper::test {
namespace {

const std::string kData = TAPER_SOURCE_DIR "/test/cli/data/";
const std::string kExample = TAPER_SOURCE_DIR "/examples/custom_op/";

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Check, NamesEverythingThatStandsInTheWayAtOnce) {
  const Said said = run("taper", {"check", kData + "many.pt2"});
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(said.err, "taper: error: " + kData + "many.pt2: 6 problems\n");
  for (const char* part :
       {"unknown-dtype, found by import", "complex32",
        "training-mode, found by prepare_for_inference",
        "unsupported-dtype, found by check_kernels", "no kernel takes uint64",
        "unsupported-op, found by to_out_variants", "aten::linalg_ldl_factor",
        "make.py:29 in forward: y = torch.linalg.ldl_factor(x)[0] + torch.ops.my.shrink(x, 0.5)",
        "my::shrink(Tensor x, float by) -> Tensor", "--ops"}) {
    EXPECT_TRUE(has(said.out, part)) << part << "\n" << said.out;
  }
}

TEST(Check, SaysTheSameAsJson) {
  const Said said = run("taper", {"check", "--json", kData + "many.pt2"});
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(said.out.rfind("{\"ok\":false,\"files\":[", 0), 0u) << said.out;
  EXPECT_EQ(count(said.out, "\"id\":"), 6u);
  EXPECT_EQ(count(said.out, "\"source\":\"make.py:"), 6u) << said.out;
  EXPECT_TRUE(has(said.out, "\"id\":\"unsupported-dtype\",\"stage\":\"check_kernels\",\"node\":"));
  EXPECT_TRUE(has(said.out, "\"actual\":\"uint64\"")) << said.out;
}

TEST(Check, WritesJsonBesideTheText) {
  const ScratchFolder scratch;
  const Said text = run("taper", {"check", kData + "many.pt2"});
  const Said both = run("taper", {"check", kData + "many.pt2", "--json=" + (scratch / "m.json")});
  EXPECT_EQ(both.code, 1);
  EXPECT_EQ(both.out, text.out);
  const Said json = run("taper", {"check", kData + "many.pt2", "--json"});
  EXPECT_EQ(tools::read_file(scratch / "m.json"), json.out);
}

TEST(Check, ExportSaysItToo) {
  const ScratchFolder scratch;
  const Said said = run("taper", {"export", kData + "many.pt2", "-o", scratch / "m.pte"});
  EXPECT_EQ(said.code, 1);
  EXPECT_TRUE(has(said.err, "6 problems")) << said.err;
  EXPECT_TRUE(has(said.err, "unsupported-dtype")) << said.err;
  EXPECT_TRUE(scratch.files().empty());
}

TEST(Check, ASizeWithoutABoundIsAProblemHereAndAWarningInExport) {
  const Said said = run("taper", {"check", kData + "open.pt2"});
  EXPECT_EQ(said.code, 1);
  EXPECT_TRUE(has(said.out, "(dimension 0 of the input x) has no upper bound")) << said.out;
  EXPECT_TRUE(has(said.out, "make.py:36 in forward: return torch.relu(x) + x.sum(0)")) << said.out;
  EXPECT_TRUE(has(said.out, "dynamic_shapes={\"x\": {0: torch.export.Dim(\"s77\", max=N)}}"));
  EXPECT_EQ(run("taper", {"check", kData + "open.pt2", "--bound", "s77=8"}).code, 0);
  const Said exported = run("taper", {"export", kData + "open.pt2", "-o", "/dev/null"});
  EXPECT_EQ(exported.code, 0);
  EXPECT_TRUE(has(exported.err,
                  "taper: warning: the size s77 (dimension 0 of the input x) has no upper bound"))
      << exported.err;
}

// Export, check and view in one way, quantize and compare on their own.
TEST(Check, ABoundOfWhatIsNoSymbolIsRefusedByEveryCommand) {
  const ScratchFolder scratch;
  const std::string model = kData + "open.pt2", program = scratch / "o.pte";
  const std::string says =
      "the bound 1500 is of 'nonsense', which is no symbolic size of the program; it has s77";
  ASSERT_EQ(run("taper", {"export", model, "-o", program, "--bound", "s77=8", "--debug-info"}).code,
            0);
  for (std::vector<std::string> words :
       {std::vector<std::string>{"export", model, "-o", scratch / "x.pte"},
        {"check", model, "--bound", "s77=8"},
        {"quantize", model, "-o", scratch / "x.pt2", "--float16"},
        {"compare", model, program}}) {
    words.insert(words.end(), {"--bound", "nonsense=1500"});
    const Said said = run("taper", words);
    EXPECT_EQ(said.code, 1) << words[0];
    EXPECT_TRUE(has(said.err, says)) << words[0] << ": " << said.err;
  }
  EXPECT_EQ(scratch.files(), std::vector<std::string>{"o.pte"});
  const std::string page = scratch / "v.html";
  EXPECT_EQ(run("taper", {"view", model, "-o", page, "--bound", "nonsense=1500"}).code, 0);
  EXPECT_TRUE(has(tools::read_file(page), "the bound 1500 is of 'nonsense'"));
}

// Each command that reads a .pt2 says what --bound it needs, and takes it.
TEST(Check, TheBoundThatAnErrorAdvisesIsTaken) {
  const ScratchFolder scratch;
  const std::string model = kData + "counted.pt2", program = scratch / "c.pte";
  tools::write_file(scratch / "x.npy", tools::npy_bytes(ScalarType::kFloat, {2, 4},
                                                        std::string(8 * sizeof(float), 0)));
  std::filesystem::create_directories(scratch / "samples/0");
  std::filesystem::copy(scratch / "x.npy", scratch / "samples/0/0.npy");
  tools::write_file(scratch / "samples/0/1.npy",
                    tools::npy_bytes(ScalarType::kLong, {}, std::string("\3\0\0\0\0\0\0\0", 8)));
  for (std::vector<std::string> words :
       {std::vector<std::string>{"check", model},
        {"export", model, "-o", program, "--debug-info"},
        {"quantize", model, "-o", scratch / "q.pt2", "-c", scratch / "samples"},
        {"compare", model, program, "--inputs",
         scratch / "samples/0/0.npy," + (scratch / "samples/0/1.npy")}}) {
    const Said refused = run("taper", words);
    EXPECT_EQ(refused.code, 1) << words[0];
    EXPECT_TRUE(has(refused.out + refused.err, "or use --bound u0=N")) << words[0] << refused.err;
    words.insert(words.end(), {"--bound", "u0=9"});
    const Said said = run("taper", words);
    EXPECT_EQ(said.code, 0) << words[0] << ": " << said.err;
  }
}

TEST(Check, AGoodModelPasses) {
  const Said said = run("taper", {"check", TAPER_SOURCE_DIR "/test/models/data/add.pt2", "--json"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_TRUE(has(said.out, "{\"ok\":true,")) << said.out;
}

TEST(Inspect, PrintsEachDialect) {
  const auto print = [](const char* dialect) {
    return run("taper", {"inspect", std::string("--dialect=") + dialect, "--ops",
                         kExample + "ops.txt", kExample + "model.pt2"})
        .out;
  };
  EXPECT_TRUE(has(print("aten"), "  my::accumulate_(%b_total, %shrink)\n"));
  EXPECT_TRUE(has(print("core"), "aten::mul.Tensor(%x, 2)"));
  EXPECT_TRUE(has(print("core"), "mutate %b_total = "));
  EXPECT_TRUE(has(print("edge"), "aten::mul.Scalar(%x, 2)"));
  EXPECT_TRUE(has(print("backend"), "my::shrink.out(%mul, 0.5)"));
  EXPECT_EQ(run("taper", {"inspect", "--dialect=mlir", kExample + "model.pt2"}).code, 2);
  EXPECT_EQ(run("taper", {"inspect", "--memory", kExample + "model.pt2"}).code, 2);
}

TEST(Inspect, ShowsWhatLiesWhereInMemory) {
  const ScratchFolder scratch;
  const std::string program = scratch / "m.pte";
  ASSERT_EQ(
      run("taper", {"export", kExample + "model.pt2", "--ops", kExample + "ops.txt", "-o", program})
          .code,
      0);
  const Said said =
      run("taper", {"inspect", "--memory", "--all", "--svg", scratch / "m.svg", program});
  EXPECT_EQ(said.code, 0) << said.err;
  // While shrink runs: the state, its input and its output, 24 bytes each.
  EXPECT_TRUE(has(said.out, "buffer 1      96 B planned, peak 72 B at instruction 1")) << said.out;
  const size_t peak = said.out.find("\n  alive at the peak of buffer 1, instruction 1\n");
  const size_t options = said.out.find("\n  what options change\n");
  const size_t all = said.out.find("\n  buffer       offset ");
  ASSERT_NE(all, said.out.npos) << said.out;
  EXPECT_EQ(count(said.out.substr(peak, options - peak), "\n            24 "), 3) << said.out;
  const std::string places = said.out.substr(all + 1);
  EXPECT_TRUE(has(places, "  input 0\n")) << said.out;
  EXPECT_TRUE(has(places, "  state\n")) << said.out;
  // This taper has no kernel for the example's operator.
  EXPECT_TRUE(has(said.out, "  measured      not: ")) << said.out;
  const std::string picture = tools::read_file(scratch / "m.svg");
  EXPECT_EQ(picture.rfind("<svg xmlns=", 0), 0u);
  EXPECT_EQ(count(picture, "<title>"), count(places, "\n") - 1);
}

// At the peak an activation of 24 x 32 x 32 floats is read by a convolution whose result is a
// quarter of it. Were the activation not in place, its input and its result would be the peak.
TEST(Inspect, NamesWhatIsAliveAtThePeak) {
  const ScratchFolder scratch;
  const std::string program = scratch / "m.pte";
  const std::string model = TAPER_SOURCE_DIR "/test/models/data/mobilenet_v2.pt2";
  ASSERT_EQ(run("taper", {"export", model, "-o", program, "--debug-info"}).code, 0);
  const Said said = run("taper", {"inspect", "--memory", program});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_TRUE(has(said.out, "  98304      7      8  hardtanh__2 ")) << said.out;
  EXPECT_TRUE(has(said.out, "mobilenet_v2.py:42 in forward")) << said.out;
  EXPECT_TRUE(has(said.out, "the peak of buffer 1 would be 196.6 KB")) << said.out;
  EXPECT_TRUE(has(said.out, " while it runs; loaded in ")) << said.out;
}

TEST(Ops, TheDocumentIsUpToDate) {
  const Said said = run("taper", {"ops", "--markdown"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_TRUE(said.out == tools::read_file(TAPER_SOURCE_DIR "/docs/operators.md"))
      << "run: taper ops --markdown > docs/operators.md";
}

TEST(Ops, TellsWhatBecomesOfAnOperator) {
  const Said said = run("taper", {"ops", "--json"});
  EXPECT_EQ(said.code, 0) << said.err;
  for (
      const char* part :
      {R"({"name":"aten::add.Tensor","dialect":"core","becomes":"aten::add.out","kernel":"aten::add.out","dtypes":["float32",)",
       R"({"name":"aten::add_.Tensor","dialect":"aten","becomes":"aten::add.Tensor")",
       R"({"name":"aten::silu","dialect":"decomposed","becomes":"simpler operators")",
       R"({"name":"aten::select.int","dialect":"core","becomes":"aten::select_copy.int_out")",
       R"({"name":"higher_order::cond","dialect":"backend","becomes":"jumps and moves")",
       R"({"name":"aten::nonzero","dialect":"core","becomes":"aten::nonzero.out")",
       R"("dynamic":"bounded","memory":"own")"}) {
    EXPECT_TRUE(has(said.out, part)) << part;
  }
  EXPECT_EQ(run("taper", {"ops", "x.pt2"}).code, 2);
}

TEST(CustomOp, TheExampleGivesPyTorchsNumbers) {
  const ScratchFolder scratch;
  const Said exported = run("taper", {"export", kExample + "model.pt2", "--ops",
                                      kExample + "ops.txt", "-o", scratch / "model.pte"});
  ASSERT_EQ(exported.code, 0) << exported.err;
  const Said said = run("custom_op", {scratch / "model.pte"});
  ASSERT_EQ(said.code, 0) << said.err;
  const tools::NpyArray expected = tools::read_npy(kExample + "expected.npy");
  std::istringstream numbers(said.out);
  for (size_t i = 0; i < expected.data.size() / sizeof(float); ++i) {
    float got = NAN, wanted = 0;
    numbers >> got;
    expected.data.copy(reinterpret_cast<char*>(&wanted), sizeof wanted, i * sizeof wanted);
    EXPECT_NEAR(got, wanted, 1e-6) << i;
  }
  // Without the kernels the run fails and names them.
  const Said missing = run("taper", {"run", scratch / "model.pte"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_TRUE(has(missing.err, "my::shrink.out") && has(missing.err, "my::accumulate_"));
}

TEST(CustomOp, ABadDeclarationIsNamedWithItsLine) {
  const ScratchFolder scratch;
  tools::write_file(scratch / "ops.txt", "# mine\nmy::f(Tensor x) -> Tensor  like y\n");
  const Said said = run("taper", {"check", kExample + "model.pt2", "--ops", scratch / "ops.txt"});
  EXPECT_EQ(said.code, 1);
  EXPECT_TRUE(has(said.err, "ops.txt:2: \"like\" needs the name of a tensor argument")) << said.err;
  const Said without = run("taper", {"check", kExample + "model.pt2"});
  EXPECT_EQ(without.code, 1);
  EXPECT_TRUE(has(without.out, "my::accumulate_(Tensor(a!) total, Tensor x) -> ()")) << without.out;
}

}  // namespace
}  // namespace taper::test
