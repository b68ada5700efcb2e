// EValue: tags, lists whose items are slots, and the names of tags, dtypes and error codes.

#include "taper/evalue.h"

#include <gtest/gtest.h>

#include <string_view>

namespace taper {
namespace {

TEST(EValue, RemembersWhatItHolds) {
  EXPECT_TRUE(EValue().is_none());
  EXPECT_EQ(EValue(int64_t{-7}).to_int(), -7);
  EXPECT_EQ(EValue(2.5).to_double(), 2.5);
  EXPECT_TRUE(EValue(true).to_bool());
  EXPECT_EQ(EValue("taper", 5).to_string_view(), "taper");
}

TEST(EValue, IntListReadsItsSlotsAnew) {
  EValue slots[2] = {EValue(int64_t{3}), EValue(int64_t{4})};
  EValue* items[2] = {&slots[0], &slots[1]};
  int64_t unboxed[2];
  BoxedIntList list{items, unboxed};
  const EValue value(&list, 2u);
  EXPECT_EQ(value.to_int_list()[1], 4);
  slots[1] = EValue(int64_t{9});
  EXPECT_EQ(value.to_int_list()[1], 9);
}

TEST(EValue, NoneItemsOfATensorListAreNull) {
  Tensor tensor;
  EValue slots[2] = {EValue(&tensor), EValue()};
  EValue* items[3] = {&slots[0], &slots[1], nullptr};
  Tensor* unboxed[3];
  BoxedTensorList list{items, unboxed};
  const EValue value(&list, 3u, Tag::kOptionalTensorList);
  const Span<Tensor* const> tensors = value.to_tensor_list();
  EXPECT_EQ(tensors[0], &tensor);
  EXPECT_EQ(tensors[1], nullptr);
  EXPECT_EQ(tensors[2], nullptr);
}

TEST(Names, UnknownNumbersHaveAName) {
  EXPECT_STREQ(to_string(Tag::kIntList), "IntList");
  EXPECT_STREQ(to_string(static_cast<Tag>(200)), "Unknown");
  EXPECT_STREQ(to_string(Error::kOperatorMissing), "OperatorMissing");
  EXPECT_STREQ(to_string(static_cast<Error>(999)), "Unknown");
  EXPECT_STREQ(to_string(ScalarType::kBFloat16), "bfloat16");
  EXPECT_STREQ(to_string(static_cast<ScalarType>(99)), "unknown");
}

}  // namespace
}  // namespace taper
