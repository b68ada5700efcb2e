// Mutations of the fields of a program's tables.

#include <cstring>
#include <vector>

#include "schema/program_generated.h"
#include "test/fuzz/backend_hooks.h"
#include "test/fuzz/mutate.h"

namespace taper::fuzz {
namespace {

// Collects the positions of a program's integers: table fields, vtable entries, offsets, and vector
// lengths and items. The file must be a valid program.
class Fields {
 public:
  explicit Fields(const std::string& file) : base_(file.data()), size_(file.size()) {
    flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(base_), size_, 64, 1 << 24);
    // The header's size of the FlatBuffer is ignored, since offsets only point forward.
    if (size_ < 16 || !wire::VerifyProgramBuffer(verifier)) return;
    program(*wire::GetProgram(base_));
    for (size_t at = 0; at + 8 <= 40 && at < size_; at += 4) positions_.push_back(at);
  }

  const std::vector<size_t>& positions() const { return positions_; }

 private:
  void add(const void* address) {
    positions_.push_back(static_cast<size_t>(static_cast<const char*>(address) - base_));
  }

  void table(const void* address) {
    const auto* bytes = static_cast<const char*>(address);
    if (bytes < base_ || bytes + 4 > base_ + size_) return;
    add(bytes);
    int32_t back;
    std::memcpy(&back, bytes, 4);
    // A union of a type that is not known has not been verified.
    const int64_t start = bytes - base_ - int64_t{back};
    if (start < 0 || static_cast<size_t>(start) + 2 > size_) return;
    const char* vtable = base_ + start;
    uint16_t length;
    std::memcpy(&length, vtable, 2);
    add(vtable);
    if (static_cast<size_t>(start) + length > size_) return;
    for (size_t at = 4; at + 2 <= length; at += 2) {
      uint16_t entry;
      std::memcpy(&entry, vtable + at, 2);
      add(vtable + at);
      if (entry != 0) add(bytes + entry);
    }
  }

  template <typename T>
  void items(const flatbuffers::Vector<T>* vector) {
    if (vector == nullptr) return;
    add(vector);
    for (size_t i = 0; i < vector->size() * sizeof(T) && i < 256; i += sizeof(T)) {
      add(vector->Data() + i);
    }
  }

  template <typename T, typename Visit>
  void tables(const flatbuffers::Vector<flatbuffers::Offset<T>>* vector, Visit visit) {
    if (vector == nullptr) return;
    add(vector);
    for (const T* item : *vector) {
      table(item);
      visit(*item);
    }
  }

  void value(const wire::EValue& slot) {
    if (slot.val() == nullptr) return;
    table(slot.val());
    if (const auto* tensor = slot.val_as_Tensor()) {
      items(tensor->sizes());
      items(tensor->dim_order());
      if (tensor->allocation_info() != nullptr) table(tensor->allocation_info());
      if (tensor->extra_tensor_info() != nullptr) table(tensor->extra_tensor_info());
    } else if (const auto* ints = slot.val_as_IntList()) {
      items(ints->items());
    } else if (const auto* list = slot.val_as_TensorList()) {
      items(list->items());
    } else if (const auto* optional = slot.val_as_OptionalTensorList()) {
      items(optional->items());
    }
  }

  void instruction(const wire::Instruction& instruction) {
    if (instruction.instr_args() == nullptr) return;
    table(instruction.instr_args());
    if (const auto* call = instruction.instr_args_as_KernelCall()) items(call->args());
    if (const auto* call = instruction.instr_args_as_DelegateCall()) items(call->args());
  }

  void plan(const wire::ExecutionPlan& plan) {
    tables(plan.values(), [&](const wire::EValue& slot) { value(slot); });
    items(plan.inputs());
    items(plan.outputs());
    tables(plan.chains(), [&](const wire::Chain& chain) {
      tables(chain.instructions(), [&](const wire::Instruction& i) { instruction(i); });
    });
    tables(plan.operators(), [&](const wire::Operator& op) {
      if (op.name() != nullptr) add(op.name());
    });
    tables(plan.delegates(), [&](const wire::BackendDelegate& delegate) {
      if (delegate.processed() != nullptr) table(delegate.processed());
    });
    items(plan.non_const_buffer_sizes());
  }

  void program(const wire::Program& program) {
    table(&program);
    tables(program.execution_plan(), [&](const wire::ExecutionPlan& p) { plan(p); });
    tables(program.backend_delegate_data(), [](const auto&) {});
    tables(program.segments(), [](const auto&) {});
    if (program.constant_segment() != nullptr) {
      table(program.constant_segment());
      items(program.constant_segment()->offsets());
    }
    tables(program.mutable_data_segments(),
           [&](const wire::SubsegmentOffsets& offsets) { items(offsets.offsets()); });
    tables(program.named_data(), [](const auto&) {});
  }

  const char* base_;
  size_t size_;
  std::vector<size_t> positions_;
};

template <typename T>
T load(const std::string& file, size_t at) {
  T value{};
  if (at + sizeof(T) <= file.size()) std::memcpy(&value, &file[at], sizeof(T));
  return value;
}

void edit_field(std::string& file, const std::vector<size_t>& positions, Random& random) {
  const size_t at = positions[random.below(positions.size())];
  constexpr size_t kWidths[] = {1, 2, 4, 4, 4, 8};
  const size_t width = kWidths[random.below(6)];
  if (at + width > file.size()) return;
  uint64_t value = awkward_integer(random);
  switch (random.below(4)) {
    case 0:  // Off by one: another slot, another type.
      value = load<uint32_t>(file, at) + (random.one_in(2) ? 1 : -1);
      break;
    case 1:  // The value of another field.
      value = load<uint64_t>(file, positions[random.below(positions.size())]);
      break;
    default:
      break;
  }
  std::memcpy(&file[at], &value, width);
}

}  // namespace

std::string mutate_pte(std::string file, Random& random) {
  for (const BackendHooks* hooks : backend_hooks()) {
    if (random.one_in(2) && hooks->mutate(file, random)) return file;
  }
  const Fields fields(file);
  if (fields.positions().empty() || random.one_in(4)) return mutate_bytes(std::move(file), random);
  const size_t edits = 1 + random.below(random.one_in(4) ? 8 : 2);
  for (size_t i = 0; i < edits; ++i) edit_field(file, fields.positions(), random);
  return file;
}

}  // namespace taper::fuzz
