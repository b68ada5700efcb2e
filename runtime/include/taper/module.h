// Module: the convenient API. It takes a path and input tensors and returns output tensors.
//
//   static const KernelTable tables[] = {portable::portable_kernels()};
//   ModuleOptions options;
//   options.kernels = tables;
//   Module module("model.pte", options);
//   OwnedTensor image(ScalarType::kFloat, {1, 3, 224, 224});
//   Result<std::vector<EValue>> outputs = module.forward({EValue(image.tensor())});
//   if (!outputs.ok()) puts(module.last_error_text().c_str());
//
// It owns the file, the memory and the methods, and uses the heap while loading. It never throws:
// a lack of memory is kMemoryAllocationFailed, unless it was built with TAPER_EXCEPTIONS=OFF, when
// the C++ library ends the process. A Module is used by one thread at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "taper/backend.h"
#include "taper/evalue.h"
#include "taper/kernel.h"
#include "taper/method.h"
#include "taper/method_meta.h"
#include "taper/program.h"
#include "taper/span.h"
#include "taper/status.h"
#include "taper/tensor.h"

namespace taper {

enum class LoadMode : uint8_t { kMmap, kFile };

// Memory that the application provides for methods, for each part separately. `id` is 0 for a
// method's block, otherwise the number of a planned buffer: 1 is the first of `taper export
// --memory`.
struct MemorySource {
  // Returns `bytes` bytes of memory aligned to 16, for this part alone; null if there is none.
  void* (*take)(void* context, uint32_t id, size_t bytes) = nullptr;
  // Called when the memory is no longer needed. May be null.
  void (*give_back)(void* context, uint32_t id, void* memory, size_t bytes) = nullptr;
  void* context = nullptr;
};

// Decides whether a file may be used, from all its bytes, before anything else is done with them:
// whether it is signed by the right author, for example (signing/signature.h).
struct FileCheck {
  // The message of an error is reported with the file's name. Null: every file may be used.
  Status (*check)(void* context, Span<const uint8_t> file) = nullptr;
  void* context = nullptr;
};

struct ModuleOptions {
  // Tables and backends, and the memory of these spans, must outlive the Module.
  Span<const KernelTable> kernels = {};
  BackendTable backends = {};
  // A .ptd with the program's external weights; empty if it has none.
  std::string data_path = {};
  // The same in memory, aligned to 16; it must outlive the Module. Goes before `data_path`.
  Span<const uint8_t> data = {};
  LoadMode load_mode = LoadMode::kMmap;
  // Applies to the program and to the .ptd. With a check, files are read into the heap instead of
  // being mapped, so that nobody can change what was checked.
  FileCheck check = {};
  // Scratch memory for kernels, shared by all methods.
  size_t temp_bytes = size_t{1} << 20;
  // Loading fails with kMemoryAllocationFailed if one method needs more than this.
  uint64_t max_memory_bytes = UINT64_MAX;
  // Methods share planned buffer 2, in which the compiler can place mutable state. All methods of a
  // program with such a buffer are loaded together.
  bool share_mutable_buffers = false;
  // MethodOptions::max_instructions of each Method.
  uint64_t max_instructions = 10'000'000;
  // Threads for kernels. Each uses temp memory of its own, so multiply temp_bytes by their number.
  ThreadPool pool = {};
  // By default memory comes from the heap.
  MemorySource memory = {};
};

// A contiguous tensor that owns its sizes and, unless `data` is given, its data, which is zero at
// first, and null if there is not enough memory. It can be neither copied nor moved, so that its
// address in an EValue stays valid.
class OwnedTensor {
 public:
  // REQUIRES: at most kMaxRank sizes, none negative, and their product fits.
  OwnedTensor(ScalarType type, Span<const int32_t> sizes, void* data = nullptr);
  OwnedTensor(ScalarType type, std::initializer_list<int32_t> sizes, void* data = nullptr)
      : OwnedTensor(type, Span<const int32_t>(sizes.begin(), sizes.size()), data) {}
  OwnedTensor(const OwnedTensor&) = delete;
  OwnedTensor& operator=(const OwnedTensor&) = delete;

  Tensor* tensor() { return &tensor_; }
  void* data() { return tensor_.mutable_data(); }
  template <typename T>
  T* data_as() {
    return tensor_.mutable_data_ptr<T>();
  }

 private:
  int32_t sizes_[kMaxRank];
  uint8_t dim_order_[kMaxRank];
  int32_t strides_[kMaxRank];
  std::unique_ptr<uint64_t[]> memory_;
  Tensor tensor_;
};

class Module {
 public:
  // The file is not read before load().
  explicit Module(std::string path, ModuleOptions options = {});
  // Serves a program that is already in memory, aligned to 16. `bytes` must outlive the Module.
  explicit Module(Span<const uint8_t> bytes, ModuleOptions options = {});
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Opens and verifies the file (and the .ptd). The calls below do it if it is not done yet.
  Status load();
  // Null before load().
  const Program* program() const;
  // Empty if the file cannot be loaded, or without enough memory.
  std::vector<std::string> method_names();
  Result<MethodMeta> method_meta(std::string_view name);

  // Allocates exactly the memory that the method needs and loads it. A no-op if it is loaded.
  Status load_method(std::string_view name);
  bool is_method_loaded(std::string_view name) const;
  void unload_method(std::string_view name);
  // Null unless loaded.
  Method* method(std::string_view name);

  // Sets the inputs, runs, and returns the outputs in flattened order. On the lifetime of their
  // memory see Method::set_input() and Method::get_output(). `inputs` has either all inputs of the
  // method or only its tensors; the values that export fixed are then filled in.
  Result<std::vector<EValue>> execute(std::string_view method, Span<const EValue> inputs);
  Result<std::vector<EValue>> execute(std::string_view method,
                                      std::initializer_list<EValue> inputs) {
    return execute(method, Span<const EValue>(inputs.begin(), inputs.size()));
  }
  // The same, with the outputs in `outputs`. Where these have been those of an execution before,
  // nothing is taken from the heap but by a backend (taper/method.h).
  Status execute(std::string_view method, Span<const EValue> inputs, std::vector<EValue>* outputs);
  // The same, but tells `tracer` of each instruction (taper/event_tracer.h).
  Result<std::vector<EValue>> execute(std::string_view method, Span<const EValue> inputs,
                                      EventTracer& tracer);

  // Binds an output that the program leaves to the application (`taper export --io=application`) to
  // `bytes` bytes at `data`, into which the runs that follow write it. An output that is bound to
  // nothing, or to null, gets memory from the heap. Loads the method. Returns what
  // Method::set_output_data() returns.
  Status set_output_data(std::string_view method, size_t i, void* data, size_t bytes);
  Result<std::vector<EValue>> forward(Span<const EValue> inputs) {
    return execute("forward", inputs);
  }
  Result<std::vector<EValue>> forward(std::initializer_list<EValue> inputs) {
    return execute("forward", inputs);
  }

  // Zeroes the planned buffers of all loaded methods and sets mutable buffers to their saved
  // values.
  Status reset_state();

  // The last error with the names involved: one line per problem, without a newline at the end.
  const std::string& last_error_text() const;

 private:
  struct State;

  // Executes the method by `run`, which is given `context`.
  Status execute_by(std::string_view method, Span<const EValue> inputs,
                    Status (*run)(Method& method, void* context), void* context,
                    std::vector<EValue>* outputs);

  std::unique_ptr<State> state_;
};

}  // namespace taper
