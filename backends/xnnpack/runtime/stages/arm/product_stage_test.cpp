// Tests layers and convolutions of single pixels as stages, against their definition in double.

#include "backends/xnnpack/runtime/stages/arm/product_stage.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "backends/xnnpack/runtime/stages/stages_for_test.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

constexpr uint32_t kDepth = 33, kColumns = 250;
constexpr float kMin = -20, kMax = 30;

// y = clamp(x * filter + bias): of rows, or of the pixels of an image one pixel wide.
struct Model {
  uint32_t rows;
  bool is_image, is_turned;
  Floats filter = some_numbers(size_t{kDepth} * kColumns, 31, 1), bias = some_numbers(kColumns, 7);
  PayloadBuilder p;

  Model(uint32_t rows, bool is_image, bool is_turned)
      : rows(rows), is_image(is_image), is_turned(is_turned) {
    const uint32_t x = p.input(sizes<uint32_t>(rows, kDepth));
    const uint32_t y = p.output(sizes<uint32_t>(rows, kColumns));
    const uint32_t biases = p.constant({kColumns}, bias);
    if (is_image) {
      p.convolved(x, p.constant({kColumns, 1, 1, kDepth}, filter), biases, y, {});
    } else {
      const Sizes shape = is_turned ? Sizes{kDepth, kColumns} : Sizes{kColumns, kDepth};
      const uint32_t weights = p.constant(shape, filter);
      const uint32_t flags = is_turned ? XNN_FLAG_TRANSPOSE_WEIGHTS : 0;
      p.nodes.push_back({NodeContent::FullyConnected,
                         wire::CreateFullyConnected(p.fbb, x, weights, biases, y, flags).Union()});
    }
    p.nodes.back().range = {kMin, kMax};
  }

  template <typename T>
  std::vector<T> sizes(uint32_t count, uint32_t columns) const {
    const auto n = static_cast<T>(count), c = static_cast<T>(columns);
    return is_image ? std::vector<T>{1, n, 1, c} : std::vector<T>{n, c};
  }

  void expect_right(Loaded& loaded, uint32_t count) const {
    SCOPED_TRACE(testing::Message() << count << " rows");
    const Floats image = some_numbers(size_t{count} * kDepth, 13);
    HeldFloats x(sizes<int32_t>(count, kDepth), image, size_t{rows} * kDepth);
    HeldFloats y(sizes<int32_t>(rows, kColumns), Floats(size_t{rows} * kColumns));
    const Status status = loaded.run({&x.value, &y.value});
    ASSERT_TRUE(status.ok()) << status.message();
    const Floats got = y.result();
    ASSERT_EQ(got.size(), size_t{count} * kColumns);
    for (size_t i = 0; i < got.size(); ++i) {
      const size_t row = i / kColumns, column = i % kColumns;
      double sum = static_cast<double>(bias[column]);
      for (size_t k = 0; k < kDepth; ++k) {
        const size_t at = is_turned ? k * kColumns + column : column * kDepth + k;
        sum += static_cast<double>(image[row * kDepth + k]) * static_cast<double>(filter[at]);
      }
      ASSERT_NEAR(got[i], std::clamp(sum, double{kMin}, double{kMax}), 2e-4) << i;
    }
  }
};

TEST(ProductStage, ComputesAnyNumberOfRows) {
  for (const uint32_t threads : {1u, 3u}) {
    for (const auto& [is_image, is_turned] :
         {std::pair(false, false), {false, true}, {true, false}}) {
      SCOPED_TRACE(testing::Message() << threads << " threads, image " << is_image);
      Model model(128, is_image, is_turned);
      Loaded loaded(model.p.finish(), on_threads(threads));
      ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
      model.expect_right(loaded, 128);
      model.expect_right(loaded, 127);
      model.expect_right(loaded, 5);
      model.expect_right(loaded, 1);
      Model small(49, is_image, is_turned);
      Loaded other(small.p.finish(), on_threads(threads));
      ASSERT_TRUE(other.status.ok()) << other.status.message();
      for (const uint32_t rows : {49u, 48u, 7u, 2u}) small.expect_right(other, rows);
    }
  }
}

TEST(ProductStage, IsUsedForRowsThatDoNotFillTiles) {
  const auto is_better = [](uint32_t rows) {
    Model model(rows, false, false);
    const std::vector<uint8_t> payload = model.p.finish();
    const BackendInitContext context("forward", nullptr, nullptr, {});
    Subgraph graph;
    EXPECT_TRUE(graph.read({payload.data(), payload.size()}, context, UINT64_MAX).ok());
    return ProductStage::is_better(graph.nodes()[0], graph.values());
  };
  const bool has = optimized::has_constant_product();
  EXPECT_EQ(is_better(49), has);
  EXPECT_EQ(is_better(128), has);
  EXPECT_FALSE(is_better(48));
  EXPECT_FALSE(is_better(196));
  EXPECT_FALSE(is_better(197));
  EXPECT_FALSE(is_better(1));  // Too few products.
}

}  // namespace
}  // namespace taper::xnnpack
