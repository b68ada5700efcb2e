// Tests that convolutions of images with few channels read several pixels at once.

#include "backends/xnnpack/aot/merge_pixels.h"

#include <gtest/gtest.h>

namespace taper::xnnpack {
namespace {

using wire::DataType;
using wire::NodeContent;

// A row of `width` pixels of one channel, and a filter {1, 2, 3} with the step 2 and a padding of
// one pixel; two channels of results.
struct Row {
  NodeList list;

  explicit Row(int64_t width, int64_t places, uint32_t channels = 1) {
    ValueSpec x, y;
    x.dims = {exir::Sym(1), exir::Sym(1), exir::Sym(width), exir::Sym(int64_t{channels})};
    x.is_input = true;
    x.quantization.type = y.quantization.type = DataType::QINT8;
    y.dims = {exir::Sym(1), exir::Sym(1), exir::Sym(places), exir::Sym(2)};
    y.is_output = true;
    y.maker = 0;
    list.values = {x, y};
    std::vector<uint8_t> weights;
    for (uint32_t i = 0; i < 2 * 3 * channels; ++i) weights.push_back(static_cast<uint8_t>(1 + i));
    const Id filter =
        list.add_constant({exir::Sym(2), exir::Sym(1), exir::Sym(3), exir::Sym(int64_t{channels})},
                          exir::own_bytes(std::move(weights)));
    list.values[filter].quantization.type = DataType::QCINT8;
    list.values[filter].quantization.scales = {0.5f, 0.25f};
    NodeSpec node;
    node.kind = NodeContent::Conv2d;
    node.inputs = {0, filter, kNone};
    node.output = 1;
    node.window.kernel[1] = 3;
    node.window.stride[1] = 2;
    node.window.padding[1] = node.window.padding[3] = 1;
    node.window.group_in = channels;
    node.window.group_out = 2;
    list.nodes = {node};
  }
};

// Two places at once: their pixels -1, 0, 1 and 1, 2, 3 are in the merged pixels -1 and 0.
TEST(MergePixels, AWindowGivesTheResultsOfTwoPlaces) {
  Row row(8, 4);
  merge_pixels(row.list);
  ASSERT_EQ(row.list.nodes.size(), 3u);
  EXPECT_EQ(row.list.nodes[0].list, (std::vector<uint32_t>{1, 1, 2, 4}));
  EXPECT_EQ(row.list.nodes[2].list, (std::vector<uint32_t>{1, 1, 4, 2}));
  EXPECT_EQ(row.list.nodes[2].output, 1u);
  EXPECT_EQ(row.list.values[1].maker, 2);
  const NodeSpec& node = row.list.nodes[1];
  EXPECT_EQ(node.kind, NodeContent::Conv2d);
  EXPECT_EQ(node.window.kernel[1], 2u);
  EXPECT_EQ(node.window.stride[1], 1u);
  EXPECT_EQ(node.window.padding[3], 1u);
  EXPECT_EQ(node.window.padding[1], 0u);
  const exir::TensorData& data = row.list.data(node.inputs[1]);
  EXPECT_EQ(std::vector<uint8_t>(data.data, data.data + data.bytes),
            (std::vector<uint8_t>{0, 0, 0, 1, 2, 3, 0, 0,  // the first place
                                  0, 0, 0, 4, 5, 6, 0, 0,  // and its second channel
                                  0, 0, 0, 0, 0, 1, 2, 3,  // the second place
                                  0, 0, 0, 0, 0, 4, 5, 6}));
  EXPECT_EQ(row.list.values[node.inputs[1]].quantization.scales,
            (std::vector<float>{0.5f, 0.25f, 0.5f, 0.25f}));
}

TEST(MergePixels, OtherConvolutionsStay) {
  for (Row row : {Row(10, 5), Row(8, 4, 5)}) {
    merge_pixels(row.list);
    EXPECT_EQ(row.list.nodes.size(), 1u);
  }
  Row floats(8, 4);
  floats.list.values[0].quantization.type = DataType::FP32;
  merge_pixels(floats.list);
  EXPECT_EQ(floats.list.nodes.size(), 1u);
}

}  // namespace
}  // namespace taper::xnnpack
