// Images are refused whose pixels XNNPACK would look for where those of another number of channels
// lie; see has_declared_channels.

#include <gtest/gtest.h>

#include "backends/xnnpack/runtime/payload/payload_for_test.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

TEST(WindowKinds, ImagesToResizeKeepTheirChannels) {
  PayloadBuilder p;
  const uint32_t x = p.input({1, 1, 2, 3}), y = p.output({1, 1, 4, 3});
  p.nodes.push_back(
      {NodeContent::ResizeBilinear, wire::CreateResizeBilinear(p.fbb, 1, 4, x, y, 8).Union()});
  Loaded loaded(p.finish());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  HeldFloats in({1, 1, 2, 3}, {0, 3, 6, 3, 6, 9}), out({1, 1, 4, 3}, Floats(12));
  ASSERT_TRUE(loaded.run({&in.value, &out.value}).ok());
  EXPECT_EQ(out.result(), (Floats{0, 3, 6, 1, 4, 7, 2, 5, 8, 3, 6, 9}));
  HeldFloats two({1, 1, 2, 2}, {0, 3, 6, 9}, 6), four({1, 1, 4, 2}, Floats(8), 12);
  EXPECT_FALSE(loaded.run({&two.value, &four.value}).ok());
}

TEST(WindowKinds, MaxPoolsKeepTheirChannels) {
  PayloadBuilder p;
  const uint32_t x = p.input({1, 1, 2, 2}), y = p.output({1, 1, 1, 2});
  p.nodes.push_back({NodeContent::MaxPool2d,
                     wire::CreatePooling(p.fbb, 0, 0, 0, 0, 1, 2, 1, 2, 1, 1, x, y).Union()});
  Loaded loaded(p.finish());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  HeldFloats in({1, 1, 2, 2}, {1, 5, 4, 2}), out({1, 1, 1, 2}, Floats(2));
  ASSERT_TRUE(loaded.run({&in.value, &out.value}).ok());
  EXPECT_EQ(out.result(), (Floats{4, 5}));
  HeldFloats one({1, 1, 2, 1}, {1, 5}, 4), greater({1, 1, 1, 1}, Floats(1), 2);
  EXPECT_FALSE(loaded.run({&one.value, &greater.value}).ok());
}

}  // namespace
}  // namespace taper::xnnpack
