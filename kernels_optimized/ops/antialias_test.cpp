// Resampling with antialiasing at every level gives what the portable kernel gives, up to rounding:
// smaller and larger images, one row and one column, with and without aligned corners.

#include <gtest/gtest.h>

#include <cmath>

#include "test/support/call_fast.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::call_fast;
using test::LevelLimit;
using test::TestTensor;

std::vector<float> resampled(Level level, TestTensor& image, int32_t height, int32_t width,
                             bool align_corners) {
  const LevelLimit limit(level);
  EValue rows(int64_t{height}), columns(int64_t{width});
  EValue* items[] = {&rows, &columns};
  int64_t unboxed[2];
  BoxedIntList size = {items, unboxed};
  TestTensor out(ScalarType::kFloat, {image->sizes()[0], image->sizes()[1], height, width});
  const EValue none;
  call_fast("aten::_upsample_bilinear2d_aa.out",
            {EValue(&*image), EValue(&size, 2), EValue(align_corners), none, none, EValue(&*out)},
            size_t{1} << 17);
  return out.values<float>();
}

TEST(Antialias, AgreesWithThePortableKernel) {
  TestTensor image(ScalarType::kFloat, {2, 3, 37, 61});
  for (int64_t i = 0; i < image->numel(); ++i) {
    image->mutable_data_ptr<float>()[i] = static_cast<float>(i * 31 % 211) / 100 - 1;
  }
  for (const auto& [height, width] : {std::pair{16, 19}, {5, 3}, {37, 61}, {80, 33}, {1, 1}}) {
    for (const bool align_corners : {false, true}) {
      const std::vector<float> want =
          resampled(Level::kBaseline, image, height, width, align_corners);
      for (const Level level : kLevels) {
        const std::vector<float> got = resampled(level, image, height, width, align_corners);
        ASSERT_EQ(got.size(), want.size());
        for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], want[i], 2e-6f) << i;
      }
    }
  }
}

}  // namespace
}  // namespace taper::optimized
