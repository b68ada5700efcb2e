// Module: the convenient way in. A path goes in, tensors go in, tensors come out.
//
//   static const KernelTable tables[] = {portable::portable_kernels()};
//   ModuleOptions options;
//   options.kernels = tables;
//   Module module("model.pte", options);
//   OwnedTensor image(ScalarType::kFloat, {1, 3, 224, 224});
//   Result<std::vector<EValue>> outputs = module.forward({EValue(image.tensor())});
//   if (!outputs.ok()) puts(module.last_error_text().c_str());
//
// It owns the file, the memory and the methods, and uses the heap while loading. It throws nothing.
// One thread at a time.

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

// Memory of the application's own for methods, each part where it wants it. `id` is 0 for a
// method's block, else the number of a planned buffer: 1 is the first of `taper export --memory`.
struct MemorySource {
  // `bytes` of memory aligned to 16, for this part alone; null if there is none.
  void* (*take)(void* context, uint32_t id, size_t bytes) = nullptr;
  // It is needed no more. May be null.
  void (*give_back)(void* context, uint32_t id, void* memory, size_t bytes) = nullptr;
  void* context = nullptr;
};

struct ModuleOptions {
  // Tables and backends must outlive the Module; the spans' own memory too.
  Span<const KernelTable> kernels = {};
  BackendTable backends = {};
  // A .ptd with the program's external weights; empty if it has none.
  std::string data_path = {};
  LoadMode load_mode = LoadMode::kMmap;
  // Scratch for kernels, shared by all methods.
  size_t temp_bytes = size_t{1} << 20;
  // Loading fails with kMemoryAllocationFailed rather than take more than this in one method.
  uint64_t max_memory_bytes = UINT64_MAX;
  // Methods share planned buffer 2, where mutable state lies when a program was made so. All
  // methods are then loaded together.
  bool share_mutable_buffers = false;
  // Passed on to each Method.
  uint64_t max_instructions = 10'000'000;
  // Threads for kernels. Each uses temp memory of its own: give temp_bytes for every thread.
  ThreadPool pool = {};
  // Without one memory comes from the heap.
  MemorySource memory = {};
};

// A tensor with its sizes, and its data unless the caller's is used. Contiguous; zero at first.
// Neither copied nor moved, so that the address given to an EValue stays true.
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
  // Reads nothing yet.
  explicit Module(std::string path, ModuleOptions options = {});
  // Serves a program that is already in memory, aligned to 16. `bytes` must outlive the Module.
  explicit Module(Span<const uint8_t> bytes, ModuleOptions options = {});
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // Opens and verifies the file (and the .ptd). Every call below does it when needed.
  Status load();
  // Null before load().
  const Program* program() const;
  // Empty if the file cannot be loaded.
  std::vector<std::string> method_names();
  Result<MethodMeta> method_meta(std::string_view name);

  // Allocates exactly the memory that the method needs and loads it; does nothing if it is loaded.
  Status load_method(std::string_view name);
  bool is_method_loaded(std::string_view name) const;
  void unload_method(std::string_view name);
  // Null unless loaded.
  Method* method(std::string_view name);

  // Sets the inputs, runs, and returns the outputs in flattened order. As to memory, see
  // Method::set_input() and Method::get_output(). Inputs may be fewer than the method's when those
  // left out are no tensors: if `inputs` are as many as the method's tensor inputs, the baked-in
  // values are filled in.
  Result<std::vector<EValue>> execute(std::string_view method, Span<const EValue> inputs);
  Result<std::vector<EValue>> execute(std::string_view method,
                                      std::initializer_list<EValue> inputs) {
    return execute(method, Span<const EValue>(inputs.begin(), inputs.size()));
  }
  Result<std::vector<EValue>> forward(Span<const EValue> inputs) {
    return execute("forward", inputs);
  }
  Result<std::vector<EValue>> forward(std::initializer_list<EValue> inputs) {
    return execute("forward", inputs);
  }

  // Zeroes the planned buffers of all loaded methods and sets mutable buffers to their saved
  // values.
  Status reset_state();

  // What went wrong last, with the names: one line per problem, no newline at the end.
  const std::string& last_error_text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace taper
