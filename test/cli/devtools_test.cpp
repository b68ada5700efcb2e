// ETDump and BundledProgram on the command line: both directions, and files that are none.

#include <gtest/gtest.h>

#include "test/cli/command.h"
#include "tools/atomic_file.h"

namespace taper::test {
namespace {

const std::string kRoot = TAPER_SOURCE_DIR;

std::string model(const std::string& name) { return kRoot + "/test/models/data/" + name; }
std::string from_executorch(const std::string& name) { return kRoot + "/test/compat/data/" + name; }

// A failure is one line that names the file, and leaves nothing behind.
void expect_refused(const std::vector<std::string>& arguments, const std::string& why) {
  const Said said = run("taper", arguments);
  EXPECT_EQ(said.code, 1) << why;
  ASSERT_EQ(said.error_lines().size(), 1u) << said.err;
  EXPECT_TRUE(has(said.err, why)) << said.err;
}

class Devtools : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run("taper", {"export", model("dynamic_batch.pt2"), "-o", pte_, "--debug-info"}).code,
              0);
  }

  ScratchFolder folder_;
  const std::string pte_ = folder_ / "m.pte";
  const std::string in_ = model("dynamic_batch_3.in0.npy"),
                    out_ = model("dynamic_batch_3.out0.npy");
};

TEST_F(Devtools, ProfileReadsWhatItWritesForTheInspector) {
  const std::string etdump = folder_ / "m.etdp";
  const Said wrote = run("taper", {"profile", pte_, "--runs", "3", "--csv", "--etdump", etdump});
  ASSERT_EQ(wrote.code, 0) << wrote.err;
  const Said read = run("taper", {"profile", etdump, "--csv"});
  ASSERT_EQ(read.code, 0) << read.err;
  // The columns place and node are the same in both.
  const auto places = [](const std::string& csv) {
    std::vector<std::string> rows;
    for (size_t at = csv.find('\n'); at + 1 < csv.size(); at = csv.find('\n', at + 1)) {
      rows.push_back(csv.substr(at + 1, csv.find(',', csv.find(',', at) + 1) - at - 1));
    }
    return rows;
  };
  EXPECT_EQ(places(read.out), places(wrote.out));
  EXPECT_TRUE(has(read.out, "\"linear\"")) << read.out;
  EXPECT_EQ(run("taper", {"profile", pte_, "--against", etdump}).code, 0);
  EXPECT_EQ(run("taper", {"trace", pte_, "-o", folder_ / "t.etdp"}).code, 0);
  EXPECT_EQ(run("taper", {"profile", folder_ / "t.etdp"}).code, 0);
  EXPECT_EQ(run("taper", {"trace", pte_, "-o", folder_ / "t.pftrace"}).code, 0);
  EXPECT_TRUE(has(tools::read_file(folder_ / "t.pftrace"), "planned bytes alive"));
}

TEST_F(Devtools, ProfileReadsExecuTorchsTraces) {
  const Said said = run("taper", {"profile", from_executorch("mlp.etdp")});
  ASSERT_EQ(said.code, 0) << said.err;
  EXPECT_TRUE(has(said.out, "of 3,")) << said.out;
  EXPECT_TRUE(has(said.out, "addmm.out")) << said.out;
  const Said steps = run("taper", {"profile", from_executorch("mlp_delegate.etdp")});
  EXPECT_TRUE(has(steps.out, "Softmax (NC, F32) #1")) << steps.out;
  const std::string timeline = folder_ / "theirs.json";
  ASSERT_EQ(run("taper", {"trace", from_executorch("mlp_delegate.etdp"), "-o", timeline}).code, 0);
  EXPECT_TRUE(has(tools::read_file(timeline), "\"name\":\"Method::execute\""))
      << tools::read_file(timeline);
  EXPECT_TRUE(has(tools::read_file(timeline), "\"name\":\"Softmax (NC, F32) #1\""));
  EXPECT_EQ(run("taper", {"trace", from_executorch("mlp.etdp"), "-o", folder_ / "x.etdp"}).code, 2);
}

TEST_F(Devtools, TracesThatAreNoneAreRefused) {
  const std::string good = tools::read_file(from_executorch("mlp.etdp"));
  const std::string bad = folder_ / "bad.etdp";
  tools::write_file(bad, good.substr(0, good.size() / 2));
  expect_refused({"profile", bad}, "bad.etdp': the trace is cut");
  tools::write_file(bad, good.substr(0, 4) + "\xff\xff\xff\x7f" + good.substr(8));
  expect_refused({"profile", bad}, "bad.etdp': the trace is damaged");
  expect_refused({"trace", bad, "-o", folder_ / "t.json"}, "bad.etdp': the trace is damaged");
  tools::write_file(bad, good.substr(0, 8) + "ED01" + good.substr(12));
  for (const char* command : {"profile", "trace"}) {
    expect_refused({command, bad}, "is an ETDump of version 01; this taper reads version 00");
  }
  expect_refused({"run", from_executorch("mlp.etdp")}, "'taper profile' shows it");
  EXPECT_EQ(run("taper", {"profile", from_executorch("mlp.etdp"), "--etdump", folder_ / "x"}).code,
            2);
  expect_refused({"profile", pte_, "--against", from_executorch("mlp_delegate.etdp")},
                 "are not of the same model");
}

TEST_F(Devtools, TheRunnerWritesTraces) {
  const std::string etdump = folder_ / "r.etdp";
  const Said said = run("executor_runner", {"--model_path", pte_, "--etdump_path", etdump,
                                            "--num_executions", "4", "--print_output", "none"});
  ASSERT_EQ(said.code, 0) << said.err;
  const Said read = run("taper", {"profile", etdump});
  ASSERT_EQ(read.code, 0) << read.err;
  EXPECT_TRUE(has(read.out, "of 4,")) << read.out;
  EXPECT_TRUE(has(read.out, "linear.out")) << read.out;
  EXPECT_EQ(run("executor_runner", {"--model_path", pte_, "--etdump_path", "/nowhere/x"}).code, 1);
}

TEST_F(Devtools, BundlesCollectTestCases) {
  const std::string bundle = folder_ / "m.bpte";
  const Said made =
      run("taper", {"bundle", pte_, "--inputs", in_, "--expected", out_, "-o", bundle});
  ASSERT_EQ(made.code, 0) << made.err;
  // A second call adds one; without --expected it is what the program computes.
  ASSERT_EQ(run("taper", {"bundle", bundle, "--inputs", in_, "-o", bundle}).code, 0);
  const Said verified = run("taper", {"verify", bundle, "--rtol", "1e-4", "--atol", "1e-5"});
  EXPECT_EQ(verified.code, 0) << verified.err;
  EXPECT_TRUE(has(verified.out, "test case 0, output 0: agrees")) << verified.out;
  EXPECT_TRUE(has(verified.out, "test case 1, output 0: agrees")) << verified.out;
  const std::vector<std::string> arguments = {"--model_path",    bundle, "--bundleio_rtol", "1e-4",
                                              "--bundleio_atol", "1e-5"};
  EXPECT_EQ(run("executor_runner", arguments).code, 0);
  const Said ran = run("taper", {"run", bundle, "--case", "1"});
  EXPECT_EQ(ran.out, run("taper", {"run", pte_, "--inputs", in_}).out);
  ASSERT_EQ(run("taper", {"bundle", bundle, "--extract", "-o", folder_ / "x.pte"}).code, 0);
  EXPECT_EQ(tools::read_file(folder_ / "x.pte"), tools::read_file(pte_));
}

TEST_F(Devtools, WrongExpectationsAreFound) {
  const std::string bundle = folder_ / "m.bpte", wrong = folder_ / "wrong.npy";
  std::string bytes = tools::read_file(out_);
  bytes[bytes.size() - 2] ^= 0x40;  // The exponent of the last float.
  tools::write_file(wrong, bytes);
  ASSERT_EQ(run("taper", {"bundle", pte_, "--inputs", in_ + "," + in_, "--expected",
                          out_ + "," + wrong, "-o", bundle})
                .code,
            0);
  expect_refused({"verify", bundle, "--rtol", "1e-4"}, "differ");
  EXPECT_EQ(run("executor_runner", {"--model_path", bundle, "--bundleio_rtol", "1e-4"}).code, 1);
}

TEST_F(Devtools, BundlesOfExecuTorchRun) {
  EXPECT_EQ(run("taper", {"verify", from_executorch("mlp.bpte")}).code, 0);
  EXPECT_EQ(run("executor_runner", {"--model_path", from_executorch("mlp.bpte")}).code, 0);
  const Said none = run("executor_runner", {"--model_path", from_executorch("mlp.bpte"),
                                            "--bundleio_rtol", "0", "--bundleio_atol", "0"});
  EXPECT_EQ(none.code, 1);  // The last digits differ.
  EXPECT_EQ(run("taper", {"profile", from_executorch("mlp.bpte"), "--runs", "2"}).code, 0);
}

TEST_F(Devtools, WhatIsNoBundleIsRefused) {
  const std::string good = tools::read_file(from_executorch("mlp.bpte"));
  const std::string bad = folder_ / "bad.bpte", out = folder_ / "out.bpte";
  tools::write_file(bad, good.substr(0, good.size() / 2));
  for (const char* command : {"verify", "run", "profile"}) {
    expect_refused({command, bad}, "bad.bpte': the bundled program is damaged");
  }
  expect_refused({"bundle", bad, "--inputs", in_, "-o", out}, "is damaged");
  expect_refused(
      {"bundle", pte_, "--inputs", in_ + "," + in_ + "," + in_, "--expected", out_, "-o", out},
      "3 test cases");
  expect_refused({"bundle", pte_, "--inputs", out_, "-o", out}, "expected");
  expect_refused({"bundle", pte_, "--inputs", in_, "--expected", in_, "-o", out}, "output 0");
  expect_refused({"bundle", pte_, "--extract", "-o", out}, "is not a .bpte");
  expect_refused({"run", from_executorch("mlp.bpte"), "--case", "2"}, "has 2 test cases");
  expect_refused({"run", pte_, "--case", "0"}, "it is no .bpte");
  expect_refused({"inspect", from_executorch("mlp.bpte")}, "'taper bundle --extract'");
  EXPECT_EQ(folder_.files(), (std::vector<std::string>{"bad.bpte", "m.pte"}));
}

}  // namespace
}  // namespace taper::test
