#include "runtime/module/model_table.h"

namespace taper {

// A handle has the index of its slot in the low half and the slot's generation in the high half.
ModelTable::Slot* ModelTable::find(uint64_t handle) {
  const uint64_t index = handle & UINT32_MAX;
  if (index >= slots_.size()) return nullptr;
  Slot& slot = slots_[static_cast<size_t>(index)];
  return slot.model != nullptr && slot.generation == handle >> 32 ? &slot : nullptr;
}

uint64_t ModelTable::add(std::unique_ptr<Model> model) {
  const internal::Lock lock(mutex_);
  size_t index = 0;
  while (index < slots_.size() && slots_[index].model != nullptr) ++index;
  if (index == slots_.size()) slots_.emplace_back();
  Slot& slot = slots_[index];
  slot.model = std::move(model);
  return uint64_t{slot.generation} << 32 | index;
}

ModelTable::Found ModelTable::take(uint64_t handle, Model** model) {
  const internal::Lock lock(mutex_);
  Slot* slot = find(handle);
  if (slot == nullptr) return Found::kNone;
  if (slot->busy) return Found::kBusy;
  slot->busy = true;
  *model = slot->model.get();
  return Found::kYes;
}

void ModelTable::give_back(uint64_t handle) {
  const internal::Lock lock(mutex_);
  if (Slot* slot = find(handle)) slot->busy = false;
}

std::unique_ptr<Model> ModelTable::remove(uint64_t handle) {
  const internal::Lock lock(mutex_);
  Slot* slot = find(handle);
  if (slot == nullptr) return nullptr;
  slot->busy = false;
  if (++slot->generation == 0) slot->generation = 1;
  return std::move(slot->model);
}

}  // namespace taper
