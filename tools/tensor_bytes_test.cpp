// Tests row-major conversion of tensors of any dim order, and single elements as numbers.

#include "tools/tensor_bytes.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tools/error.h"

namespace taper::tools {
namespace {

TEST(TensorBytes, ChannelsLastMemoryIsReorderedBothWays) {
  const int32_t sizes[] = {1, 2, 2, 2};
  const uint8_t order[] = {0, 2, 3, 1};
  HeldTensor held(ScalarType::kChar, sizes, order, 1000);
  held.set_row_major("abcdefgh");  // Channel 0 is abcd, channel 1 efgh.
  EXPECT_EQ(std::string(held.tensor().const_data_ptr<char>(), 8), "aebfcgdh");
  EXPECT_EQ(row_major_bytes(held.tensor()), "abcdefgh");
}

TEST(TensorBytes, BoolsBecomeZeroOrOne) {
  const int32_t sizes[] = {3};
  const uint8_t order[] = {0};
  HeldTensor held(ScalarType::kBool, sizes, order, 1000);
  held.set_row_major(std::string("\0\2\1", 3));
  EXPECT_EQ(row_major_bytes(held.tensor()), std::string("\0\1\1", 3));
}

TEST(TensorBytes, OnesAreOnesInEveryType) {
  for (const ScalarType type :
       {ScalarType::kByte, ScalarType::kChar, ScalarType::kShort, ScalarType::kInt,
        ScalarType::kLong, ScalarType::kHalf, ScalarType::kFloat, ScalarType::kDouble,
        ScalarType::kBool, ScalarType::kBFloat16, ScalarType::kUInt16, ScalarType::kUInt32,
        ScalarType::kUInt64}) {
    const int32_t sizes[] = {2, 3};
    const uint8_t order[] = {0, 1};
    HeldTensor held(type, sizes, order, 1000);
    held.set_ones();
    const std::string bytes = row_major_bytes(held.tensor());
    for (size_t i = 0; i < 6; ++i) EXPECT_EQ(element_at(type, bytes, i), 1.0) << to_string(type);
  }
}

TEST(TensorBytes, ElementsAsNumbersAndText) {
  EXPECT_EQ(element_at(ScalarType::kHalf, std::string("\x00\xc0", 2), 0), -2.0);
  EXPECT_EQ(element_at(ScalarType::kHalf, std::string("\x01\x00", 2), 0), std::ldexp(1.0, -24));
  EXPECT_TRUE(std::isinf(element_at(ScalarType::kHalf, std::string("\x00\x7c", 2), 0)));
  EXPECT_TRUE(std::isnan(element_at(ScalarType::kHalf, std::string("\x01\x7c", 2), 0)));
  EXPECT_EQ(element_at(ScalarType::kBFloat16, std::string("\x40\xc0", 2), 0), -3.0);
  EXPECT_EQ(element_text(ScalarType::kLong, std::string("\xff\xff\xff\xff\xff\xff\xff\x7f", 8), 0),
            "9223372036854775807");
  EXPECT_EQ(element_text(ScalarType::kBool, "\1", 0), "True");
}

TEST(TensorBytes, RefusesMoreThanTheLimit) {
  const int32_t sizes[] = {1 << 30, 1 << 30};
  const uint8_t order[] = {0, 1};
  EXPECT_THROW(HeldTensor(ScalarType::kDouble, sizes, order, uint64_t{1} << 40), InputError);
  const int32_t empty[] = {1 << 30, 0};
  EXPECT_EQ(HeldTensor(ScalarType::kDouble, empty, order, 16).tensor().numel(), 0);
}

}  // namespace
}  // namespace taper::tools
