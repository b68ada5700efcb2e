// Tests convolutions whose windows mostly lie in the padding, against their definition in double.

#if defined(TAPER_OPTIMIZED)  // Without vectors there is no such stage.

#include "backends/xnnpack/runtime/stages/taps_stage.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/xnnpack/runtime/stages/own_stage.h"
#include "backends/xnnpack/runtime/stages/stages_for_test.h"
#include "backends/xnnpack/runtime/xnnpack_backend.h"

namespace taper::xnnpack {
namespace {

struct Window {
  uint32_t height, width;             // Of the window.
  uint32_t down, across;              // Dilations.
  uint32_t top, bottom, left, right;  // Paddings.
};

// y = max(-1, conv(x)) of images of up to `height` x `width`.
struct Model {
  uint32_t images, height, width, ins, outs;
  Window window;
  bool has_bias;
  Floats filter, bias;
  PayloadBuilder p;

  uint32_t out_height(uint32_t h) const {
    return h + window.top + window.bottom - (window.height - 1) * window.down;
  }
  uint32_t out_width(uint32_t w) const {
    return w + window.left + window.right - (window.width - 1) * window.across;
  }

  Model(uint32_t images, uint32_t height, uint32_t width, uint32_t ins, uint32_t outs,
        const Window& k, bool has_bias)
      : images(images),
        height(height),
        width(width),
        ins(ins),
        outs(outs),
        window(k),
        has_bias(has_bias),
        filter(some_numbers(size_t{outs} * k.height * k.width * ins, 31, 1)),
        bias(some_numbers(outs, 7, 1)) {
    const uint32_t x = p.input({images, height, width, ins});
    const uint32_t y = p.output({images, out_height(height), out_width(width), outs});
    const uint32_t weights = p.constant({outs, k.height, k.width, ins}, filter);
    const uint32_t biases = has_bias ? p.constant({outs}, bias) : UINT32_MAX;
    p.convolved(x, weights, biases, y, {k.top, k.left, k.bottom, k.right, 1, k.down, k.across});
    p.nodes.back().range = {-1.f, 1e30f};
  }

  double expected(const Floats& x, uint32_t h, uint32_t w, size_t at) const {
    const auto o = at % outs, column = at / outs % out_width(w);
    const auto row = at / outs / out_width(w) % out_height(h);
    const auto image = at / outs / out_width(w) / out_height(h);
    double sum = has_bias ? static_cast<double>(bias[o]) : 0;
    for (uint32_t t = 0; t < window.height * window.width; ++t) {
      const auto i = static_cast<int64_t>(row) + t / window.width * window.down - window.top;
      const auto j = static_cast<int64_t>(column) + t % window.width * window.across - window.left;
      if (i < 0 || i >= h || j < 0 || j >= w) continue;
      const size_t pixel = (image * h + static_cast<size_t>(i)) * w + static_cast<size_t>(j);
      for (uint32_t c = 0; c < ins; ++c) {
        const size_t factor = (o * window.height * window.width + t) * ins + c;
        sum += static_cast<double>(x[pixel * ins + c]) * static_cast<double>(filter[factor]);
      }
    }
    return std::fmax(sum, -1);
  }

  // Computes images of h x w; the arguments have room for the largest.
  void expect_right(Loaded& loaded, uint32_t h, uint32_t w) const {
    const auto dim = [](uint32_t size) { return static_cast<int32_t>(size); };
    const Floats image = some_numbers(size_t{images} * h * w * ins, 13, 1);
    const size_t most = size_t{images} * out_height(height) * out_width(width) * outs;
    HeldFloats x({dim(images), dim(h), dim(w), dim(ins)}, image,
                 size_t{images} * height * width * ins);
    HeldFloats y({dim(images), dim(out_height(height)), dim(out_width(width)), dim(outs)},
                 Floats(most));
    const Status status = loaded.run({&x.value, &y.value});
    ASSERT_TRUE(status.ok()) << status.message();
    const Floats got = y.result();
    ASSERT_EQ(got.size(), size_t{images} * out_height(h) * out_width(w) * outs);
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_NEAR(got[i], expected(image, h, w, i), 1e-4) << i;
    }
  }
};

bool is_better(const std::vector<uint8_t>& payload) {
  const BackendInitContext context("forward", nullptr, nullptr, {});
  Subgraph graph;
  EXPECT_TRUE(graph.read({payload.data(), payload.size()}, context, UINT64_MAX).ok());
  return TapsStage::is_better(graph.nodes()[0], graph.values());
}

void expect_right(Model model) {
  const std::vector<uint8_t> payload = model.p.finish();
  EXPECT_EQ(is_better(payload), has_own_stages());
  for (const uint32_t threads : {1u, 2u}) {
    XnnpackOptions options;
    options.threads = threads;
    Loaded loaded(payload, options);
    ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
    model.expect_right(loaded, model.height, model.width);
    model.expect_right(loaded, model.height - 1, model.width - 2);
  }
}

TEST(TapsStage, SkipsWhatLiesInThePadding) {
  expect_right(Model(1, 14, 14, 40, 70, {3, 3, 12, 12, 12, 12, 12, 12}, true));
}

TEST(TapsStage, ComputesSeveralImages) {
  expect_right(Model(2, 9, 11, 33, 64, {3, 3, 8, 9, 8, 8, 9, 9}, false));
}

// No tap is seen by all results, rows of the image are whole, paddings differ.
TEST(TapsStage, ComputesAnyWindow) {
  expect_right(Model(1, 12, 13, 48, 65, {5, 1, 9, 1, 18, 20, 0, 0}, true));
  expect_right(Model(1, 10, 12, 64, 48, {2, 4, 9, 10, 10, 3, 16, 17}, true));
  expect_right(Model(1, 3, 4, 80, 96, {3, 3, 20, 20, 42, 30, 40, 41}, true));  // Only the bias.
}

TEST(TapsStage, LeavesTheRestToXnnpack) {
  EXPECT_FALSE(is_better(Model(1, 14, 14, 40, 70, {3, 3, 1, 1, 1, 1, 1, 1}, true).p.finish()));
  EXPECT_FALSE(is_better(Model(1, 14, 14, 8, 8, {3, 3, 12, 12, 12, 12, 12, 12}, true).p.finish()));
}

}  // namespace
}  // namespace taper::xnnpack

#endif  // TAPER_OPTIMIZED
