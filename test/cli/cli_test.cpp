// Tests exit codes and messages of `taper` and `executor_runner`.

#include <gtest/gtest.h>

#include <cstdlib>

#include "test/cli/command.h"
#include "test/support/synthetic_program.h"
#include "tools/atomic_file.h"
#include "tools/npy.h"

namespace taper::test {
namespace {

constexpr const char* kCommands[] = {"export", "check", "run",    "inspect", "bench",
                                     "verify", "batch", "select", "sign"};

void expect_one_error(const Said& said, int code, const std::string& part) {
  EXPECT_EQ(said.code, code) << said.err;
  ASSERT_GE(said.error_lines().size(), 1u);
  EXPECT_EQ(said.error_lines()[0].rfind("taper: error: ", 0), 0u) << said.err;
  EXPECT_NE(said.error_lines()[0].find(part), std::string::npos) << said.err;
  EXPECT_EQ(said.error_lines().size(), code == 2 ? 2u : 1u) << said.err;
}

// Writes a program of three additions of four floats.
std::string adds(const ScratchFolder& scratch) {
  const std::vector<uint8_t> bytes = chain_of_adds(3, 4);
  std::string path = scratch / "adds.pte";
  tools::write_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  return path;
}

TEST(Cli, HelpExplainsEveryCommand) {
  const Said said = run("taper", {"--help"});
  EXPECT_EQ(said.code, 0);
  EXPECT_TRUE(said.err.empty());
  for (const char* command : kCommands) {
    EXPECT_NE(said.out.find(command), std::string::npos);
    const Said help = run("taper", {command, "--help"});
    EXPECT_EQ(help.code, 0) << command;
    EXPECT_GT(help.out.size(), 200u) << command;
    EXPECT_TRUE(help.err.empty()) << command;
  }
}

TEST(Cli, AWrongCommandLineIsTwo) {
  expect_one_error(run("taper", {}), 2, "no command given");
  expect_one_error(run("taper", {"frobnicate"}), 2, "'frobnicate' is not a command");
  for (const char* command : kCommands) {
    expect_one_error(run("taper", {command, "--no-such-option", "x"}), 2, "no-such-option");
    expect_one_error(run("taper", {command}), 2, "no file given");
  }
  expect_one_error(run("taper", {"run", "a.pte", "--iterations", "many"}), 2, "many");
  expect_one_error(run("taper", {"run", "a.pte", "--iterations", "0"}), 2, "--iterations");
}

TEST(Cli, AMissingFileIsOneAndIsNamed) {
  for (const char* command : kCommands) {
    std::vector<std::string> arguments = {command, "/tmp/no/such/file"};
    if (std::string(command) == "export") arguments.insert(arguments.end(), {"-o", "/dev/null"});
    expect_one_error(run("taper", arguments), 1, "/tmp/no/such/file");
  }
}

TEST(Cli, RunWritesOutputsWholeWithTrueShapes) {
  const ScratchFolder scratch;
  const std::string data("\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\x80\x40", 16);  // 1, 2, 3, 4
  tools::write_file(scratch / "x.npy", tools::npy_bytes(ScalarType::kFloat, {4}, data));
  const Said said = run("taper", {"run", adds(scratch), "--inputs", scratch / "x.npy", "--outputs",
                                  scratch / "results"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(said.out, "output 0: float32 (4,) [4, 8, 12, 16]\n");
  const tools::NpyArray out = tools::read_npy(scratch / "results/out0.npy");
  EXPECT_EQ(out.shape, std::vector<int64_t>{4});
  EXPECT_EQ(out.data, std::string("\0\0\x80\x40\0\0\0\x41\0\0\x40\x41\0\0\x80\x41", 16));
}

TEST(Cli, RunWithoutInputsUsesOnesAndCountsIterations) {
  const ScratchFolder scratch;
  const Said said = run("taper", {"run", adds(scratch), "--iterations", "5"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_NE(said.out.find("[4, 4, 4, 4]"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("5 runs: min "), std::string::npos) << said.out;
  EXPECT_TRUE(said.err.empty()) << said.err;
}

#if defined(TAPER_OPTIMIZED) && defined(__linux__)
// It would hide nothing, and figures would be those of another instruction set.
TEST(Cli, AnUnknownInstructionSetIsAnError) {
  const ScratchFolder scratch;
  const std::string program = adds(scratch);
  setenv("TAPER_MAX_ISA", "avx3", 1);
  const Said wrong = run("taper", {"run", program});
  setenv("TAPER_MAX_ISA", "avx2", 1);
  const Said right = run("taper", {"run", program});
  unsetenv("TAPER_MAX_ISA");
  expect_one_error(wrong, 1, "TAPER_MAX_ISA is none of baseline, avx2, avx512 and avx512vnni");
  EXPECT_EQ(right.code, 0) << right.err;
}
#endif

TEST(Cli, BatchRunsEveryLineAndCountsFailures) {
  const ScratchFolder scratch;
  const std::string program = adds(scratch), list = scratch / "list of commands";
  tools::write_file(list, "# three commands\n\nrun \"" + program + "\" -n 1\nrun no_such.pte\n" +
                              "run\t" + program + "\nbatch -\n");
  const Said said = run("taper", {"batch", list});
  EXPECT_EQ(said.code, 1);
  const std::string result = "output 0: float32 (4,) [4, 4, 4, 4]\n";
  EXPECT_EQ(said.out, result + "line 3: exit 0\nline 4: exit 1\n" + result + "line 5: exit 0\n");
  ASSERT_EQ(said.error_lines().size(), 2u) << said.err;
  EXPECT_NE(said.error_lines()[0].find("no_such.pte"), std::string::npos);
  EXPECT_NE(said.error_lines()[1].find("cannot run another"), std::string::npos);

  tools::write_file(list, "run \"half a name\n");
  expect_one_error(run("taper", {"batch", list}), 1, "line 1: unterminated quote");
}

TEST(Cli, BadInputsLeaveNoOutputs) {
  const ScratchFolder scratch;
  const std::string program = adds(scratch);
  tools::write_file(scratch / "x.npy",
                    tools::npy_bytes(ScalarType::kFloat, {3}, std::string(12, '\0')));
  tools::write_file(scratch / "cut.npy", "\x93NUMPY");
  expect_one_error(run("taper", {"run", program, "-i", scratch / "x.npy", "-o", scratch / "out"}),
                   1, "expected float32 (4,), given float32 (3,)");
  expect_one_error(run("taper", {"run", program, "-i", scratch / "cut.npy", "-o", scratch / "out"}),
                   1, "cut.npy' is not a usable .npy file");
  expect_one_error(
      run("taper", {"run", program, "-i", (scratch / "x.npy") + "," + (scratch / "x.npy")}), 1,
      "takes 1 tensor input, given 2");
  expect_one_error(run("taper", {"run", program, "-m", "backward"}), 1, "it has forward");
  expect_one_error(run("taper", {"run", program, "-o", program}), 1, "adds.pte");
  EXPECT_EQ(scratch.files(), (std::vector<std::string>{"adds.pte", "cut.npy", "x.npy"}));
}

// A message quotes what a file says without letting it end the line or speak to the terminal.
TEST(Cli, ControlCharactersOfAFileAreWrittenAsNumbers) {
  const ScratchFolder scratch;
  const std::string header =
      "{'descr': '<f4\n\x1b[31mfine', 'fortran_order': False, 'shape': (4,)}\n";
  const std::string length = {static_cast<char>(header.size()), '\0'};
  const std::string magic("\x93NUMPY\1\0", 8);
  tools::write_file(scratch / "x.npy", magic + length + header + std::string(16, '\0'));
  expect_one_error(run("taper", {"run", adds(scratch), "-i", scratch / "x.npy"}), 1,
                   R"(dtype '<f4\x0a\x1b[31mfine' is not supported)");
}

TEST(Cli, InputsThatAreTooLargeAreToldWhatTheProgramWasPlannedFor) {
  const ScratchFolder scratch;
  const std::string model = TAPER_SOURCE_DIR "/test/models/data/dynamic_batch.pt2";
  const std::string program = scratch / "batch.pte", x = scratch / "x.npy";
  ASSERT_EQ(run("taper", {"export", model, "-o", program}).code, 0);
  tools::write_file(x, tools::npy_bytes(ScalarType::kFloat, {9, 3, 16, 16},
                                        std::string(9 * 3 * 16 * 16 * 4, '\0')));
  expect_one_error(run("taper", {"run", program, "-i", x}), 1,
                   "the program was planned for at most 8 in dimension 0");
}

TEST(Cli, VerifyAndBenchAndInspect) {
  const ScratchFolder scratch;
  const std::string program = adds(scratch);
  const Said verified = run("taper", {"verify", program});
  EXPECT_EQ(verified.code, 0) << verified.err;
  EXPECT_NE(verified.out.find("method forward"), std::string::npos);
  const std::string sixteen("\0\0\x80\x40\0\0\x80\x40\0\0\x80\x40\0\0\x80\x40",
                            16);  // Four times 4.
  tools::write_file(scratch / "y.npy", tools::npy_bytes(ScalarType::kFloat, {4}, sixteen));
  EXPECT_EQ(run("taper", {"verify", program, "--expected", scratch / "y.npy"}).code, 0);
  tools::write_file(scratch / "y.npy",
                    tools::npy_bytes(ScalarType::kFloat, {4}, std::string(16, '\0')));
  expect_one_error(run("taper", {"verify", program, "--expected", scratch / "y.npy"}), 1, "differ");

  EXPECT_EQ(run("taper", {"bench", program, "--iterations", "5", "--portable-only"}).code, 0);
  const Said timed = run("taper", {"bench", program, "--iterations", "5", "--json"});
  EXPECT_EQ(timed.code, 0) << timed.err;
  EXPECT_NE(timed.out.find("\"runs\":5"), std::string::npos);
  EXPECT_NE(timed.out.find("\"peak_resident_bytes\":"), std::string::npos);

  const Said text = run("taper", {"inspect", program});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("3  aten::add.out"), std::string::npos) << text.out;
  EXPECT_LT(text.out.find("\n  input "), text.out.find("\n  program ")) << text.out;
  const Said json = run("taper", {"inspect", program, "--json"});
  EXPECT_EQ(json.code, 0);
  EXPECT_NE(json.out.find("\"operators\":{\"aten::add.out\":3}"), std::string::npos) << json.out;
}

TEST(Cli, ProfileAndTrace) {
  const ScratchFolder scratch;
  const std::string plain = scratch / "plain.pte", told = scratch / "told.pte";
  const std::string model = TAPER_SOURCE_DIR "/test/models/data/mobilenet_v2.pt2";
  ASSERT_EQ(run("taper", {"export", model, "-o", plain, "--strip-debug"}).code, 0);
  ASSERT_EQ(run("taper", {"export", model, "-o", told, "--debug-info"}).code, 0);
  const Said both = run("taper", {"export", model, "-o", told, "--debug-info", "--strip-debug"});
  EXPECT_EQ(both.code, 2);

  const Said text =
      run("taper", {"profile", told, "--runs", "2", "--top", "0", "--by", "node,op,module,line"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_EQ(text.err, "");
  for (const char* part : {"aten::convolution.out", "features.1.parts.0", "mobilenet_v2.py:"}) {
    EXPECT_NE(text.out.find(part), std::string::npos) << part;
  }
  const Said silent = run("taper", {"profile", plain, "--runs", "2", "--csv"});
  EXPECT_NE(silent.err.find("'taper export --debug-info'"), std::string::npos);
  EXPECT_EQ(silent.out.find("mobilenet_v2.py"), std::string::npos);
  EXPECT_EQ(silent.out.substr(0, 14), "place,node,op,");
  const Said json = run("taper", {"profile", told, "--runs", "2", "--json"});
  EXPECT_NE(json.out.find("\"module\":\"features.0.1\""), std::string::npos) << json.out;
  const Said change = run("taper", {"profile", told, "--runs", "2", "--against", plain});
  EXPECT_NE(change.out.find("a run"), std::string::npos) << change.err;
  expect_one_error(run("taper", {"profile", told, "--by", "colour"}), 2, "'colour'");

  const std::string trace = scratch / "trace.json";
  const Said written = run("taper", {"trace", told, "--runs", "2", "-o", trace});
  EXPECT_EQ(written.code, 0) << written.err;
  EXPECT_NE(tools::read_file(trace).find("\"ph\":\"X\""), std::string::npos);
}

TEST(Cli, AnArchiveWithSeveralModels) {
  const std::string two = TAPER_SOURCE_DIR "/test/cli/data/two_models.pt2";
  const ScratchFolder scratch;
  const std::string pte = scratch / "m.pte";
  const Said unnamed = run("taper", {"export", two, "-o", pte});
  EXPECT_EQ(unnamed.code, 1);
  EXPECT_NE(unnamed.err.find("holds several models: 'half', 'twice'"), std::string::npos);
  EXPECT_NE(unnamed.err.find("--model"), std::string::npos) << unnamed.err;
  EXPECT_EQ(run("taper", {"export", two, "-o", pte, "--model", "third"}).code, 1);
  EXPECT_EQ(run("taper", {"export", "f=" + two, "-o", pte, "--model", "all"}).code, 2);
  EXPECT_EQ(scratch.files(), std::vector<std::string>{});
  // Inputs are ones if none are given.
  ASSERT_EQ(run("taper", {"export", two, "-o", pte, "--model", "twice"}).code, 0);
  EXPECT_NE(run("taper", {"run", pte}).out.find("[2, 2, "), std::string::npos);
  ASSERT_EQ(run("taper", {"export", two, "-o", pte, "--model", "all"}).code, 0);
  EXPECT_NE(run("taper", {"run", pte, "-m", "half"}).out.find("[0.5, 0.5, "), std::string::npos);
  EXPECT_NE(run("taper", {"run", pte, "-m", "twice"}).out.find("[2, 2, "), std::string::npos);
}

// What every command that reads a .pt2 says about such an archive, it also takes.
TEST(Cli, TheModelThatAnErrorAsksForCanBeNamed) {
  const std::string two = TAPER_SOURCE_DIR "/test/cli/data/two_models.pt2";
  const ScratchFolder scratch;
  const std::string twice = scratch / "t.pte", both = scratch / "both.pte", to = scratch / "q.pt2";
  ASSERT_EQ(run("taper", {"export", two, "-o", both, "--model", "all", "--debug-info"}).code, 0);
  for (std::vector<std::string> words :
       {std::vector<std::string>{"export", two, "-o", twice, "--debug-info"},
        {"check", two},
        {"inspect", two},
        {"view", two, "-o", scratch / "v.html"},
        {"quantize", two, "-o", to, "--float16"},
        {"compare", two, twice}}) {
    const Said unnamed = run("taper", words);
    EXPECT_EQ(unnamed.code, 1) << words[0];
    EXPECT_NE((unnamed.out + unnamed.err).find("name one with --model"), std::string::npos)
        << words[0] << unnamed.err;
    words.insert(words.end(), {"--model", "twice"});
    const Said named = run("taper", words);
    EXPECT_EQ(named.code, 0) << words[0] << ": " << named.err;
  }
  // The quantised archive holds the model that was named, and no other.
  EXPECT_NE(run("taper", {"inspect", to, "--json"}).out.find("\"models\":[\"twice\"]"),
            std::string::npos);
  ASSERT_EQ(run("taper", {"export", to, "-o", twice}).code, 0);
  EXPECT_NE(run("taper", {"run", twice}).out.find("[2, 2, "), std::string::npos);
  for (const char* several : {"all", "half,twice"}) {
    expect_one_error(run("taper", {"quantize", two, "-o", to, "--float16", "--model", several}), 2,
                     "the result holds one model");
  }
  // Of a program with a method for each model, the method says which model is meant.
  for (const char* method : {"half", "twice"}) {
    const Said said =
        run("taper", {"compare", two, both, "-m", method, "--html", scratch / "c.html"});
    EXPECT_EQ(said.code, 0) << said.err;
  }
}

TEST(Cli, ExportReplacesNeitherTheModelNorItsOwnResults) {
  const ScratchFolder scratch;
  const std::string model = scratch / "m.pt2";
  const std::string bytes = tools::read_file(TAPER_SOURCE_DIR "/demo/digits.pt2");
  tools::write_file(model, bytes);
  const std::string otherwise = scratch / "./m.pt2";
  expect_one_error(run("taper", {"export", model, "-o", otherwise}), 1, "is the model itself");
  expect_one_error(run("taper", {"export", model, "-o", scratch / "m.pte", "-w", otherwise}), 1,
                   "is the model itself");
  expect_one_error(
      run("taper", {"export", model, "-o", scratch / "m.pte", "-w", scratch / "m.pte"}), 1,
      "twice");
  EXPECT_EQ(tools::read_file(model), bytes);
  EXPECT_EQ(scratch.files(), std::vector<std::string>{"m.pt2"});
}

TEST(Cli, DamagedProgramsAreRefusedInOneLine) {
  const ScratchFolder scratch;
  const std::string good = tools::read_file(adds(scratch));
  const std::string bad = scratch / "bad.pte";
  for (const std::string& bytes :
       {std::string(), good.substr(0, 20), good.substr(0, good.size() / 2),
        std::string("XXXX") + good, std::string(1000, '\0')}) {
    tools::write_file(bad, bytes);
    for (const char* command : {"run", "inspect", "bench", "verify"}) {
      expect_one_error(run("taper", {command, bad}), 1, "bad.pte");
    }
    EXPECT_EQ(run("executor_runner", {"--model_path", bad}).code, 1);
  }
}

TEST(ExecutorRunner, SpeaksExecuTorchsFlags) {
  const ScratchFolder scratch;
  const std::string program = adds(scratch);
  const Said said =
      run("executor_runner", {"--model_path=" + program, "--num_executions=3", "--print_output=all",
                              "--print_memory", "--output_file=" + (scratch / "y")});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_NE(said.out.find("Output 0: tensor(sizes=[4], float32, [4, 4, 4, 4])"), std::string::npos)
      << said.out;
  EXPECT_NE(said.out.find("method block: "), std::string::npos);
  EXPECT_NE(said.out.find("planned buffer 1: 128 bytes"), std::string::npos) << said.out;
  EXPECT_EQ(tools::read_file(scratch / "y-0.bin").size(), 16u);
  EXPECT_EQ(run("executor_runner", {"--print_output=loud"}).code, 2);
  EXPECT_EQ(run("executor_runner", {"--no_such_flag"}).code, 2);
  const Said missing = run("executor_runner", {"--model_path", "/tmp/no/such.pte"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_NE(missing.err.find("/tmp/no/such.pte"), std::string::npos);
  tools::write_file(scratch / "x.bin", "123");
  const Said input =
      run("executor_runner", {"--model_path", program, "--inputs", scratch / "x.bin"});
  EXPECT_EQ(input.code, 1);
  EXPECT_NE(input.err.find("expected 16 bytes of float32, given 3"), std::string::npos)
      << input.err;
}

TEST(ExecutorRunner, HoldsInputsAgainstWhatTheProgramStates) {
  const ScratchFolder scratch;
  const std::string data = TAPER_SOURCE_DIR "/test/models/data/", pte = scratch / "rows.pte";
  ASSERT_EQ(run("taper", {"export", data + "dynamic_rows.pt2", "-o", pte}).code, 0);
  const auto run_on = [&](const std::string& x, const std::string& y) {
    return run("executor_runner", {"--model_path", pte, "--inputs",
                                   data + "dynamic_rows_" + x + ".in0.npy," + data +
                                       "dynamic_rows_" + y + ".in1.npy"});
  };
  const Said refused = run_on("2", "4");
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.err,
            "executor_runner: error: the program refuses its inputs: exported for y.size()[0] == "
            "x.size()[0] only\n");
  const Said good = run_on("4", "4");
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_NE(good.out.find("sizes=[4, 8]"), std::string::npos) << good.out;
}

// ExecuTorch has no kernel for conditions: its programs lack them, and the export says so.
TEST(Cli, ConditionsAreLeftOutForExecuTorch) {
  const ScratchFolder scratch;
  const std::string model = TAPER_SOURCE_DIR "/test/models/data/dynamic_rows.pt2";
  const std::string ours = scratch / "ours.pte", theirs = scratch / "theirs.pte";
  EXPECT_EQ(run("taper", {"export", model, "-o", ours}).err, "");
  const Said said = run("taper", {"export", model, "-o", theirs, "--compat=executorch"});
  EXPECT_EQ(said.code, 0);
  EXPECT_NE(said.err.find("4 conditions are left out"), std::string::npos) << said.err;
  EXPECT_NE(tools::read_file(ours).find("taper::assert"), std::string::npos);
  EXPECT_EQ(tools::read_file(theirs).find("taper::assert"), std::string::npos);
}

TEST(Cli, CallsAreLeftToPyTorchOnlyIfAsked) {
  const ScratchFolder scratch;
  const std::string folder = TAPER_SOURCE_DIR "/examples/custom_op/", pte = scratch / "m.pte";
  const auto compile = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        "export", folder + "model.pt2", "--ops", folder + "ops.txt", "-o", pte};
    words.insert(words.end(), more.begin(), more.end());
    return run("taper", words);
  };
  EXPECT_EQ(compile({"--report"}).out.find("PyTorch"), std::string::npos);
  const Said left = compile({"--kernels=aten", "--report"});
  EXPECT_EQ(left.code, 0) << left.err;
  for (const char* part : {"2 nodes need PyTorch's operators (taper run --aten): my::accumulate_, "
                           "my::shrink.out\n",
                           "2 by PyTorch's operators\n"}) {
    EXPECT_NE(left.out.find(part), std::string::npos) << part << left.out;
  }
  EXPECT_NE(run("taper", {"run", pte}).err.find("my::shrink.out"), std::string::npos);
  const Said none = run("taper", {"run", pte, "--aten=/none.so"});
  EXPECT_EQ(none.code, 1);
  EXPECT_NE(none.err.find("/none.so"), std::string::npos) << none.err;
  EXPECT_EQ(compile({"--kernels=metal"}).code, 2);
  EXPECT_EQ(compile({"--aten-library", "custom.so"}).code, 2);
  EXPECT_EQ(compile({"--kernels=aten", "--compat=executorch"}).code, 2);
}

TEST(Cli, AMemoryBudgetIsHeld) {
  const ScratchFolder scratch;
  const std::string model = TAPER_SOURCE_DIR "/demo/digits.pt2", out = scratch / "a.pte";
  EXPECT_EQ(run("taper", {"export", model, "-o", out, "--memory-budget", "64K"}).code, 0);
  const Said refused =
      run("taper", {"export", model, "-o", scratch / "b.pte", "--memory-budget", "16K"});
  EXPECT_EQ(refused.code, 1);
  for (const char* part : {"method forward needs 20480 bytes of planned buffers and ",
                           " for its block; the budget is 16384", "at its peak, instruction ",
                           "aten::convolution.out, instructions "}) {
    EXPECT_NE(refused.err.find(part), std::string::npos) << refused.err;
  }
  EXPECT_EQ(scratch.files(), std::vector<std::string>{"a.pte"});
  for (const char* size : {"", "K", "16k", "1T", "12345678901", "-1"}) {
    const std::string option = std::string("--memory-budget=") + size;
    EXPECT_EQ(run("taper", {"export", model, "-o", out, option}).code, 2) << size;
  }
}

TEST(Cli, ForExecuTorchNothingOfOurOwnIsLeft) {
  const ScratchFolder scratch;
  const std::string models = TAPER_SOURCE_DIR "/test/models/data/";
  const std::vector<std::string> lstm = {"export", models + "lstm.pt2", "-o", scratch / "m.pte",
                                         "--report"};
  EXPECT_NE(run("taper", lstm).out.find("taper::lstm.out"), std::string::npos);
  std::vector<std::string> arguments = lstm;
  arguments.emplace_back("--compat=executorch");
  const Said said = run("taper", arguments);
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(said.out.find("taper::"), std::string::npos) << said.out;
  arguments[1] = models + "statistics.pt2";
  const Said refused = run("taper", arguments);
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find("aten::sort"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("ExecuTorch's runtime has no kernel"), std::string::npos);
  arguments[1] = models + "int8_volumes.pt2";
  const Said volumes = run("taper", arguments);
  EXPECT_EQ(volumes.code, 1);
  EXPECT_NE(volumes.err.find("conv3d: aten::convolution"), std::string::npos) << volumes.err;
  EXPECT_NE(volumes.err.find("ExecuTorch's runtime has no kernel"), std::string::npos);
  EXPECT_EQ(run("taper", {"export", arguments[1], "-o", scratch / "m.pte"}).code, 0);
  arguments.back() = "--compat=onnx";
  expect_one_error(run("taper", arguments), 2, "--compat");
}

TEST(Cli, AModelBecomesSourcesForAFirmware) {
  const ScratchFolder scratch;
  const std::string folder = scratch / "model", digits = TAPER_SOURCE_DIR "/demo/digits.pt2";
  const Said said = run("taper", {"export", "--format=c", digits, "-o", folder});
  EXPECT_EQ(said.code, 0) << said.err;
  const std::string header = tools::read_file(folder + "/model.h");
  for (const char* part :
       {"// input_0: float32 (1, 1, 8, 8)\n", "#define MODEL_ARENA_BYTES 20480\n",
        "int32_t model_run(const float* input_0, float* output_0);\n"}) {
    EXPECT_NE(header.find(part), std::string::npos) << header;
  }
  for (const char* file : {"/model.cpp", "/program.cpp", "/kernels.cpp", "/sources.txt"}) {
    EXPECT_FALSE(tools::read_file(folder + file).empty());
  }
  EXPECT_NE(tools::read_file(folder + "/CMakeLists.txt")
                .find("\nkernel(ops/window/op_convolution 0x40u)\n"),
            std::string::npos);
  const std::string dynamic = TAPER_SOURCE_DIR "/test/models/data/dynamic_batch.pt2";
  expect_one_error(run("taper", {"export", "--format=c", dynamic}), 2, "needs -o FOLDER");
  expect_one_error(run("taper", {"export", "--format=d", dynamic}), 2, "'d'");
}

TEST(Cli, SourcesHoldSeveralMethodsAndSizesThatChange) {
  const ScratchFolder scratch;
  const std::string folder = scratch / "model", models = TAPER_SOURCE_DIR "/test/models/data/";
  const Said said = run("taper", {"export", "--format=c", "batch-8=" + models + "dynamic_batch.pt2",
                                  "counter=" + models + "counter.pt2", "-o", folder});
  EXPECT_EQ(said.code, 0) << said.err;
  const std::string header = tools::read_file(folder + "/model.h");
  for (const char* part :
       {"// input_0: float32 (8, 3, 16, 16) at most\n", "symbol s77 from 1 to 8\n",
        "int32_t model_batch_8_run(const float* input_0, const int32_t input_0_sizes[4], ",
        "float* output_0, int32_t output_0_sizes[2]);\n", "int32_t model_counter_reset(void);\n",
        "#define MODEL_COUNTER_INPUTS 1\n"}) {
    EXPECT_NE(header.find(part), std::string::npos) << part << "\n" << header;
  }
  // A method with state has its own memory.
  const std::string source = tools::read_file(folder + "/model.cpp");
  for (const char* part : {" buffer_1[", " buffer_1_of_counter[", "\"batch\\0558\""}) {
    EXPECT_NE(source.find(part), std::string::npos) << part << "\n" << source;
  }
  expect_one_error(run("taper", {"export", "--format=c", "a-b=" + models + "add.pt2",
                                 "a_b=" + models + "add.pt2", "-o", scratch / "other"}),
                   1, "same name in C");
  EXPECT_EQ(scratch.files(), std::vector<std::string>{"model"});
}

TEST(Cli, SourcesTakeKernelsOfTheApplication) {
  const ScratchFolder scratch;
  const std::string folder = scratch / "model", own = TAPER_SOURCE_DIR "/examples/custom_op/";
  const Said said = run(
      "taper", {"export", "--format=c", own + "model.pt2", "--ops", own + "ops.txt", "-o", folder});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_NE(tools::read_file(folder + "/model.cpp").find("model_own_kernels()"), std::string::npos);
  EXPECT_NE(tools::read_file(folder + "/model.h").find("my::shrink.out"), std::string::npos);
}

}  // namespace
}  // namespace taper::test
