// taper verify: checks that a .pte can be loaded, and optionally that its outputs are correct.

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tools/commands.h"
#include "tools/compare.h"
#include "tools/error.h"
#include "tools/npy.h"
#include "tools/options.h"
#include "tools/program_runner.h"
#include "tools/text/terminal.h"

namespace taper::tools {
namespace {

CommandLine describe() {
  return {"taper verify",
          "Verifies a .pte and loads each of its methods. Damage, missing kernels, missing\n"
          "delegates and missing weights are reported by name. With --inputs and --expected one\n"
          "method is run and its tensor outputs are compared. Of a .bpte all test cases are run,\n"
          "and compared by ExecuTorch's rule: |error| <= atol + rtol * |expected|.\n",
          "FILE.pte|FILE.bpte [OPTIONS]",
          {{"Verify",
            {{"m,method", "The method to run; default: forward, or the only one", "NAME"},
             {"i,inputs", "Tensor inputs in order; default: ones", "A.npy,B.npy"},
             {"e,expected", "The expected tensor outputs, in order", "X.npy,Y.npy"},
             {"t,tolerance",
              "Largest error, relative to max(1, largest expected value); integers must be equal",
              "T", "1e-4"},
             {"rtol", "Relative tolerance of the test cases of a .bpte", "R", "1e-5"},
             {"atol", "Absolute tolerance of the test cases of a .bpte", "A", "1e-8"},
             {"w,external-weights", "The .ptd that belongs to the program", "W.ptd"},
             {"key", "Accept the files only if this public key has signed them", "KEY.pub.pem"}}}}};
}

// Compares the tensor outputs with the files; returns whether all are within the tolerance.
bool compare_outputs(ProgramRunner& runner, const std::vector<std::string>& names,
                     double tolerance) {
  std::vector<NpyArray> got;
  for (Output& output : runner.outputs()) {
    if (output.is_tensor) got.push_back(std::move(output.array));
  }
  if (got.size() != names.size()) {
    throw InputError("the method returns " + std::to_string(got.size()) + " tensors, but " +
                     std::to_string(names.size()) + " are expected");
  }
  bool all = true;
  for (size_t i = 0; i < names.size(); ++i) {
    const Comparison result = compare(got[i], read_npy(names[i]), tolerance);
    std::printf("output %zu: %s\n", i, result.text.c_str());
    all &= result.equal;
  }
  return all;
}

// Runs the test cases that the file has for the runner's method; returns whether all agree.
bool verify_cases(ProgramRunner& runner, const BundledTolerance& tolerance) {
  const std::string method(runner.meta().name());
  const size_t cases = runner.bundle()->num_cases(method);
  bool all = true;
  for (size_t i = 0; i < cases; ++i) {
    if (!runner.module().reset_state().ok()) throw InputError("the state cannot be reset");
    runner.set_case(i);
    runner.execute();
    const BundledCase test = runner.bundle()->test_case(method, i).value();
    if (test.num_outputs() > runner.method().num_outputs()) {
      throw InputError("test case " + std::to_string(i) + " expects " +
                       std::to_string(test.num_outputs()) + " outputs, the method has " +
                       std::to_string(runner.method().num_outputs()));
    }
    for (size_t k = 0; k < test.num_outputs(); ++k) {
      const BundledDifference found =
          difference(test.output(k), runner.method().get_output(k).value(), tolerance);
      std::printf("method %s, test case %zu, output %zu: %s, largest error %.3g%s%s\n",
                  method.c_str(), i, k, found.agrees ? "agrees" : "differs", found.largest,
                  found.why == nullptr ? "" : ": ", found.why == nullptr ? "" : found.why);
      all = all && found.agrees;
    }
  }
  return all;
}

// Runs all test cases of a .bpte. `line` may name one method.
void verify_bundle(const BundledProgram& bundle, const CommandLine& line) {
  const BundledTolerance tolerance = {line.number("rtol", 0, 1e300), line.number("atol", 0, 1e300)};
  bool all = true, any = false;
  for (size_t i = 0; i < bundle.num_methods(); ++i) {
    const std::string name(bundle.method_name(i));
    if (line.given("method") && name != line.text("method")) continue;
    ProgramRunner runner({line.file(), line.text("external-weights"), name});
    all = verify_cases(runner, tolerance) && all;
    any = any || bundle.num_cases(name) != 0;
  }
  if (!any) throw InputError("'" + line.file() + "' has no test cases for the method");
  if (!all) throw InputError("the outputs differ from the expected ones");
}

// The method to load: the one that is named, or the first that a .bpte tests.
std::string method_of(const CommandLine& line) {
  if (line.given("method")) return line.text("method");
  const std::unique_ptr<BundleFile> file = BundleFile::open(line.file());
  if (file == nullptr || file->bundle().num_methods() == 0) return "";
  return std::string(file->bundle().method_name(0));
}

}  // namespace

int verify_command(int argc, char** argv) {
  CommandLine line = describe();
  if (!line.parse(argc, argv)) return 0;
  const std::vector<std::string> inputs = line.list("inputs");
  const std::vector<std::string> expected = line.list("expected");
  const double tolerance = line.number("tolerance", 0, 1e300);
  RunnerOptions options = {line.file(), line.text("external-weights"), method_of(line)};
  options.key_path = line.text("key");
  ProgramRunner runner(options);
  if (line.given("key")) std::printf("signed by the owner of %s\n", line.text("key").c_str());
  for (const std::string& name : runner.module().method_names()) {
    const Status status = runner.module().load_method(name);
    if (!status.ok()) throw InputError(runner.module().last_error_text());
    const MethodMeta meta = runner.module().method_meta(name).value();
    std::printf("method %s: %zu instructions, %zu operators, %zu delegates: loads\n", name.c_str(),
                meta.num_instructions(), meta.num_operators(), meta.num_backends());
  }
  if (inputs.empty() && expected.empty()) {
    if (runner.bundle() != nullptr) verify_bundle(*runner.bundle(), line);
    return 0;
  }
  if (inputs.empty()) {
    runner.set_ones();
  } else {
    runner.set_inputs(read_all(inputs), inputs);
  }
  runner.execute();
  if (expected.empty() || compare_outputs(runner, expected, tolerance)) return 0;
  throw InputError("the outputs differ from the expected ones");
}

}  // namespace taper::tools
