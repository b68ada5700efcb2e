// EValue: the names of tags, and lists whose items are slots themselves.

#include "taper/evalue.h"

namespace taper {

const char* to_string(Tag tag) {
  switch (tag) {
    case Tag::kNone:
      return "None";
    case Tag::kTensor:
      return "Tensor";
    case Tag::kString:
      return "String";
    case Tag::kDouble:
      return "Double";
    case Tag::kInt:
      return "Int";
    case Tag::kBool:
      return "Bool";
    case Tag::kBoolList:
      return "BoolList";
    case Tag::kDoubleList:
      return "DoubleList";
    case Tag::kIntList:
      return "IntList";
    case Tag::kTensorList:
      return "TensorList";
    case Tag::kOptionalTensorList:
      return "OptionalTensorList";
  }
  return "Unknown";
}

Span<const int64_t> EValue::to_int_list() const {
  int64_t* const values = as_int_list_->unboxed;
  for (uint32_t i = 0; i < count_; ++i) values[i] = as_int_list_->items[i]->to_int();
  return {values, count_};
}

Span<Tensor* const> EValue::to_tensor_list() const {
  Tensor** const tensors = as_tensor_list_->unboxed;
  for (uint32_t i = 0; i < count_; ++i) {
    const EValue* item = as_tensor_list_->items[i];
    tensors[i] = item != nullptr && item->is_tensor() ? &item->to_tensor() : nullptr;
  }
  return {tensors, count_};
}

Span<EValue* const> EValue::list_items() const {
  return {tag_ == Tag::kIntList ? as_int_list_->items : as_tensor_list_->items, count_};
}

}  // namespace taper
