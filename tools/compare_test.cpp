// Tests the comparison of arrays with hand-picked numbers.

#include "tools/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace taper::tools {
namespace {

NpyArray floats(std::vector<float> values) {
  NpyArray a{ScalarType::kFloat, {static_cast<int64_t>(values.size())}, ""};
  a.data.assign(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  return a;
}

TEST(Compare, ScalesTheToleranceByTheLargestExpectedValue) {
  EXPECT_TRUE(compare(floats({100.5f, 1}), floats({100, 1}), 0.01).equal);
  EXPECT_FALSE(compare(floats({100, 3}), floats({100, 1}), 0.01).equal);
  EXPECT_TRUE(compare(floats({0.005f}), floats({0}), 0.01).equal);
  EXPECT_DOUBLE_EQ(compare(floats({2.5f}), floats({1}), 0.01).largest_error, 1.5);
}

TEST(DifferenceOf, IsRelativeToWhatIsExpected) {
  const ArrayDifference found = difference_of(floats({3, -4.5f, NAN}), floats({3, -4, NAN}));
  EXPECT_DOUBLE_EQ(found.largest, 0.5);
  EXPECT_DOUBLE_EQ(found.scale, 4);
  EXPECT_NEAR(found.decibels, 20, 1e-9);  // 25 to 0.25.
  EXPECT_EQ(difference_of(floats({1}), floats({1})).decibels, INFINITY);
  EXPECT_EQ(difference_of(floats({INFINITY}), floats({1})).largest, INFINITY);
  EXPECT_EQ(difference_of(floats({1}), floats({NAN})).largest, INFINITY);
}

TEST(DifferenceOf, TellsIntegersApartThatAreEqualAsDoubles) {
  const auto number = [](int64_t value) {
    return NpyArray{ScalarType::kLong, {}, {reinterpret_cast<const char*>(&value), sizeof(value)}};
  };
  constexpr int64_t kLarge = int64_t{1} << 60;
  EXPECT_EQ(difference_of(number(kLarge), number(kLarge)).largest, 0);
  EXPECT_GT(difference_of(number(kLarge + 1), number(kLarge)).largest, 0);
}

TEST(Compare, SpecialValuesEqualOnlyThemselves) {
  const float inf = INFINITY;
  EXPECT_TRUE(compare(floats({NAN, inf, -inf}), floats({NAN, inf, -inf}), 0).equal);
  EXPECT_FALSE(compare(floats({1}), floats({NAN}), 1).equal);
  EXPECT_FALSE(compare(floats({NAN}), floats({1}), 1).equal);
  EXPECT_FALSE(compare(floats({inf}), floats({-inf}), 1).equal);
  EXPECT_FALSE(compare(floats({3e38f}), floats({inf}), 1).equal);
}

TEST(Compare, IntegersMustBeEqualAndTypesToo) {
  const NpyArray a{ScalarType::kInt, {1}, std::string("\1\0\0\0", 4)};
  const NpyArray b{ScalarType::kInt, {1}, std::string("\2\0\0\0", 4)};
  EXPECT_TRUE(compare(a, a, 0).equal);
  EXPECT_FALSE(compare(a, b, 1e9).equal);
  EXPECT_EQ(compare(a, floats({1}), 1).text, "expected float32 (1,), given int32 (1,)");
  EXPECT_FALSE(compare(floats({1}), floats({1, 2}), 1).equal);
}

}  // namespace
}  // namespace taper::tools
