// Convolution of images that are larger than the blocks of its product.

#include <gtest/gtest.h>

#include "kernels_portable/cores/conv.h"
#include "test/support/op_cases.h"
#include "test/support/test_tensor.h"

namespace taper::portable {
namespace {

using test::TestTensor;

// If input and weight are all ones, an output is the number of inputs under the kernel: 9 per
// channel in the interior, 6 at an edge, 4 in a corner.
void expect_counts(const std::vector<uint8_t>& order, int channels, int groups) {
  constexpr int kSize = 20;
  TestTensor in(ScalarType::kFloat, {2, channels, kSize, kSize}, order);
  TestTensor weight(ScalarType::kFloat, {channels, channels / groups, 3, 3});
  TestTensor out(ScalarType::kFloat, {2, channels, kSize, kSize}, order);
  std::fill_n(in->mutable_data_ptr<float>(), in->numel(), 1.0f);
  std::fill_n(weight->mutable_data_ptr<float>(), weight->numel(), 1.0f);
  const int64_t one[] = {1};
  Convolution conv;
  int64_t sizes[4];
  ASSERT_TRUE(
      describe_convolution(*in, *weight, {one, one, one, false, one, groups}, &conv, sizes).ok());
  EXPECT_EQ(sizes[2], kSize);
  conv.out = conv_image(*out);
  conv.bias = nullptr;
  ASSERT_TRUE(convolve(conv).ok());
  const auto strides = out->strides();
  for (int y = 0; y < kSize; ++y) {
    for (int x = 0; x < kSize; ++x) {
      const int rows = y == 0 || y == kSize - 1 ? 2 : 3;
      const int columns = x == 0 || x == kSize - 1 ? 2 : 3;
      const int offset = (channels - 1) * strides[1] + y * strides[2] + x * strides[3];
      ASSERT_EQ(out->const_data_ptr<float>()[offset],
                static_cast<float>(rows * columns * channels / groups));
    }
  }
}

TEST(Convolution, CountsItsInputs) {
  for (const int channels : {1, 30, 70}) {
    for (const int groups : {1, channels}) {
      expect_counts({0, 1, 2, 3}, channels, groups);
      expect_counts({0, 2, 3, 1}, channels, groups);
    }
  }
}

}  // namespace
}  // namespace taper::portable
