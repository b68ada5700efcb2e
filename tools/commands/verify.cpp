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
#include "tools/terminal.h"

namespace taper::tools {
namespace {

CommandLine describe() {
  return {"taper verify",
          "Verifies a .pte and loads each of its methods. Damage, missing kernels, missing\n"
          "delegates and missing weights are reported by name. With --inputs and --expected one\n"
          "method is run and its tensor outputs are compared.\n",
          "FILE.pte [OPTIONS]",
          {{"Verify",
            {{"m,method", "The method to run; default: forward, or the only one", "NAME"},
             {"i,inputs", "Tensor inputs in order; default: ones", "A.npy,B.npy"},
             {"e,expected", "The expected tensor outputs, in order", "X.npy,Y.npy"},
             {"t,tolerance",
              "Largest error, relative to max(1, largest expected value); integers must be equal",
              "T", "1e-4"},
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

}  // namespace

int verify_command(int argc, char** argv) {
  CommandLine line = describe();
  if (!line.parse(argc, argv)) return 0;
  const std::vector<std::string> inputs = line.list("inputs");
  const std::vector<std::string> expected = line.list("expected");
  const double tolerance = line.number("tolerance", 0, 1e300);
  RunnerOptions options = {line.file(), line.text("external-weights"), line.text("method")};
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
  if (inputs.empty() && expected.empty()) return 0;
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
