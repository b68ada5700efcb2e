// Makes slots for arguments and results from the text of a case.

#include "test/support/case_slots.h"

#include <gtest/gtest.h>

#include "test/support/case_values.h"

namespace taper::test {

CaseSlots::CaseSlots(const OpCase& c, CaseOutputs outputs) : outputs_(outputs) {
  for (const CaseValue& arg : c.args) slots.push_back(make(arg, false));
  for (const CaseValue& result : c.results) slots.push_back(make(result, true));
}

Tensor* CaseSlots::make_tensor(const CaseTensor& text, bool output) {
  std::vector<int32_t> sizes = text.sizes;
  const bool dynamic = output && outputs_ == CaseOutputs::kLarger;
  if (dynamic) {
    for (int32_t& size : sizes) ++size;
  }
  TestTensor& owner =
      owners_.emplace_back(text.type, sizes, text.dim_order,
                           dynamic ? ShapeDynamism::kDynamicBound : ShapeDynamism::kStatic);
  if (!output) {
    EXPECT_EQ(text.values.size(), value_count(text)) << "number of values of an argument";
    fill(text, *owner);
  }
  tensors.push_back(&*owner);
  return tensors.back();
}

EValue* CaseSlots::make_list(const CaseValue& text, bool output) {
  BoxedTensorList list = {};
  const size_t count = text.tensors.size();
  list.items = pointers_.emplace_back(count).data();
  list.unboxed = tensor_scratch_.emplace_back(count).data();
  for (size_t i = 0; i < count; ++i) {
    list.items[i] = text.present[i] ? &values_.emplace_back(make_tensor(text.tensors[i], output))
                                    : &values_.emplace_back();
  }
  tensor_lists_.push_back(list);
  return &values_.emplace_back(&tensor_lists_.back(), static_cast<uint32_t>(count), text.tag);
}

EValue* CaseSlots::make_ints(const CaseValue& text) {
  const size_t count = text.words.size();
  BoxedIntList list = {pointers_.emplace_back(count).data(), ints_.emplace_back(count).data()};
  for (size_t i = 0; i < count; ++i) {
    list.items[i] = &values_.emplace_back(parse_int(text.words[i]));
  }
  int_lists_.push_back(list);
  return &values_.emplace_back(&int_lists_.back(), static_cast<uint32_t>(count));
}

EValue* CaseSlots::make(const CaseValue& text, bool output) {
  const uint32_t count = static_cast<uint32_t>(text.words.size());
  const std::string word = count ? text.words[0] : "";
  switch (text.tag) {
    case Tag::kTensor:
      return &values_.emplace_back(make_tensor(text.tensors[0], output));
    case Tag::kTensorList:
    case Tag::kOptionalTensorList:
      return make_list(text, output);
    case Tag::kIntList:
      return make_ints(text);
    case Tag::kInt:
      return &values_.emplace_back(output ? int64_t{77} : parse_int(word));
    case Tag::kDouble:
      return &values_.emplace_back(output ? 77.0 : parse_double(word));
    case Tag::kBool:
      return &values_.emplace_back((word == "true") != output);
    case Tag::kString: {
      const std::string& kept = strings_.emplace_back(word);
      return &values_.emplace_back(kept.data(), static_cast<uint32_t>(kept.size()));
    }
    case Tag::kDoubleList: {
      std::vector<double>& items = doubles_.emplace_back();
      for (const std::string& item : text.words) items.push_back(parse_double(item));
      return &values_.emplace_back(items.data(), count);
    }
    case Tag::kBoolList: {
      auto& items = bools_.emplace_back(new bool[count + 1]);
      for (size_t i = 0; i < count; ++i) items[i] = text.words[i] == "true";
      return &values_.emplace_back(items.get(), count);
    }
    case Tag::kNone:
      break;
  }
  return &values_.emplace_back();
}

}  // namespace taper::test
