// The models behind the handles of taper/taper.h. A handle names a slot and the slot's generation,
// so that a handle that was closed, or never was valid, is recognised without accessing freed
// memory. A model is used by one call at a time; a second call is refused.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/platform/mutex.h"
#include "taper/c_tables.h"
#include "taper/module.h"

namespace taper {

// An input: a copy of its elements, or where the caller keeps them; or a number.
struct HeldInput {
  bool set = false;
  EValue number;
  void* elements = nullptr;
  ScalarType dtype = ScalarType::kFloat;
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
  std::unique_ptr<uint64_t[]> words;  // The copy; 8 bytes each for the alignment.
};

struct MethodRecord {
  std::string name;
  std::vector<HeldInput> inputs;
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
