// Tests means and softmaxes of bytes as stages, by hand, and that tensors of floats are refused.

#include "backends/xnnpack/runtime/stages/bytes_stage.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/xnnpack/runtime/payload/payload_for_test.h"

namespace taper::xnnpack {
namespace {

using wire::DataType;
using wire::NodeContent;

// x -> bytes in steps of 0.5 -> a node -> bytes in steps of `step` -> y.
struct Model {
  PayloadBuilder p;
  uint32_t x, bytes, results, y;

  Model(Sizes in, Sizes out, float step) {
    x = p.input(in);
    bytes = add(in, 0.5f);
    results = add(out, step);
    y = p.output(out);
  }
  uint32_t add(const Sizes& sizes, float scale) {
    const uint32_t id = p.add({sizes});
    p.tensors[id].type = DataType::QINT8;
    p.tensors[id].scale = scale;
    return id;
  }
  std::vector<uint8_t> finish(NodeContent kind, flatbuffers::Offset<void> content) {
    p.unary(NodeContent::Convert, x, bytes);
    p.taper_node(kind, content);
    p.unary(NodeContent::Convert, results, y);
    return p.finish();
  }
  // A window of 2 x 3 that goes 1 pixel at a time and begins 1 before the image.
  std::vector<uint8_t> pool(uint32_t height = 2) {
    return finish(
        NodeContent::BytePool,
        wire::CreatePooling(p.fbb, 1, 0, 0, 1, height, 3, 1, 1, 1, 1, bytes, results).Union());
  }
  std::vector<uint8_t> softmax(uint32_t dim) {
    return finish(NodeContent::ByteSoftmax,
                  wire::CreateDimSoftmax(p.fbb, bytes, results, dim).Union());
  }
};

TEST(BytesStage, MeansAreOfThePixelsThatAreThere) {
  Loaded loaded(Model({1, 2, 3, 1}, {1, 2, 2, 1}, 0.25f).pool());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  HeldFloats x({1, 2, 3, 1}, {1, 2, 4, -3, 5, 60}), y({1, 2, 2, 1}, Floats(4));
  ASSERT_TRUE(loaded.run({&x.value, &y.value}).ok());
  // (1 + 2) / 2; (1 + 2 + 4) / 3; (1 + 2 - 3 + 5) / 4; 69 / 6 = 11.5
  EXPECT_EQ(y.result(), (Floats{1.5f, 2.25f, 1.25f, 11.5f}));
}

TEST(BytesStage, SoftmaxesAreRoundedOnce) {
  for (const uint32_t dim : {1u, 2u}) {
    Loaded loaded(Model({2, 3, 200}, {2, 3, 200}, 1.0f / 256).softmax(dim));
    ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
    Floats in(1200);
    for (size_t i = 0; i < in.size(); ++i) in[i] = 0.5f * static_cast<float>(i * 7 % 23);
    HeldFloats x({2, 3, 200}, in), y({2, 3, 200}, Floats(1200));
    ASSERT_TRUE(loaded.run({&x.value, &y.value}).ok());
    const Floats got = y.result();
    const size_t length = dim == 1 ? 3 : 200, stride = dim == 1 ? 200 : 1;
    for (size_t i = 0; i < in.size(); ++i) {
      const size_t first = dim == 1 ? i / 600 * 600 + i % 200 : i / 200 * 200;
      double sum = 0;
      for (size_t k = 0; k < length; ++k) sum += std::exp(double{in[first + k * stride]});
      const double share = std::exp(double{in[i]}) / sum;
      ASSERT_EQ(got[i], std::min(std::nearbyint(share * 256), 127.0) / 256) << dim << ": " << i;
    }
  }
}

TEST(BytesStage, OtherTensorsAndWindowsAreRefused) {
  EXPECT_FALSE(Loaded(Model({1, 2, 3, 1}, {1, 2, 2, 1}, 0.25f).pool(0)).status.ok());
  EXPECT_FALSE(Loaded(Model({2, 3}, {2, 3}, 0.25f).softmax(2)).status.ok());
  Model floats({2, 3}, {2, 3}, 0.25f);
  floats.bytes = floats.x;
  EXPECT_FALSE(Loaded(floats.softmax(1)).status.ok());
}

TEST(BytesStage, EveryChangedByteIsSurvived) {
  const std::vector<uint8_t> pool = Model({1, 2, 3, 1}, {1, 2, 2, 1}, 0.25f).pool();
  HeldFloats image({1, 2, 3, 1}, Floats(6, 1)), means({1, 2, 2, 1}, Floats(4));
  run_with_each_byte_changed(pool, image, means);
  const std::vector<uint8_t> softmax = Model({2, 3}, {2, 3}, 0.25f).softmax(1);
  HeldFloats in({2, 3}, Floats(6, 1)), out({2, 3}, Floats(6));
  run_with_each_byte_changed(softmax, in, out);
}

}  // namespace
}  // namespace taper::xnnpack
