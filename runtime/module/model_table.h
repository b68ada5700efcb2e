// The models behind the handles of taper/taper.h. A handle names a slot and the slot's generation,
// so that a handle that was closed, or never was valid, is recognised without accessing freed
// memory. A model is used by one call at a time; a second call is refused.

#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/platform/mutex.h"
#include "taper/c_tables.h"
#include "taper/module.h"

namespace taper {

// A tensor of a copy of the elements, or where the caller keeps them.
struct BoundTensor {
  BoundTensor(const TensorInfo& info, const int32_t* given_sizes, void* elements) {
    const size_t rank = info.sizes().size();
    std::copy_n(given_sizes, rank, sizes);
    std::copy_n(info.dim_order().data(), rank, dim_order);
    tensor = Tensor(info.scalar_type(), rank, sizes, dim_order, strides, elements);
  }
  BoundTensor(const BoundTensor&) = delete;
  BoundTensor& operator=(const BoundTensor&) = delete;

  int32_t sizes[kMaxRank] = {};
  uint8_t dim_order[kMaxRank] = {};
  int32_t strides[kMaxRank] = {};
  std::unique_ptr<uint64_t[]> words;  // The copy; 8 bytes each for the alignment.
  Tensor tensor;
};

// An input: a tensor, or a number.
struct HeldInput {
  bool set = false;
  EValue number;
  std::unique_ptr<BoundTensor> bound;
};

struct MethodRecord {
  std::string name;
  std::vector<HeldInput> inputs;
  std::vector<EValue> values;   // The inputs as a run takes them.
  bool ran = false;             // The last run succeeded, and no input was set since.
  std::vector<EValue> outputs;  // The outputs of that run.
};

struct Model {
  // `Source` is a path, or bytes in memory.
  template <typename Source>
  Model(const Source& source, ModuleOptions options, KernelTable table, std::vector<Backend> given)
      : tables{table},
        backends(std::move(given)),
        module(source, with_tables(std::move(options), tables, backends)) {}

  static ModuleOptions with_tables(ModuleOptions options, Span<const KernelTable> kernels,
                                   BackendTable backends) {
    options.kernels = kernels;
    options.backends = backends;
    return options;
  }

  KernelTable tables[1];
  std::vector<Backend> backends;
  Module module;
  std::vector<std::string> method_names;
  std::vector<std::unique_ptr<MethodRecord>> methods;
};

class ModelTable {
 public:
  // Adds a model and returns its handle.
  uint64_t add(std::unique_ptr<Model> model);

  enum class Found : uint8_t { kYes, kNone, kBusy };
  // Takes the model for one call. If it returns kYes, give_back() or remove() must follow.
  Found take(uint64_t handle, Model** model);
  void give_back(uint64_t handle);
  std::unique_ptr<Model> remove(uint64_t handle);

 private:
  struct Slot {
    std::unique_ptr<Model> model;
    uint32_t generation = 1;
    bool busy = false;
  };
  Slot* find(uint64_t handle);

  internal::Mutex mutex_;
  std::vector<Slot> slots_;
};

}  // namespace taper
