// Transposed convolutions in channels last at every level that this processor supports, against
// their definition in double.

#include "kernels_optimized/cores/transposed/transposed.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "kernels_optimized/cores/gemm.h"
#include "kernels_optimized/engine/dispatch.h"
#include "test/support/numbers.h"

namespace taper::optimized {
namespace {

constexpr float kLow = -2, kHigh = 3;

struct Case {
  TransposedShape shape;
  int64_t filter_depth;
  std::vector<float> image, filter, bias;

  Case(TransposedShape s, bool has_bias)
      : shape(s),
        filter_depth(s.is_depthwise ? 1 : s.channels),
        image(test::numbers(s.images * s.height * s.width * s.channels, 31)),
        filter(test::numbers(s.columns() * filter_depth, 7)),
        bias(has_bias ? test::numbers(s.out_channels, 3) : std::vector<float>()) {}

  // Each input pixel times its window, added where it lands.
  std::vector<double> expected() const {
    const TransposedShape& s = shape;
    const int64_t pixels = s.images * s.out_height * s.out_width;
    std::vector<double> sums(static_cast<size_t>(pixels * s.out_channels));
    for (size_t i = 0; i < sums.size() && !bias.empty(); ++i) {
      sums[i] = static_cast<double>(bias[i % bias.size()]);
    }
    const int64_t taps = s.taps();
    for (int64_t p = 0; p < s.images * s.height * s.width; ++p) {
      for (int64_t t = 0; t < taps; ++t) {
        const int64_t down = p / s.width % s.height * s.step_down - s.padding_top +
                             t / s.window_width * s.dilation_down;
        const int64_t across =
            p % s.width * s.step_across - s.padding_left + t % s.window_width * s.dilation_across;
        if (down < 0 || down >= s.out_height || across < 0 || across >= s.out_width) continue;
        const int64_t image_row = p / s.width / s.height * s.out_height + down;
        const int64_t place = (image_row * s.out_width + across) * s.out_channels;
        for (int64_t o = 0; o < s.out_channels; ++o) sums[at(place + o)] += product(p, t, o);
      }
    }
    for (double& sum : sums) {
      sum = std::fmin(std::fmax(sum, static_cast<double>(kLow)), static_cast<double>(kHigh));
    }
    return sums;
  }

  // Pixel p times tap t of output channel o.
  double product(int64_t p, int64_t t, int64_t o) const {
    double sum = 0;
    const int64_t tap = shape.is_turned ? shape.taps() - 1 - t : t;
    for (int64_t k = 0; k < filter_depth; ++k) {
      const int64_t c = shape.is_depthwise ? o : k;
      sum += static_cast<double>(image[at(p * shape.channels + c)]) *
             static_cast<double>(filter[at((o * shape.taps() + tap) * filter_depth + k)]);
    }
    return sum;
  }

  // Computes it in parts of three rows, and checks that nothing is written beyond.
  void expect_right() const {
    const std::vector<double> want = expected();
    std::vector<float> packed(at(transposed_filter_floats(shape))),
        packing(at(transposed_packing_floats(shape))), scratch(at(transposed_scratch(shape))),
        out(want.size() + 1, 77);
    pack_transposed(shape, filter.data(), packing.data(), packed.data());
    TransposedData data;
    data.image = image.data();
    data.filter = packed.data();
    data.bias = bias.empty() ? nullptr : bias.data();
    data.out = out.data();
    data.bounds = {kLow, kHigh};
    for (int64_t i = 0; i < shape.images; ++i) {
      for (int64_t row = 0; row < shape.out_height; row += 3) {
        const int64_t rows = std::min(int64_t{3}, shape.out_height - row);
        transposed(shape, data, i, row, rows, scratch.data());
      }
    }
    for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(out[i], want[i], 1e-4) << i;
    EXPECT_EQ(out.back(), 77);
  }

  static size_t at(int64_t index) { return static_cast<size_t>(index); }
};

// Windows of `window`, `step` apart, of two images of 7 x 5 pixels.
TransposedShape shape_of(int64_t window, int64_t step, int64_t padding, int64_t adjustment) {
  TransposedShape s;
  s.images = 2;
  s.height = 7;
  s.width = 5;
  s.window_height = s.window_width = window;
  s.step_down = s.step_across = step;
  s.padding_top = s.padding_left = padding;
  s.out_height = (s.height - 1) * step + window - 2 * padding + adjustment;
  s.out_width = (s.width - 1) * step + window - 2 * padding + adjustment;
  return s;
}

const TransposedShape kWindows[] = {
    shape_of(2, 2, 0, 0), shape_of(4, 2, 1, 0), shape_of(3, 2, 1, 1), shape_of(3, 1, 1, 0),
    shape_of(5, 3, 0, 2), shape_of(1, 3, 0, 1), shape_of(6, 2, 5, 0)};

template <typename Check>
void at_every_level(const Check& check) {
  for (Level limit : kLevels) {
    limit_level(limit);
    if (has_vectors()) check();
  }
  limit_level(Level::kAvx512);
}

TEST(Transposed, OfFewOutputChannels) {
  at_every_level([] {
    for (TransposedShape s : kWindows) {
      for (int64_t channels : {1, 3, 40}) {
        for (int64_t outs : {1, 2, 3, 8, 21}) {
          s.channels = channels;
          s.out_channels = outs;
          Case(s, outs != 3).expect_right();
        }
      }
    }
  });
}

TEST(Transposed, OfEachChannelByItself) {
  at_every_level([] {
    for (TransposedShape s : kWindows) {
      for (int64_t channels : {1, 5, 8, 16, 43}) {
        s.channels = s.out_channels = channels;
        s.is_depthwise = true;
        Case(s, channels != 5).expect_right();
      }
    }
  });
}

TEST(Transposed, OfWindowsTurnedAround) {
  at_every_level([] {
    for (TransposedShape s : {shape_of(3, 1, 1, 0), shape_of(7, 1, 3, 0), shape_of(3, 1, -2, 0)}) {
      s.channels = 9;
      s.out_channels = 3;
      s.is_turned = true;
      Case(s, true).expect_right();
    }
  });
}

TEST(Transposed, OfDilatedWindowsAndDifferentSteps) {
  at_every_level([] {
    TransposedShape s = shape_of(3, 2, 0, 0);
    s.dilation_down = 2;
    s.dilation_across = 3;
    s.step_across = 1;
    s.padding_left = 1;
    s.out_height += 2;
    s.out_width = s.width - 1 + 7 - 2;
    s.channels = 9;
    s.out_channels = 4;
    Case(s, true).expect_right();
  });
}

}  // namespace
}  // namespace taper::optimized
