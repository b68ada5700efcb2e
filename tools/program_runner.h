// Runs one method of a .pte, or of the program in a .bpte, with its memory and inputs; shared by
// run, bench, verify and the demo.
//
//   ProgramRunner runner({"model.pte"});
//   runner.set_inputs({read_npy("a.npy")}, {"a.npy"});
//   runner.execute();
//   for (const Output& output : runner.outputs()) ...

#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exir/emit/debug_info.h"
#include "signing/signature.h"
#include "taper/event_tracer.h"
#include "taper/module.h"
#include "tools/backends.h"
#include "tools/bundle/bundle_file.h"
#include "tools/npy.h"
#include "tools/tensor_bytes.h"

namespace taper::tools {

// The kernels of this build; the last table is the portable one, which has every operator.
Span<const KernelTable> kernel_tables(bool optimized);

// What RunnerOptions::enter is told.
inline constexpr std::string_view kOpenPhase = "open the program", kLoadPhase = "load the method";

struct RunnerOptions {
  std::string path;
  std::string data_path;  // A .ptd, or empty.
  std::string method;     // Empty: "forward", or the only method.
  uint32_t threads = 0;   // 0: one per fast core, at most four.
  bool optimized = true;  // False: portable kernels only.
  // Writes files of packed weights and the like beside the program, one per backend that keeps any.
  // Without it, a file that is there is used, and rebuilt if it is unusable, but for one that holds
  // code or that another user can write; with a key, or without mapping, none is.
  bool make_cache = false;
  Profiler* profiler = nullptr;  // Receives the steps of executions; must outlive the runner.
  Numbers numbers = Numbers::kOwn;
  // Makes the pool that kernels use from that of the build. Null: they use that.
  std::function<ThreadPool(const ThreadPool&)> wrap_threads = nullptr;
  // Told of what the constructor begins, by name; an empty name ends it. May be null.
  std::function<void(std::string_view)> enter = nullptr;
  // Files of packed weights by backend, which are written as with make_cache, instead of those
  // beside the program.
  std::optional<std::map<std::string, std::string>> packed_paths = std::nullopt;
  // Gives the backends that load the program, made of those of this build. Null: these.
  std::function<BackendTable(const Backends&)> wrap_backends = nullptr;
  KernelTable aten = {};      // Kernels for operators that have none here (aten_kernels.h).
  std::string key_path = {};  // A public key, which must have signed the files; empty: any may run.
  bool map_files = true;      // False: the program and the .ptd are read into memory.
};

struct Output {
  bool is_tensor = false;
  NpyArray array;    // If it is a tensor.
  std::string text;  // Otherwise: "int 3".
};

class ProgramRunner {
 public:
  // Opens the file and loads the method. Throws an InputError that names every problem found.
  explicit ProgramRunner(const RunnerOptions& options);

  const MethodMeta& meta() const { return meta_; }
  Module& module() { return module_; }
  Method& method() { return *method_; }
  // The tables in which kernels are searched, and their threads.
  Span<const KernelTable> kernels() const { return options_.kernels; }
  const ThreadPool& pool() const { return options_.pool; }
  double open_seconds() const { return open_seconds_; }
  double load_seconds() const { return load_seconds_; }
  // A note for the user about packed weights; empty if there is none.
  const std::string& cache_note() const { return cache_note_; }
  // What to tell about devices; empty if nothing.
  std::string device_note() const { return backends_.device_notes(); }

  // Sets the tensor inputs in flattened order, or these and the numbers that vary. Other inputs
  // take the values fixed at export. `names` are used in messages. Throws an InputError that states
  // what was expected and what was given.
  void set_inputs(const std::vector<NpyArray>& arrays, const std::vector<std::string>& names);
  // Sets every tensor input to ones, at its declared sizes.
  void set_ones();
  // Sets the inputs of a test case. Throws InputError if the file has no such case.
  void set_case(size_t number);
  // The inputs of the first test case if the file has any, otherwise ones.
  void set_default_inputs();
  // Null unless the file is a .bpte.
  const BundledProgram* bundle() const { return file_ == nullptr ? nullptr : &file_->bundle(); }
  // Changes the elements of the i-th tensor input.
  // REQUIRES: set_inputs() or set_ones() was called; `row_major` has the size of that input.
  void overwrite_input(size_t i, std::string_view row_major);

  // Where the program says that the instructions of the method come from; nothing if it says
  // nothing. Throws Failure if what it says is damaged.
  exir::DebugInfo origins();

  // The tensor inputs, in order.
  const std::deque<HeldTensor>& inputs() const { return tensors_; }
  // Every input as it was set, in order.
  const std::vector<EValue>& input_values() const { return inputs_; }
  // The number of inputs that are numbers and vary.
  size_t varying_numbers() const;

  // Runs once; state persists between runs. Returns the time in seconds. `tracer` may be null.
  // Throws InputError.
  double execute(EventTracer* tracer = nullptr);
  std::vector<Output> outputs();

 private:
  void add_input(size_t i, const NpyArray* array, const std::string& where);
  EValue number_input(size_t i, const NpyArray& array, const std::string& where) const;
  [[noreturn]] void fail(const Status& status);
  [[noreturn]] void refuse_inputs(const Status& status, std::string_view condition) const;

  std::string path_;
  std::unique_ptr<BundleFile> file_;  // Null for a .pte.
  PublicKey key_;                     // Before options_, which refers to it.
  std::string cache_note_;            // Before backends_, whose initializer may set it.
  Backends backends_;
  std::vector<KernelTable> tables_;  // Before options_, which refers to them.
  ModuleOptions options_;
  Module module_;
  double open_seconds_ = 0, load_seconds_ = 0;  // Before meta_, whose initializer sets the first.
  MethodMeta meta_;
  Method* method_ = nullptr;
  std::deque<HeldTensor> tensors_;
  std::unique_ptr<BundledInputs> case_;  // Instead of tensors_, after set_case().
  std::vector<EValue> inputs_;
};

// The number of inputs that are tensors.
size_t tensor_inputs(const MethodMeta& meta);

// As ProgramRunner::origins().
exir::DebugInfo origins_in(const Program& program, std::string_view method);

// Paths of packed weights, such as "model.xnncache" for "model.pte", by backend name.
std::map<std::string, std::string> packed_paths_of(const std::string& program);

// Describes a failed load in one line that names the file.
std::string load_problem(const Module& module, const Status& status, const std::string& path);

// Formats a value that is not a tensor: "int 3", "none", "string 'a'".
std::string plain_text(const EValue& value);

}  // namespace taper::tools
