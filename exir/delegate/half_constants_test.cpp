#include "exir/delegate/half_constants.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>

namespace taper::exir {
namespace {

TensorData floats(const std::vector<float>& first) {
  std::vector<float> all(512, 1.5f);
  std::copy(first.begin(), first.end(), all.begin());
  std::vector<uint8_t> bytes(all.size() * sizeof(float));
  std::memcpy(bytes.data(), all.data(), bytes.size());
  return own_bytes(std::move(bytes));
}

TEST(HalfConstants, AreThoseThatFloat16Holds) {
  const float infinity = std::numeric_limits<float>::infinity();
  const TensorData halves = as_halves(floats({-2, 65504, -0.0f, 0x1p-24f, infinity}));
  ASSERT_EQ(halves.bytes, 1024u);
  const uint16_t expected[] = {0xc000, 0x7bff, 0x8000, 0x0001, 0x7c00, 0x3e00};
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(halves.data[2 * i] | halves.data[2 * i + 1] << 8, expected[i]) << i;
  }
}

TEST(HalfConstants, OtherNumbersStay) {
  for (const float number : {65520.0f, 1.0f + 0x1p-11f, 0x1p-25f}) {
    EXPECT_EQ(as_halves(floats({1, number})).data, nullptr) << number;
  }
}

TEST(HalfConstants, FewStay) {
  EXPECT_EQ(as_halves(own_bytes(std::vector<uint8_t>(1024))).data, nullptr);
}

}  // namespace
}  // namespace taper::exir
