// One method of a .pte with its memory and inputs: what run, bench, verify and the demo share.
//
//   ProgramRunner runner({"model.pte"});
//   runner.set_inputs({read_npy("a.npy")}, {"a.npy"});
//   runner.execute();
//   for (const Output& output : runner.outputs()) ...

#pragma once

#include <deque>
#include <string>
#include <vector>

#include "taper/module.h"
#include "tools/backends.h"
#include "tools/npy.h"
#include "tools/tensor_bytes.h"

namespace taper::tools {

// The kernels of this build; the last table is the portable one, which has every operator.
Span<const KernelTable> kernel_tables(bool optimized);

struct RunnerOptions {
  std::string path;
  std::string data_path;  // A .ptd, or empty.
  std::string method;     // Empty: "forward", or the only method there is.
  uint32_t threads = 0;   // 0: one for each fast core, four at most.
  bool optimized = true;  // False: portable kernels only.
  // Makes files of packed weights beside the program, one for each backend that packs some. One
  // that is there is used in any case, and made anew if it is of no use.
  bool make_cache = false;
};

struct Output {
  bool is_tensor = false;
  NpyArray array;    // When it is one.
  std::string text;  // When it is not: "int 3".
};

class ProgramRunner {
 public:
  // Opens the file and loads the method. Throws InputError; the text names every problem found.
  explicit ProgramRunner(const RunnerOptions& options);

  const MethodMeta& meta() const { return meta_; }
  Module& module() { return module_; }
  double open_seconds() const { return open_seconds_; }
  double load_seconds() const { return load_seconds_; }
  // What to tell about packed weights; empty if nothing.
  const std::string& cache_note() const { return cache_note_; }
  // What to tell about devices; empty if nothing.
  std::string device_note() const { return backends_.device_notes(); }

  // The tensor inputs in flattened order; inputs of other kinds take the value that export baked
  // in. `names` stand in messages. Throws InputError saying what was expected and what was given.
  void set_inputs(const std::vector<NpyArray>& arrays, const std::vector<std::string>& names);
  // Every tensor input full of ones, at its declared sizes.
  void set_ones();
  // Changes the elements of one tensor input, counted among the tensor inputs.
  // REQUIRES: set_inputs() or set_ones() was called; as many bytes as that input has.
  void overwrite_input(size_t i, std::string_view row_major);

  // Runs once; state carries over. Returns the seconds it took. Throws InputError.
  double execute();
  std::vector<Output> outputs();

 private:
  void check_input(const NpyArray& array, const TensorInfo& info, const std::string& where) const;
  // Throws InputError if sizes of different inputs contradict what the program says of them.
  void check_sizes(const std::vector<NpyArray>& arrays) const;
  void add_input(size_t i, const NpyArray* array, const std::string& where);
  [[noreturn]] void fail(const Status& status);

  std::string path_;
  Backends backends_;
  ModuleOptions options_;
  Module module_;
  double open_seconds_ = 0, load_seconds_ = 0;  // Before meta_, whose making sets the first.
  MethodMeta meta_;
  Method* method_ = nullptr;
  std::string cache_note_;
  std::deque<HeldTensor> tensors_;
  std::vector<EValue> inputs_;
};

// "model.xnncache" for "model.pte", by the names of the backends that pack ahead.
std::map<std::string, std::string> packed_paths_of(const std::string& program);

// What a failed load says, in one line that names the file.
std::string load_problem(const Module& module, const Status& status, const std::string& path);

// The text of a value that is no tensor: "int 3", "none", "string 'a'".
std::string plain_text(const EValue& value);

}  // namespace taper::tools
