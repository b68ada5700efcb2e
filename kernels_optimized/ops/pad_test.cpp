// constant_pad_nd against the portable kernel, which it must equal bit by bit.

#include <gtest/gtest.h>

#include <cstring>

#include "kernels_portable/engine/convert.h"
#include "kernels_portable/kernel_table.h"
#include "test/support/call_fast.h"
#include "test/support/int_list.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::TestTensor;

TestTensor counted(ScalarType type, const std::vector<int32_t>& sizes) {
  TestTensor result(type, sizes);
  for (int64_t i = 0; i < result->numel(); ++i) {
    portable::store_one(static_cast<double>(i % 100),
                        portable::element(result->mutable_data(), i, type), type);
  }
  return result;
}

void compare(ScalarType type, const std::vector<int32_t>& sizes, const std::vector<int64_t>& pad) {
  std::vector<int32_t> padded = sizes;
  for (size_t i = 0; i < pad.size(); i += 2) {
    padded[sizes.size() - 1 - i / 2] += static_cast<int32_t>(pad[i] + pad[i + 1]);
  }
  TestTensor x = counted(type, sizes);
  test::Ints by(pad);
  TestTensor results[] = {TestTensor(type, padded), TestTensor(type, padded)};
  for (const size_t fast : {0, 1}) {
    const KernelTable table = fast != 0 ? optimized_kernels() : portable::portable_kernels();
    EValue slots[] = {EValue(&*x), by.value(), EValue(2.0), EValue(&*results[fast])};
    EValue* args[] = {&slots[0], &slots[1], &slots[2], &slots[3]};
    KernelContext context;
    ASSERT_TRUE(find_kernel(table, "aten::constant_pad_nd.out")->run(context, args).ok());
  }
  const size_t bytes = static_cast<size_t>(results[0]->numel()) * element_size(type);
  EXPECT_EQ(std::memcmp(results[0]->const_data(), results[1]->const_data(), bytes), 0)
      << testing::PrintToString(sizes) << " by " << testing::PrintToString(pad);
}

TEST(Pad, EqualsThePortableKernel) {
  for (const ScalarType type : {ScalarType::kFloat, ScalarType::kDouble, ScalarType::kHalf,
                                ScalarType::kLong, ScalarType::kByte, ScalarType::kBool}) {
    compare(type, {5}, {2, 3});
    compare(type, {4, 6}, {0, 0, 1, 2});
    compare(type, {3, 4, 7}, {1, 0, 0, 3, 2, 2});
    compare(type, {2, 3, 4, 5}, {0, 1, 0, 0, 1, 0});
    compare(type, {2, 1, 3, 4, 2}, {1, 1, 2, 0, 0, 2, 1, 1});
    compare(type, {3, 4}, {0, 0, 0, 0});    // Nothing is padded.
    compare(type, {3, 6}, {-1, 2, 1, -2});  // And some is cropped.
    compare(type, {0, 3}, {1, 1, 2, 0});
  }
}

}  // namespace
}  // namespace taper::optimized
