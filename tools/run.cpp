// taper run: executes one method on .npy inputs.

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "tools/atomic_file.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/npy.h"
#include "tools/options.h"
#include "tools/program_runner.h"
#include "tools/terminal.h"

namespace taper::tools {
namespace {

constexpr size_t kShownElements = 8;

struct RunOptions {
  RunnerOptions runner;
  std::vector<std::string> inputs;
  bool inputs_given = false;
  std::string outputs;
  uint64_t iterations = 1;
};

cxxopts::Options describe() {
  cxxopts::Options o("taper run",
                     "Runs one method of a .pte.\n\n"
                     "Inputs are .npy files, one per tensor argument in flattened order; numbers,\n"
                     "strings and None among the arguments were baked in by export and are filled\n"
                     "in. Without --inputs every tensor is full of ones. Outputs are printed; with\n"
                     "--outputs the tensors are also written as out0.npy, out1.npy, ...\n");
  o.custom_help("FILE.pte [OPTIONS]");
  o.positional_help("");
  o.add_options("Run")
      ("m,method", "The method to run (default: forward, or the only one)",
       cxxopts::value<std::string>()->default_value(""), "NAME")
      ("i,inputs", "Tensor inputs in order", cxxopts::value<std::vector<std::string>>(),
       "A.npy,B.npy")
      ("o,outputs", "Write the tensor outputs here", cxxopts::value<std::string>(), "DIR")
      ("n,iterations", "Run N times, state carried over, and print min and median",
       cxxopts::value<uint64_t>()->default_value("1"), "N")
      ("w,external-weights", "The .ptd that belongs to the program",
       cxxopts::value<std::string>()->default_value(""), "W.ptd");
  o.add_options("Other")("h,help", "Print this text");
  o.add_options("Hidden")("file", "", cxxopts::value<std::vector<std::string>>());
  o.parse_positional({"file"});
  return o;
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
  std::filesystem::create_directories(folder, error);
  if (error) throw InputError("cannot make folder '" + folder + "': " + error.message());
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
  if (options.inputs_given) {
    std::vector<NpyArray> arrays;
    for (const std::string& path : options.inputs) arrays.push_back(read_npy(path));
    runner.set_inputs(arrays, options.inputs);
  } else {
    runner.set_ones();
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
  cxxopts::Options described = describe();
  const auto given = parse_options(described, {"Run", "Other"}, argc, argv);
  if (!given) return 0;
  RunOptions options;
  options.runner = {one_file(*given, "file"), (*given)["external-weights"].as<std::string>(),
                    (*given)["method"].as<std::string>()};
  options.inputs_given = given->count("inputs") != 0;
  if (options.inputs_given) {
    for (const std::string& list : (*given)["inputs"].as<std::vector<std::string>>()) {
      for (const std::string& path : split_list(list)) options.inputs.push_back(path);
    }
  }
  if (given->count("outputs")) {
    options.outputs = (*given)["outputs"].as<std::string>();
    if (options.outputs.empty()) throw UsageError("--outputs needs a folder");
  }
  options.iterations = (*given)["iterations"].as<uint64_t>();
  if (options.iterations == 0 || options.iterations > 100'000'000) {
    throw UsageError("--iterations must be between 1 and 100000000");
  }
  return run_program(options);
}

}  // namespace taper::tools
