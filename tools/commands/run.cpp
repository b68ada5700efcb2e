// taper run: executes one method on .npy inputs.

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "tools/aten_kernels.h"
#include "tools/atomic_file.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/npy.h"
#include "tools/options.h"
#include "tools/program_runner.h"
#include "tools/system.h"
#include "tools/text/terminal.h"

namespace taper::tools {
namespace {

constexpr size_t kShownElements = 8;

struct RunOptions {
  RunnerOptions runner;
  std::vector<std::string> inputs;
  bool inputs_given = false;
  std::optional<uint64_t> test_case;
  std::string outputs;
  uint64_t iterations = 1;
};

CommandLine describe() {
  return {
      "taper run",
      "Runs one method of a .pte.\n\n"
      "Inputs are .npy files, one per tensor argument in flattened order. Arguments that are\n"
      "numbers, strings or None take the values fixed at export; a number that varies keeps its\n"
      "value at the sample inputs unless it is given in its place: --inputs a.npy,5. Without\n"
      "--inputs every tensor is full of ones, or of a .bpte the first test case is taken. Outputs\n"
      "are printed; with --outputs the tensors are also written as out0.npy, out1.npy, ...\n",
      "FILE.pte|FILE.bpte [OPTIONS]",
      {{"PyTorch", aten_options()},
       {"Run",
        {{"m,method", "The method to run; default: forward, or the only one", "NAME"},
         {"i,inputs", "Tensor inputs in order", "A.npy,B.npy"},
         {"case", "Take the inputs of test case N of a .bpte", "N"},
         {"o,outputs", "Write the tensor outputs to this folder", "DIR"},
         {"n,iterations", "Run N times, keeping state; print minimum and median", "N", "1"},
         {"t,threads", "Threads for kernels and backends; default: one per fast core, at most 4",
          "N"},
         {"cache",
          "Save what backends prepare (packed weights, compiled shaders) beside FILE.pte, and use "
          "it; an existing file of packed weights is used without this, too"},
         {"no-mmap",
          "Read the files into memory instead of mapping them: they may change meanwhile"},
         {"w,external-weights", "The .ptd that belongs to the program", "W.ptd"},
         {"key", "Run the files only if this public key has signed them", "KEY.pub.pem"}}}}};
}

std::string preview(const NpyArray& array) {
  const size_t count = array.data.size() / element_size(array.dtype);
  std::string text = "[";
  for (size_t i = 0; i < std::min(count, kShownElements); ++i) {
    text += (i == 0 ? "" : ", ") + element_text(array.dtype, array.data, i);
  }
  return text + (count > kShownElements ? ", ...]" : "]");
}

void print_outputs(const std::vector<Output>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Output& output = outputs[i];
    if (output.is_tensor) {
      std::printf("output %zu: %s %s %s\n", i, to_string(output.array.dtype),
                  shape_text(output.array.shape).c_str(), preview(output.array).c_str());
    } else {
      std::printf("output %zu: %s\n", i, output.text.c_str());
    }
  }
}

void write_outputs(const std::vector<Output>& outputs, const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(system::as_path(folder), error);
  if (error)
    throw InputError("cannot create folder '" + folder +
                     "': " + error.default_error_condition().message());
  OutputFiles files;
  size_t k = 0;
  for (const Output& output : outputs) {
    if (!output.is_tensor) continue;
    const NpyArray& a = output.array;
    files.add(folder + "/out" + std::to_string(k++) + ".npy", npy_bytes(a.dtype, a.shape, a.data));
  }
  files.commit();
}

int run_program(const RunOptions& options) {
  ProgramRunner runner(options.runner);
  print_note(runner.cache_note());
  print_note(runner.device_note());
  if (options.inputs_given) {
    runner.set_inputs(read_all(options.inputs), options.inputs);
  } else if (options.test_case) {
    runner.set_case(*options.test_case);
  } else {
    runner.set_default_inputs();
  }
  std::vector<double> seconds;
  {
    Progress progress("running", options.iterations);
    for (uint64_t i = 0; i < options.iterations; ++i) {
      seconds.push_back(runner.execute());
      progress.step();
    }
  }
  const std::vector<Output> outputs = runner.outputs();
  if (!options.outputs.empty()) write_outputs(outputs, options.outputs);
  print_outputs(outputs);
  if (options.iterations > 1) {
    std::sort(seconds.begin(), seconds.end());
    std::printf("%zu runs: min %s, median %s\n", seconds.size(), time_text(seconds[0]).c_str(),
                time_text(seconds[seconds.size() / 2]).c_str());
  }
  return 0;
}

}  // namespace

int run_command(int argc, char** argv) {
  CommandLine line = describe();
  if (!line.parse(argc, argv)) return 0;
  RunOptions options;
  options.runner = {line.file(), line.text("external-weights"), line.text("method")};
  if (line.given("threads")) {
    options.runner.threads = static_cast<uint32_t>(line.integer("threads", 1, 1024));
  }
  options.runner.aten = aten_kernels(aten_options_of(line));
  options.runner.key_path = line.text("key");
  options.runner.map_files = !line.given("no-mmap");
  options.runner.make_cache = line.given("cache");
  options.inputs_given = line.given("inputs");
  options.inputs = line.list("inputs");
  if (line.given("case")) options.test_case = line.integer("case", 0, UINT32_MAX);
  if (options.inputs_given && options.test_case) {
    throw UsageError("--inputs and --case exclude each other");
  }
  options.outputs = line.text("outputs");
  if (line.given("outputs") && options.outputs.empty()) {
    throw UsageError("--outputs needs a folder");
  }
  options.iterations = line.integer("iterations", 1, 100'000'000);
  return run_program(options);
}

}  // namespace taper::tools
