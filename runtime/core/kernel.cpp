// Looking up kernels by name, matching arguments with slots, and temp memory.

#include "taper/kernel.h"

namespace taper {
namespace {

// An item of `list` that is no tensor (None or null) is allowed only if `optional`.
// A tensor of a dtype that the kernel takes.
bool fits(ArgSpec spec, const EValue& value) {
  return value.is_tensor() && (spec.complex || !is_complex(value.to_tensor().scalar_type()));
}

bool holds_tensors(const EValue& list, ArgSpec spec) {
  const bool optional = spec.kind == ArgKind::kOptionalTensorList;
  for (const EValue* item : list.list_items()) {
    const bool none = item == nullptr || item->is_none();
    if (none ? !optional : !fits(spec, *item)) return false;
  }
  return true;
}

}  // namespace

const Kernel* find_kernel(KernelTable table, std::string_view name) {
  size_t first = 0;
  size_t count = table.size();
  while (count > 0) {
    const size_t half = count / 2;
    const int order = name.compare(table[first + half]->name);
    if (order == 0) return table[first + half];
    if (order > 0) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return nullptr;
}

bool accepts(ArgSpec spec, const EValue& value) {
  const Tag tag = value.tag();
  if (tag == Tag::kNone) return spec.optional;
  switch (spec.kind) {
    case ArgKind::kTensor:
    case ArgKind::kMutableTensor:
    case ArgKind::kAliasTensor:
      return fits(spec, value);
    case ArgKind::kScalar:
    case ArgKind::kNumberOut:
      return value.is_number();
    case ArgKind::kInt:
    case ArgKind::kBool:
      return tag == Tag::kInt || tag == Tag::kBool;
    case ArgKind::kDouble:
      return value.is_number();
    case ArgKind::kString:
    case ArgKind::kMessage:
      return tag == Tag::kString;
    case ArgKind::kIntList:
      return tag == Tag::kIntList;
    case ArgKind::kDoubleList:
      return tag == Tag::kDoubleList;
    case ArgKind::kBoolList:
      return tag == Tag::kBoolList;
    case ArgKind::kTensorList:
    case ArgKind::kMutableTensorList:
    case ArgKind::kOptionalTensorList:
      return (tag == Tag::kTensorList || tag == Tag::kOptionalTensorList) &&
             holds_tensors(value, spec);
  }
  return false;
}

void* KernelContext::allocate_temp(size_t bytes) {
  constexpr uintptr_t kAlignment = 64;
  const uintptr_t base = reinterpret_cast<uintptr_t>(temp_.data());
  const uintptr_t next = (base + used_ + kAlignment - 1) / kAlignment * kAlignment;
  const size_t start = static_cast<size_t>(next - base);
  if (start > temp_.size() || bytes > temp_.size() - start) return nullptr;
  used_ = start + bytes;
  return temp_.data() + start;
}

}  // namespace taper
