// taper bundle: puts test cases and a program into one file, or takes the program out.

#include <algorithm>
#include <cstdio>

#include "tools/atomic_file.h"
#include "tools/bundle/bundle_file.h"
#include "tools/commands.h"
#include "tools/error.h"
#include "tools/npy.h"
#include "tools/options.h"
#include "tools/program_runner.h"

namespace taper::tools {
namespace {

CommandLine describe() {
  return {
      "taper bundle",
      "Puts a .pte and test cases, inputs with the outputs that are expected, into one .bpte,\n"
      "which 'taper verify', 'executor_runner' and ExecuTorch run.\n\n"
      "--inputs and --expected name one .npy per tensor; those of further cases follow them.\n"
      "A number that varies keeps its value at the sample inputs, unless each case gives all such\n"
      "numbers in their places: --inputs a.npy,5,b.npy,6.\n"
      "Without --expected, the file states what the program computes here. A .bpte keeps the\n"
      "cases that it has, so several calls can add cases for several methods.\n",
      "FILE.pte|FILE.bpte -o OUT.bpte [OPTIONS]",
      {{"Test cases",
        {{"m,method", "The method to test; default: forward, or the only one", "NAME"},
         {"i,inputs", "Tensor inputs in order, case by case", "A.npy,B.npy"},
         {"e,expected", "The tensor outputs that are expected, in order, case by case", "X.npy"},
         {"w,external-weights", "The .ptd that belongs to the program", "W.ptd"}}},
       {"Output",
        {{"o,output", "The file to write", "OUT.bpte"},
         {"extract", "Write the program of a .bpte, without its test cases"}}}}};
}

// Splits files into cases of `each` files. Throws InputError if some are left.
std::vector<std::vector<std::string>> split_cases(const std::vector<std::string>& files,
                                                  size_t each, const char* what) {
  if (each == 0 || files.size() % each != 0) {
    throw InputError("--" + std::string(what) + " names " + std::to_string(files.size()) +
                     " files; each test case has " + std::to_string(each));
  }
  std::vector<std::vector<std::string>> cases;
  for (size_t i = 0; i < files.size(); i += each) {
    cases.emplace_back(files.begin() + static_cast<std::ptrdiff_t>(i),
                       files.begin() + static_cast<std::ptrdiff_t>(i + each));
  }
  return cases;
}

size_t tensor_outputs(const MethodMeta& meta) {
  size_t count = 0;
  for (size_t i = 0; i < meta.num_outputs(); ++i) {
    count += meta.output_tag(i).value() == Tag::kTensor;
  }
  return count;
}

// Runs the program on the inputs of one case, which thereby are checked. What is not stated as
// expected is what it computes.
CasesOfMethod::Case make_case(ProgramRunner& runner, const std::vector<std::string>& inputs,
                              const std::vector<std::string>* expected) {
  CasesOfMethod::Case made;
  const std::vector<NpyArray> arrays = read_all(inputs);
  runner.set_inputs(arrays, inputs);
  runner.execute();
  for (size_t i = 0; i < arrays.size(); ++i) {
    if (!is_number(inputs[i])) made.inputs.tensors.push_back(arrays[i]);
  }
  const MethodMeta& meta = runner.meta();
  for (size_t i = 0; i < meta.num_inputs(); ++i) {
    const bool fixed = meta.input_tag(i).value() != Tag::kTensor;
    made.inputs.values.push_back(fixed ? runner.input_values()[i] : EValue());
  }
  for (size_t i = 0; i < meta.num_outputs(); ++i) {
    const bool fixed = meta.output_tag(i).value() != Tag::kTensor;
    made.expected.values.push_back(fixed ? runner.method().get_output(i).value() : EValue());
  }
  if (expected != nullptr) {
    made.expected.tensors = read_all(*expected);
    return made;
  }
  for (Output& output : runner.outputs()) {
    if (output.is_tensor) made.expected.tensors.push_back(std::move(output.array));
  }
  return made;
}

std::vector<CasesOfMethod::Case> new_cases(ProgramRunner& runner, const CommandLine& line) {
  const std::vector<std::string> inputs = line.list("inputs"), expected = line.list("expected");
  const bool has_numbers = std::any_of(inputs.begin(), inputs.end(), is_number);
  const size_t ins = tensor_inputs(runner.meta()) + (has_numbers ? runner.varying_numbers() : 0);
  const size_t outs = tensor_outputs(runner.meta());
  std::vector<std::vector<std::string>> in = {{}}, out;
  if (ins != 0 || !inputs.empty()) in = split_cases(inputs, ins, "inputs");
  if (line.given("expected")) {
    out = split_cases(expected, outs, "expected");
    if (out.size() != in.size()) {
      throw InputError("--inputs has " + std::to_string(in.size()) + " test cases, --expected " +
                       std::to_string(out.size()));
    }
  }
  std::vector<CasesOfMethod::Case> cases;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!runner.module().reset_state().ok()) throw InputError("the state cannot be reset");
    cases.push_back(make_case(runner, in[i], out.empty() ? nullptr : &out[i]));
  }
  return cases;
}

int extract(const std::string& path, const std::string& output) {
  const std::unique_ptr<BundleFile> file = BundleFile::open(path);
  if (file == nullptr) throw InputError("'" + path + "' is not a .bpte");
  const Span<const uint8_t> program = file->bundle().program();
  write_file(output, {reinterpret_cast<const char*>(program.data()), program.size()});
  std::printf("%s  %zu bytes\n", output.c_str(), program.size());
  return 0;
}

}  // namespace

int bundle_command(int argc, char** argv) {
  CommandLine line = describe();
  if (!line.parse(argc, argv)) return 0;
  const std::string path = line.file(), output = line.text("output");
  if (output.empty()) throw UsageError("-o needs the file to write");
  if (line.given("extract")) return extract(path, output);
  RunnerOptions options;
  options.path = path;
  options.data_path = line.text("external-weights");
  options.method = line.text("method");
  options.threads = 1;
  ProgramRunner runner(options);
  std::vector<CasesOfMethod> methods;
  bool added = false;
  size_t count = 0;
  for (const std::string& name : runner.module().method_names()) {
    CasesOfMethod method = {runner.module().method_meta(name).value(), {}};
    if (runner.bundle() != nullptr) method = cases_of(*runner.bundle(), method.meta);
    if (name == runner.meta().name()) {
      for (CasesOfMethod::Case& each : new_cases(runner, line)) {
        method.cases.push_back(std::move(each));
      }
      added = true;
    }
    count += method.cases.size();
    if (!method.cases.empty()) methods.push_back(std::move(method));
  }
  if (!added || count == 0) throw UsageError("--inputs needs the tensors of at least one case");
  std::string bytes;
  if (runner.bundle() == nullptr) {
    bytes = bundle_bytes(read_file(path), methods);
  } else {
    const Span<const uint8_t> program = runner.bundle()->program();
    bytes = bundle_bytes({reinterpret_cast<const char*>(program.data()), program.size()}, methods);
  }
  write_file(output, bytes);
  std::printf("%s  %zu bytes, %zu test case%s\n", output.c_str(), bytes.size(), count,
              count == 1 ? "" : "s");
  return 0;
}

}  // namespace taper::tools
