// Tests that padding becomes that of the window that reads it, and when it stays.

#include "backends/xnnpack/aot/fold_pads.h"

#include <gtest/gtest.h>

#include <initializer_list>

namespace taper::xnnpack {
namespace {

using wire::NodeContent;
using Numbers = std::vector<uint32_t>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Dims sizes(std::initializer_list<int64_t> numbers) { return Dims(numbers.begin(), numbers.end()); }

// An image of 8 x 8 with a row above and below, and a column on the right, of padding; then a
// window of 3 x 3 with a padding of one column on the left. `is_planes`: the padding is before a
// transpose to channels last.
struct Padded {
  NodeList list;
  NodeSpec &pad, &window;

  explicit Padded(bool is_planes = false, NodeContent kind = NodeContent::Conv2d)
      : list(make(is_planes, kind)), pad(list.nodes[0]), window(list.nodes.back()) {}

  static NodeList make(bool is_planes, NodeContent kind) {
    NodeList list;
    NodeSpec pad, transpose, window;
    pad.kind = NodeContent::ConstantPad;
    pad.inputs = {0};
    pad.output = 1;
    pad.list = is_planes ? Numbers{0, 0, 1, 0} : Numbers{0, 1, 0, 0};
    pad.list2 = is_planes ? Numbers{0, 0, 1, 1} : Numbers{0, 1, 1, 0};
    transpose.kind = NodeContent::Transpose;
    transpose.inputs = {1};
    transpose.output = 3;
    transpose.list = {0, 2, 3, 1};
    window.kind = kind;
    window.inputs = {is_planes ? 3u : 1u};
    window.output = 2;
    window.window.kernel[0] = window.window.kernel[1] = 3;
    window.window.padding[3] = 1;
    list.values.resize(4);
    list.values[0].dims = is_planes ? sizes({1, 4, 8, 8}) : sizes({1, 8, 8, 4});
    list.values[1].dims = is_planes ? sizes({1, 4, 10, 9}) : sizes({1, 10, 9, 4});
    list.values[2].dims = sizes({1, 8, 8, 4});
    list.values[3].dims = sizes({1, 10, 9, 4});
    list.values[0].is_input = list.values[2].is_output = true;
    list.nodes = {pad};
    if (is_planes) list.nodes.push_back(transpose);
    list.nodes.push_back(window);
    for (size_t n = 0; n < list.nodes.size(); ++n) {
      list.values[list.nodes[n].output].maker = static_cast<int64_t>(n);
    }
    return list;
  }

  // In the order top, right, bottom, left.
  Numbers padding() const { return {window.window.padding, window.window.padding + 4}; }
  bool folds() {
    fold_pads(list);
    return padding() == Numbers{1, 1, 1, 1};
  }
};

TEST(FoldPads, AConvolutionPads) {
  for (const NodeContent kind : {NodeContent::Conv2d, NodeContent::DepthwiseConv2d}) {
    Padded image(false, kind);
    EXPECT_TRUE(image.folds());
    EXPECT_EQ(image.window.inputs[0], 0u);
    EXPECT_FALSE(image.list.live_nodes()[0]);
  }
}

TEST(FoldPads, ThePlanesOfAnImageAreTransposedWithoutPadding) {
  Padded image(true);
  EXPECT_TRUE(image.folds());
  EXPECT_EQ(image.list.nodes[1].inputs[0], 0u);
  EXPECT_EQ(image.list.values[3].dims, sizes({1, 8, 8, 4}));
}

TEST(FoldPads, AMaxPoolPadsWithTheLeastNumber) {
  Padded least(false, NodeContent::MaxPool2d), zeros(false, NodeContent::MaxPool2d);
  least.pad.number = -kInfinity;
  EXPECT_TRUE(least.folds());
  EXPECT_FALSE(zeros.folds());
}

TEST(FoldPads, OtherPaddingStays) {
  Padded ones, channels, far, typed;
  ones.pad.number = 1;
  EXPECT_FALSE(ones.folds());
  channels.pad.list[3] = 1;
  EXPECT_FALSE(channels.folds());
  far.pad.list2[1] = 3;  // Windows of padding alone.
  EXPECT_FALSE(far.folds());
  typed.list.values[1].quantization.type = wire::DataType::QINT8;
  EXPECT_FALSE(typed.folds());
  Padded pool(false, NodeContent::AvgPool2d);
  EXPECT_FALSE(pool.folds());
}

TEST(FoldPads, PaddingThatOthersReadIsComputedForThem) {
  Padded image;
  image.list.values[1].is_output = true;
  EXPECT_TRUE(image.folds());
  EXPECT_TRUE(image.list.live_nodes()[0]);
  Padded planes(true);  // The transpose with its padding is a result.
  planes.list.values[3].is_output = true;
  EXPECT_FALSE(planes.folds());
}

}  // namespace
}  // namespace taper::xnnpack
