// The models behind the handles of taper/taper.h. A handle is a slot and how often the slot was
// used, so a handle that was closed, or never was one, is told apart without touching memory that
// is gone. A model is in use by one call at a time; a second call is turned away.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "taper/c_tables.h"
#include "taper/module.h"

namespace taper {

// An input as it was copied in.
struct HeldInput {
  bool set = false;
  ScalarType dtype = ScalarType::kFloat;
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
  std::unique_ptr<uint64_t[]> words;  // The elements; 8 bytes each for the alignment.
};

struct MethodRecord {
  std::string name;
  std::vector<HeldInput> inputs;
  bool ran = false;             // The last run succeeded, and nothing was set since.
  std::vector<EValue> outputs;  // Of that run.
};

struct Model {
  // `Source` is a path, or bytes in memory.
  template <typename Source>
  Model(const Source& source, ModuleOptions options, KernelTable table)
      : tables{table}, module(source, with_kernels(std::move(options), tables)) {}

  static ModuleOptions with_kernels(ModuleOptions options, Span<const KernelTable> tables) {
    options.kernels = tables;
    return options;
  }

  KernelTable tables[1];
  Module module;
  std::vector<std::string> method_names;
  std::vector<std::unique_ptr<MethodRecord>> methods;
};

class ModelTable {
 public:
  // Returns the handle.
  uint64_t add(std::unique_ptr<Model> model);

  enum class Found : uint8_t { kYes, kNone, kBusy };
  // Takes the model for one call. On kYes, give_back() or remove() must follow.
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

  std::mutex mutex_;
  std::vector<Slot> slots_;
};

}  // namespace taper
