// Tests convolutions between planes as stages, against their definition in double.

#include "backends/xnnpack/runtime/stages/fused/plane_convolution_stage.h"

#include <gtest/gtest.h>

#include "backends/xnnpack/runtime/stages/stages_for_test.h"

namespace taper::xnnpack {
namespace {

using Windows = PayloadBuilder::Windows;

uint32_t number_of_results(uint32_t size, uint32_t window, uint32_t padding, uint32_t step,
                           uint32_t dilation) {
  return (size + 2 * padding - (window - 1) * dilation - 1) / step + 1;
}

// What is convolved: `down` x `across` windows over images of groups with these channels.
struct Case {
  uint32_t groups, ins, outs, down, across;
  Windows windows = {};
  uint32_t height = 19, width = 37;
  bool is_depthwise = false;  // As a node of that kind, whose filter has the channels last.
};

// Planes to channels last, a convolution that is clamped to [-2, 3], and back. Images of height 0
// are lines, which are reshaped to images of one row and back.
struct Model {
  static constexpr uint32_t kImages = 2;
  Case c;
  uint32_t height, in_channels, out_channels;
  Floats filter, bias;
  PayloadBuilder p;

  explicit Model(const Case& made, bool is_read_twice = false)
      : c(made),
        height(std::max(1u, c.height)),
        in_channels(c.groups * c.ins),
        out_channels(c.groups * c.outs),
        filter(some_numbers(size_t{out_channels} * c.ins * c.down * c.across, 31, 1)),
        bias(some_numbers(out_channels, 7, 1)) {
    c.windows.groups = c.groups;
    const Sizes rows = {kImages, height, c.width, in_channels};
    const Sizes results = {kImages, out_height(height), out_width(c.width), out_channels};
    const bool is_line = c.height == 0;
    const uint32_t x = p.input(planes(rows));
    uint32_t moved = p.inner(last(rows));
    p.transposed(x, turn(false), moved);
    if (is_line) {
      const uint32_t image = p.inner(rows);
      p.reshaped(moved, rows, image);
      moved = image;
    }
    const uint32_t made_here = is_read_twice ? p.output(results) : p.inner(results);
    const Sizes window = c.is_depthwise ? Sizes{1, c.down, c.across, out_channels}
                                        : Sizes{out_channels, c.down, c.across, c.ins};
    p.convolved(moved, p.constant(window, filter), p.constant({out_channels}, bias), made_here,
                c.windows);
    p.nodes.back().range = {-2.f, 3.f};
    uint32_t result = made_here;
    if (is_line) {
      result = p.inner(last(results));
      p.reshaped(made_here, last(results), result);
    }
    p.transposed(result, turn(true), p.output(planes(results)));
  }

  uint32_t out_height(uint32_t rows) const {
    return number_of_results(rows, c.down, c.windows.top, c.windows.step, c.windows.dilation_down);
  }
  uint32_t out_width(uint32_t columns) const {
    return number_of_results(columns, c.across, c.windows.left,
                             c.windows.step_across.value_or(c.windows.step),
                             c.windows.dilation_across);
  }
  // Sizes of [images, height, width, channels], without the height of lines.
  Sizes last(const Sizes& s) const { return c.height == 0 ? Sizes{s[0], s[2], s[3]} : s; }
  Sizes planes(const Sizes& s) const {
    return c.height == 0 ? Sizes{s[0], s[3], s[2]} : Sizes{s[0], s[3], s[1], s[2]};
  }
  Sizes turn(bool is_back) const {
    if (c.height == 0) return {0, 2, 1};
    return is_back ? Sizes{0, 3, 1, 2} : Sizes{0, 2, 3, 1};
  }

  // The factor of a tap for channel `i` of the group of result `o`.
  double factor(uint32_t o, uint32_t i, uint32_t tap) const {
    const size_t taps = size_t{c.down} * c.across;
    return c.is_depthwise ? filter[tap * out_channels + o] : filter[(o * taps + tap) * c.ins + i];
  }

  double expected(const Floats& x, size_t image, uint32_t o, int64_t row, int64_t column,
                  int64_t rows, int64_t columns) const {
    double sum = static_cast<double>(bias[o]);
    const int64_t step = c.windows.step, across = c.windows.step_across.value_or(c.windows.step);
    for (uint32_t i = 0; i < c.ins; ++i) {
      const size_t plane = image * in_channels + o / c.outs * c.ins + i;
      for (uint32_t tap = 0; tap < c.down * c.across; ++tap) {
        const int64_t y = row * step + tap / c.across * c.windows.dilation_down - c.windows.top;
        const int64_t z =
            column * across + tap % c.across * c.windows.dilation_across - c.windows.left;
        if (y < 0 || y >= rows || z < 0 || z >= columns) continue;
        const auto at = static_cast<size_t>((static_cast<int64_t>(plane) * rows + y) * columns + z);
        sum += static_cast<double>(x[at]) * factor(o, i, tap);
      }
    }
    return limit(sum, -2, 3);
  }

  // Runs so many images of these sizes.
  void expect_right(Loaded& loaded, uint32_t images, uint32_t rows, uint32_t columns) const {
    const auto narrow = [](const Sizes& sizes) {
      return std::vector<int32_t>(sizes.begin(), sizes.end());
    };
    const uint32_t out_rows = out_height(rows), out_columns = out_width(columns);
    const size_t area = size_t{out_rows} * out_columns;
    const Floats data = some_numbers(size_t{images} * in_channels * rows * columns, 13, 2);
    HeldFloats x(narrow(planes({images, rows, columns, in_channels})), data,
                 size_t{kImages} * in_channels * height * c.width);
    const Sizes most = {kImages, out_height(height), out_width(c.width), out_channels};
    HeldFloats y(narrow(planes(most)), Floats(size_t{most[0]} * most[1] * most[2] * most[3]));
    const Status status = loaded.run({&x.value, &y.value});
    ASSERT_TRUE(status.ok()) << status.message();
    const Floats got = y.result();
    ASSERT_EQ(got.size(), images * out_channels * area);
    for (size_t i = 0; i < got.size(); ++i) {
      const auto o = static_cast<uint32_t>(i / area % out_channels);
      const auto place = static_cast<int64_t>(i % area);
      ASSERT_NEAR(got[i],
                  expected(data, i / area / out_channels, o, place / out_columns,
                           place % out_columns, rows, columns),
                  1e-4)
          << i;
    }
  }
};

// How many nodes from the first on the stage computes.
size_t taken(const Case& c, bool is_read_twice = false) {
  Model model(c, is_read_twice);
  const ReadGraph read(model.p.finish());
  return PlaneConvolutionStage::count(read.graph, read.uses(), 0);
}

Windows steps(uint32_t down, uint32_t across, uint32_t padding = 0) {
  Windows windows = Windows::padded(padding);
  windows.step = down;
  windows.step_across = across;
  return windows;
}

Windows dilated(uint32_t down, uint32_t across, uint32_t padding) {
  Windows windows = Windows::padded(padding);
  windows.dilation_down = down;
  windows.dilation_across = across;
  return windows;
}

TEST(PlaneConvolutionStage, ComputesConvolutionsWithoutTransposes) {
  const Case cases[] = {
      {1, 24, 10, 1, 1},                                  // Pixels.
      {4, 16, 16, 1, 1},                                  //
      {7, 1, 1, 1, 1, steps(3, 3), 140, 161, true},       //
      {5, 1, 1, 3, 3, Windows::padded(1), 19, 37, true},  // Depthwise.
      {5, 1, 1, 3, 3, steps(2, 2, 1), 30, 53, true},      //
      {3, 1, 2, 3, 3, Windows::padded(1), 19, 37, true},  //
      {6, 4, 4, 3, 3, Windows::padded(1)},                // Groups.
      {4, 16, 16, 3, 1, steps(2, 2), 30, 31},             //
      {3, 4, 5, 3, 3, dilated(2, 3, 3)},                  //
      {1, 8, 8, 3, 3, Windows::padded(1)},                // To few channels.
      {1, 24, 3, 3, 3, Windows::padded(1)},               //
      {8, 2, 3, 1, 5, {0, 2, 0, 2}, 0, 201},              // Lines.
      {4, 16, 16, 1, 1, {}, 0, 201},                      //
      {6, 1, 2, 1, 3, {0, 1, 0, 1}, 0, 601, true},        //
  };
  for (const Case& c : cases) {
    for (const uint32_t threads : {1u, 3u}) {
      SCOPED_TRACE(testing::Message() << c.groups << " groups, " << c.ins << " -> " << c.outs
                                      << ", " << c.down << " x " << c.across);
      Model model(c);
      EXPECT_EQ(taken(c), c.height == 0 ? 5u : 3u);
      Loaded loaded(model.p.finish(), on_threads(threads));
      ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
      model.expect_right(loaded, Model::kImages, model.height, c.width);
      if (c.height != 0) model.expect_right(loaded, 1, 9, 11);
    }
  }
}

TEST(PlaneConvolutionStage, OthersStay) {
  const Case usual = {6, 4, 4, 3, 3, Windows::padded(1)};
  EXPECT_EQ(taken(usual), 3u);
  EXPECT_EQ(taken(usual, true), 0u) << "others read what the convolution computes";
  EXPECT_EQ(taken({6, 16, 16, 3, 3, Windows::padded(1)}), 0u) << "many terms";
  EXPECT_EQ(taken({1, 80, 80, 1, 1}), 0u) << "many channels";
  EXPECT_EQ(taken({6, 4, 4, 3, 3, Windows::padded(1), 3, 4}), 0u) << "too small for a stage";
}

// Reshapes that move channels, or planes to other images, are not those of lines.
TEST(PlaneConvolutionStage, ReshapesOfOtherKindsStay) {
  const auto count = [](const Sizes& image, const Sizes& result, const Sizes& last) {
    PayloadBuilder p;
    const uint32_t x = p.input({2, 16, 400}), moved = p.inner({2, 400, 16});
    const uint32_t before = p.inner(image), after = p.inner(result), back = p.inner(last);
    const uint32_t ins = image[3], outs = result[3];
    p.transposed(x, {0, 2, 1}, moved);
    p.reshaped(moved, image, before);
    p.convolved(before, p.constant({outs, 1, 1, ins}, some_numbers(size_t{outs} * ins, 7)),
                p.constant({outs}, some_numbers(outs, 3)), after, {});
    p.reshaped(after, last, back);
    p.transposed(back, {0, 2, 1}, p.output({last[0], last[2], last[1]}));
    const ReadGraph read(p.finish());
    return PlaneConvolutionStage::count(read.graph, read.uses(), 0);
  };
  EXPECT_EQ(count({2, 1, 400, 16}, {2, 1, 400, 16}, {2, 400, 16}), 5u);
  EXPECT_EQ(count({2, 20, 20, 16}, {2, 20, 20, 16}, {2, 400, 16}), 5u);
  EXPECT_EQ(count({2, 1, 800, 8}, {2, 1, 800, 8}, {2, 400, 16}), 0u);
  EXPECT_EQ(count({2, 1, 400, 16}, {2, 1, 400, 8}, {2, 200, 16}), 0u);
  EXPECT_EQ(count({2, 1, 400, 16}, {2, 1, 400, 16}, {4, 200, 16}), 0u);
}

}  // namespace
}  // namespace taper::xnnpack
