// executor_runner: the smallest complete application. It maps a .pte, gives a method exactly the
// memory that it needs, sets the inputs, executes, and prints the outputs. A starting point to
// copy; without --etdump_path and .bpte files it needs neither a recorder nor a bundle.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "backends/devices.h"
#include "inputs.h"
#include "kernels_portable/kernel_table.h"
#if TAPER_OPTIMIZED
#include "kernels_optimized/kernel_table.h"
#endif
#include "memory.h"
#include "options.h"
#include "print.h"
#include "taper/bundled_program.h"
#include "taper/etdump.h"
#include "taper/external_data.h"
#include "taper/file_data_loader.h"
#include "taper/method.h"
#include "taper/program.h"

namespace taper::example {
namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "executor_runner: error: %s\n", what.c_str());
  std::exit(1);
}

template <typename T>
T take(Result<T> result, const std::string& what) {
  if (!result.ok()) fail(what + ": " + result.status().message());
  return std::move(*result);
}

// Collects what the runtime reports, one name after the other.
void collect(void* context, const Diagnostic& diagnostic) {
  auto& text = *static_cast<std::string*>(context);
  text += (text.empty() ? "" : "; ") + std::string(diagnostic.status.message());
  if (!diagnostic.subject.empty()) text += " '" + std::string(diagnostic.subject) + "'";
}

// A text of the program, in one line.
std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line) c = static_cast<unsigned char>(c) < ' ' || c == 127 ? ' ' : c;
  return line;
}

// All backends that this program is linked with. They have to outlive the methods that use them,
// and to end before the program does: in a DLL of Windows, what is static ends after its threads.
struct Backends {
  Backends(uint32_t threads, Profiler* profiler) {
    DeviceOptions options;
    options.threads = threads;
    options.profiler = profiler;
    for (const DeviceDescriptor* each : backend_devices()) {
      devices.push_back(each->make(options));
      if (devices.back() == nullptr) throw std::bad_alloc();
      table.push_back({each->identity.delegate_id, &devices.back()->interface()});
    }
  }

  std::vector<std::unique_ptr<Device>> devices;
  std::vector<Backend> table;
};

Method load_method(const Program& program, std::string_view name, const MethodMemory& memory,
                   const ExternalData* weights, BackendTable backends, EtRecorder* recorder) {
#if TAPER_OPTIMIZED
  static const KernelTable tables[] = {optimized::optimized_kernels(),
                                       portable::portable_kernels()};
#else
  static const KernelTable tables[] = {portable::portable_kernels()};
#endif
  std::string problems;
  MethodOptions options;
  options.kernels = tables;
  options.backends = backends;
  options.external_data = weights;
  options.diagnostics = {collect, &problems};
  const uint64_t start = recorder == nullptr ? 0 : recorder->now();
  Result<Method> method = Method::load(program, name, memory.manager(), options);
  if (recorder != nullptr) recorder->add_loading(start, recorder->now());
  if (method.ok()) return std::move(*method);
  fail("cannot load method '" + std::string(name) +
       "': " + (problems.empty() ? method.status().message() : problems));
}

// Allocates memory for the outputs that the program has not planned.
void bind_outputs(Method& method, std::deque<Block>& blocks) {
  const MethodMeta meta = method.meta();
  for (size_t i = 0; i < meta.num_outputs(); ++i) {
    if (meta.output_tag(i).value() != Tag::kTensor) continue;
    const TensorInfo info = meta.output_tensor_meta(i).value();
    if (info.is_memory_planned()) continue;
    const Span<uint8_t> memory = blocks.emplace_back(info.nbytes()).span();
    const Status status = method.set_output_data(i, memory.data(), memory.size());
    // An output that is an input, or an alias of another value, needs no memory (kInvalidState).
    if (!status.ok() && status.error() != Error::kInvalidState) fail(status.message());
  }
}

[[noreturn]] void fail_run(const Method& method, const Status& status) {
  const ExecutionFailure failure = method.last_failure();
  if (!failure.message.empty()) fail(status.message() + (": " + one_line(failure.message)));
  fail((failure.op.name.empty() ? "" : std::string(failure.op.name) + ": ") + status.message());
}

// Runs once; returns how many milliseconds that took. `recorder` may be null.
double execute_once(Method& method, Span<const EValue> inputs, EtRecorder* recorder,
                    int32_t test_case = -1) {
  Status status = method.set_inputs(inputs);
  if (!status.ok()) fail(std::string("inputs: ") + status.message());
  const auto start = std::chrono::steady_clock::now();
  status = recorder == nullptr ? method.execute() : method.execute(*recorder);
  const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - start;
  if (recorder != nullptr) recorder->finish_run(method, test_case);
  if (!status.ok()) fail_run(method, status);
  return passed.count();
}

void execute(Method& method, const Inputs& inputs, uint64_t times, EtRecorder* recorder) {
  double total_ms = 0;
  for (uint64_t i = 0; i < times; ++i) total_ms += execute_once(method, inputs.values(), recorder);
  std::fprintf(stderr, "%llu executions, %.3f ms each\n", static_cast<unsigned long long>(times),
               times == 0 ? 0.0 : total_ms / static_cast<double>(times));
}

// Runs every test case of the method, and compares the outputs with those that are expected.
// Returns whether all agree.
bool execute_cases(Method& method, const std::string& name, const BundledProgram& bundle,
                   const Options& options, EtRecorder* recorder) {
  const BundledTolerance tolerance = {options.rtol, options.atol};
  bool all = true;
  for (size_t i = 0; i < bundle.num_cases(name); ++i) {
    const BundledCase test = take(bundle.test_case(name, i), name);
    const std::string title = "test case " + std::to_string(i);
    if (test.num_inputs() != method.num_inputs() || test.num_outputs() > method.num_outputs()) {
      fail(title + " has other numbers of inputs or outputs than method '" + name + "'");
    }
    // Each case begins with the state that the program was saved with.
    if (const Status reset = method.reset_state(); !reset.ok()) fail(reset.message());
    const BundledInputs inputs(test);
    execute_once(method, inputs.values(), recorder, static_cast<int32_t>(i));
    for (size_t k = 0; k < test.num_outputs(); ++k) {
      const EValue got = take(method.get_output(k), title);
      const BundledDifference found = difference(test.output(k), got, tolerance);
      std::printf("%s, output %zu: %s, largest error %.3g%s%s\n", title.c_str(), k,
                  found.agrees ? "agrees" : "DIFFERS", found.largest,
                  found.why == nullptr ? "" : ": ", found.why == nullptr ? "" : found.why);
      all = all && found.agrees;
    }
  }
  return all;
}

void write_recording(const EtRecorder& recorder, const std::string& path) {
  const std::vector<uint8_t> bytes = write_etdump(recorder.dump());
  std::FILE* const file = std::fopen(path.c_str(), "wb");
  const bool written =
      file != nullptr && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if ((file != nullptr && std::fclose(file) != 0) || !written) fail("cannot write '" + path + "'");
}

// A .pte, or the program in a .bpte with its test cases. `file` must outlive it.
struct Model {
  explicit Model(MmapDataLoader& file, const std::string& path) : loader(&file) {
    const Span<const uint8_t> bytes = take(file.load(0, file.size()), "'" + path + "'");
    if (!BundledProgram::is_bundle(bytes)) return;
    bundle.emplace(take(BundledProgram::open(bytes), "'" + path + "'"));
    loader = &inner.emplace(bundle->program().data(), bundle->program().size());
  }

  std::optional<BundledProgram> bundle;
  std::optional<BufferDataLoader> inner;
  DataLoader* loader;
};

int run(const Options& options) {
  MmapDataLoader file =
      take(MmapDataLoader::open(options.model_path.c_str()), "'" + options.model_path + "'");
  const Model model(file, options.model_path);
  std::string problems;
  Result<Program> opened = Program::open(*model.loader, {collect, &problems});
  if (!opened.ok()) {
    fail("'" + options.model_path +
         "': " + (problems.empty() ? opened.status().message() : problems));
  }
  const Program& program = *opened;
  std::optional<MmapDataLoader> data_file;
  std::optional<ExternalData> weights;
  if (!options.data_path.empty()) {
    const std::string name = "'" + options.data_path + "'";
    data_file.emplace(take(MmapDataLoader::open(options.data_path.c_str()), name));
    weights.emplace(take(ExternalData::open(*data_file), name));
  }
  const std::string name =
      options.method_name.empty() ? std::string(program.method_name(0)) : options.method_name;
  const MethodMeta meta = take(program.method_meta(name), "method '" + name + "'");
  const MethodMemory memory(meta);
  if (options.print_memory) print_memory(meta);

  Inputs inputs;
  const bool has_cases =
      model.bundle && options.inputs.empty() && model.bundle->num_cases(name) > 0;
  const std::string problem = has_cases ? "" : inputs.prepare(meta, options.inputs);
  if (!problem.empty()) fail(problem);
  std::deque<Block> output_blocks;
  std::optional<EtRecorder> recording;
  EtRecorder* const recorder = options.etdump_path.empty() ? nullptr : &recording.emplace();
  const Backends backends(options.threads, recorder);
  Method method =
      load_method(program, name, memory, weights ? &*weights : nullptr, backends.table, recorder);
  bind_outputs(method, output_blocks);
  bool agrees = true;
  if (has_cases) {
    agrees = execute_cases(method, name, *model.bundle, options, recorder);
  } else {
    execute(method, inputs, options.num_executions, recorder);
  }
  if (recorder != nullptr) write_recording(*recorder, options.etdump_path);
  if (!agrees) fail("outputs differ from those that the test cases expect");
  if (options.num_executions == 0) return 0;
  print_outputs(method, options.print_output);
  if (!write_outputs(method, options.output_file)) {
    fail("cannot write '" + options.output_file + "-0.bin' and those after it");
  }
  return 0;
}

}  // namespace
}  // namespace taper::example

int main(int argc, char** argv) {
  const taper::example::Options options = taper::example::parse_or_exit(argc, argv);
  try {
    return taper::example::run(options);
  } catch (const std::bad_alloc&) {
    taper::example::fail("out of memory");
  }
}
