// taper verify: checks that a .pte can be loaded and run, and on request that its numbers are right.

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/commands.h"
#include "tools/compare.h"
#include "tools/error.h"
#include "tools/npy.h"
#include "tools/options.h"
#include "tools/program_runner.h"
#include "tools/terminal.h"

namespace taper::tools {
namespace {

cxxopts::Options describe() {
  cxxopts::Options o("taper verify",
                     "Verifies a whole .pte and loads each of its methods: damage, missing kernels,\n"
                     "missing delegates and missing weights are all named. With --inputs and\n"
                     "--expected one method runs and its tensor outputs are compared.\n");
  o.custom_help("FILE.pte [OPTIONS]");
  o.positional_help("");
  o.add_options("Verify")
      ("m,method", "The method to run (default: forward, or the only one)",
       cxxopts::value<std::string>()->default_value(""), "NAME")
      ("i,inputs", "Tensor inputs in order", cxxopts::value<std::string>()->default_value(""),
       "A.npy,B.npy")
      ("e,expected", "What the tensor outputs must be, in order",
       cxxopts::value<std::string>()->default_value(""), "X.npy,Y.npy")
      ("t,tolerance", "Largest error, times max(1, largest expected value); integers must be equal",
       cxxopts::value<double>()->default_value("1e-4"), "T")
      ("w,external-weights", "The .ptd that belongs to the program",
       cxxopts::value<std::string>()->default_value(""), "W.ptd");
  o.add_options("Other")("h,help", "Print this text");
  o.add_options("Hidden")("file", "", cxxopts::value<std::vector<std::string>>());
  o.parse_positional({"file"});
  return o;
}

std::vector<NpyArray> read_all(const std::vector<std::string>& names) {
  std::vector<NpyArray> arrays;
  for (const std::string& name : names) arrays.push_back(read_npy(name));
  return arrays;
}

// Compares the tensor outputs with the files; returns whether all are close enough.
bool compare_outputs(ProgramRunner& runner, const std::vector<std::string>& names,
                     double tolerance) {
  std::vector<NpyArray> got;
  for (Output& output : runner.outputs()) {
    if (output.is_tensor) got.push_back(std::move(output.array));
  }
  if (got.size() != names.size()) {
    throw InputError("the method gives " + std::to_string(got.size()) + " tensors, " +
                     std::to_string(names.size()) + " expected");
  }
  bool all = true;
  for (size_t i = 0; i < names.size(); ++i) {
    const Comparison result = compare(got[i], read_npy(names[i]), tolerance);
    std::printf("output %zu: %s\n", i, result.text.c_str());
    all &= result.equal;
  }
  return all;
}

}  // namespace

int verify_command(int argc, char** argv) {
  cxxopts::Options described = describe();
  const auto parsed = parse_options(described, {"Verify", "Other"}, argc, argv);
  if (!parsed) return 0;
  const cxxopts::ParseResult& given = *parsed;
  const std::vector<std::string> inputs = split_list(given["inputs"].as<std::string>());
  const std::vector<std::string> expected = split_list(given["expected"].as<std::string>());
  const double tolerance = given["tolerance"].as<double>();
  if (!(tolerance >= 0)) throw UsageError("--tolerance must be a number from 0");

  ProgramRunner runner({one_file(given, "file"), given["external-weights"].as<std::string>(),
                        given["method"].as<std::string>()});
  for (const std::string& name : runner.module().method_names()) {
    const Status status = runner.module().load_method(name);
    if (!status.ok()) throw InputError(runner.module().last_error_text());
    const MethodMeta meta = runner.module().method_meta(name).value();
    std::printf("method %s: %zu instructions, %zu operators, %zu delegates: loads\n", name.c_str(),
                meta.num_instructions(), meta.num_operators(), meta.num_backends());
  }
  if (inputs.empty() && expected.empty()) return 0;
  if (inputs.empty()) {
    runner.set_ones();
  } else {
    runner.set_inputs(read_all(inputs), inputs);
  }
  runner.execute();
  if (expected.empty() || compare_outputs(runner, expected, tolerance)) return 0;
  throw InputError("the outputs differ from what is expected");
}

}  // namespace taper::tools
