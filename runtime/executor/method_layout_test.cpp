// block_bytes(), which computes sizes for other machines too, agrees with carve() for this one.

#include <gtest/gtest.h>

#include <array>

#include "runtime/executor/method_state.h"

namespace taper::internal {
namespace {

Counts counts_of(const std::array<uint64_t, 14>& n) {
  return {n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10], n[11], n[12], n[13]};
}

TEST(MethodLayout, EachPartCountsAsInTheBlock) {
  static_assert(sizeof(Counts) == 14 * sizeof(uint64_t), "add the new part to this test");
  std::array<uint64_t, 14> numbers = {};
  EXPECT_EQ(block_bytes(counts_of(numbers), sizeof(void*)), carve({}, nullptr, nullptr));
  for (size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = 2 * i + 3;
    const Counts counts = counts_of(numbers);
    EXPECT_EQ(block_bytes(counts, sizeof(void*)), carve(counts, nullptr, nullptr)) << "part " << i;
  }
  EXPECT_LT(block_bytes(counts_of(numbers), 4), block_bytes(counts_of(numbers), 8));
}

}  // namespace
}  // namespace taper::internal
