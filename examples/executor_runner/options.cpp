// The command line of executor_runner; see options.h.

#include "options.h"

#include <cstdio>
#include <cstdlib>
#include <cxxopts.hpp>

namespace taper::example {
namespace {

cxxopts::Options describe() {
  cxxopts::Options o(
      "executor_runner",
      "Loads a .pte, runs one method, prints its outputs. The flags have ExecuTorch's\n"
      "names, so scripts that call its executor_runner work with this one. Of a .bpte, all\n"
      "test cases of the method run, and their outputs are compared with those expected.\n");
  o.custom_help("--model_path FILE [OPTIONS]");
  o.add_options("Model")("model_path", "The program",
                         cxxopts::value<std::string>()->default_value("model.pte"),
                         "FILE")("data_path", "The .ptd with its external weights",
                                 cxxopts::value<std::string>()->default_value(""),
                                 "FILE")("method_name", "The method to run (default: the first)",
                                         cxxopts::value<std::string>()->default_value(""), "NAME");
  o.add_options("Run")(
      "inputs",
      "One file per tensor input: the raw elements, or a .npy, which also tells the sizes of a "
      "dynamic input. Default: ones",
      cxxopts::value<std::vector<std::string>>(),
      "A,B")("num_executions", "Run N times, state carried over",
             cxxopts::value<uint64_t>()->default_value("1"),
             "N")("cpu_threads", "Threads of a backend; the portable kernels use one",
                  cxxopts::value<int>()->default_value("-1"),
                  "N")("bundleio_rtol", "Of a .bpte: by how much outputs may differ, relatively",
                       cxxopts::value<double>()->default_value("1e-5"),
                       "R")("bundleio_atol", "And by how much beside that",
                            cxxopts::value<double>()->default_value("1e-8"), "A");
  o.add_options("Output")("print_output", "none, summary (type, shape, first elements) or all",
                          cxxopts::value<std::string>()->default_value("summary"), "HOW")(
      "output_file", "Write the elements of tensor output K to PREFIX-K.bin",
      cxxopts::value<std::string>()->default_value(""),
      "PREFIX")("etdump_path", "Write when each instruction ran, for ExecuTorch's Inspector",
                cxxopts::value<std::string>()->default_value(""), "FILE")(
      "print_memory", "Print every block of memory that the method got, to the byte")(
      "h,help", "Print this text");
  return o;
}

[[noreturn]] void refuse(const std::string& problem) {
  std::fprintf(stderr, "executor_runner: error: %s\nTry 'executor_runner --help'.\n",
               problem.c_str());
  std::exit(2);
}

PrintOutput print_output(const std::string& word) {
  if (word == "none") return PrintOutput::kNone;
  if (word == "summary") return PrintOutput::kSummary;
  if (word == "all") return PrintOutput::kAll;
  refuse("--print_output must be none, summary or all, not '" + word + "'");
}

}  // namespace

Options parse_or_exit(int argc, char** argv) {
  cxxopts::Options described = describe();
  try {
    const cxxopts::ParseResult given = described.parse(argc, argv);
    if (given.count("help")) {
      std::fputs(described.help({"Model", "Run", "Output"}).c_str(), stdout);
      std::exit(0);
    }
    if (!given.unmatched().empty()) refuse("unexpected argument '" + given.unmatched()[0] + "'");
    Options options;
    options.model_path = given["model_path"].as<std::string>();
    options.data_path = given["data_path"].as<std::string>();
    options.method_name = given["method_name"].as<std::string>();
    options.output_file = given["output_file"].as<std::string>();
    options.etdump_path = given["etdump_path"].as<std::string>();
    options.rtol = given["bundleio_rtol"].as<double>();
    options.atol = given["bundleio_atol"].as<double>();
    if (!(options.rtol >= 0 && options.atol >= 0)) refuse("tolerances must not be negative");
    options.num_executions = given["num_executions"].as<uint64_t>();
    options.print_output = print_output(given["print_output"].as<std::string>());
    const int threads = given["cpu_threads"].as<int>();
    options.threads = threads > 0 ? static_cast<uint32_t>(threads) : 0;
    options.print_memory = given.count("print_memory") != 0;
    if (given.count("inputs")) options.inputs = given["inputs"].as<std::vector<std::string>>();
    return options;
  } catch (const cxxopts::exceptions::exception& error) {
    refuse(error.what());
  }
}

}  // namespace taper::example
