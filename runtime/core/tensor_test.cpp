// Strides, element counts and resizing of tensors.

#include "taper/tensor.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

namespace taper {
namespace {

struct Shape {
  std::vector<int32_t> sizes;
  std::vector<uint8_t> order;
  std::vector<int32_t> strides = std::vector<int32_t>(sizes.size());

  Tensor tensor(ShapeDynamism dynamism = ShapeDynamism::kStatic) {
    return Tensor(ScalarType::kFloat, sizes.size(), sizes.data(), order.data(), strides.data(),
                  nullptr, dynamism);
  }
};

TEST(Tensor, ContiguousStridesAreRowMajor) {
  Shape shape{{2, 3, 4}, {0, 1, 2}};
  const Tensor t = shape.tensor();
  EXPECT_EQ(t.numel(), 24);
  EXPECT_EQ(t.nbytes(), 96u);
  EXPECT_TRUE(t.is_contiguous());
  EXPECT_EQ(shape.strides, (std::vector<int32_t>{12, 4, 1}));
}

TEST(Tensor, ChannelsLastStridesFollowTheDimOrder) {
  Shape shape{{2, 3, 4, 5}, {0, 2, 3, 1}};
  const Tensor t = shape.tensor();
  EXPECT_FALSE(t.is_contiguous());
  EXPECT_EQ(shape.strides, (std::vector<int32_t>{60, 1, 15, 3}));
}

TEST(Tensor, RankZeroHoldsOneElement) {
  Shape shape{{}, {}};
  EXPECT_EQ(shape.tensor().numel(), 1);
}

TEST(Tensor, EmptyTensorsKeepTheStridesOfSizeOne) {
  Shape shape{{2, 0, 4}, {0, 1, 2}};
  EXPECT_EQ(shape.tensor().numel(), 0);
  EXPECT_EQ(shape.strides, (std::vector<int32_t>{4, 4, 1}));
}

TEST(Tensor, SizesWhoseProductOverflowsCountAsEmpty) {
  const int32_t big = std::numeric_limits<int32_t>::max();
  Shape shape{{big, big, big}, {0, 1, 2}};
  const Tensor t = shape.tensor();
  EXPECT_EQ(t.numel(), 0);
  EXPECT_EQ(t.capacity(), 0);
}

TEST(TensorResize, StaticAcceptsOnlyItsOwnSizes) {
  Shape shape{{2, 3}, {0, 1}};
  Tensor t = shape.tensor();
  EXPECT_TRUE(t.resize(std::array{2, 3}).ok());
  EXPECT_EQ(t.resize(std::array{3, 2}).error(), Error::kNotSupported);
  EXPECT_EQ(t.resize(std::array{6}).error(), Error::kInvalidArgument);
}

TEST(TensorResize, DynamicMayShrinkAndGrowBackToItsBound) {
  Shape shape{{4, 3}, {0, 1}};
  Tensor t = shape.tensor(ShapeDynamism::kDynamicBound);
  EXPECT_TRUE(t.resize(std::array{2, 1}).ok());
  EXPECT_EQ(t.numel(), 2);
  EXPECT_EQ(shape.strides, (std::vector<int32_t>{1, 1}));
  EXPECT_TRUE(t.resize(std::array{3, 4}).ok());
  EXPECT_EQ(t.resize(std::array{13, 1}).error(), Error::kNotSupported);
  EXPECT_EQ(t.numel(), 12);
}

TEST(TensorResize, RefusesNegativeAndOverflowingSizes) {
  Shape shape{{4, 3}, {0, 1}};
  Tensor t = shape.tensor(ShapeDynamism::kDynamicBound);
  const int32_t big = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(t.resize(std::array{-1, 3}).error(), Error::kInvalidArgument);
  EXPECT_EQ(t.resize(std::array{big, big}).error(), Error::kInvalidArgument);
  EXPECT_EQ(t.numel(), 12);
}

}  // namespace
}  // namespace taper
