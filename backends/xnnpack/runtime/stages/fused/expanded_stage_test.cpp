// Tests pointwise and depthwise convolutions that are computed by strips, against their definition
// in double.

#if defined(TAPER_OPTIMIZED)  // Without vectors there is no such stage.

#include "backends/xnnpack/runtime/stages/fused/expanded_stage.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/xnnpack/runtime/stages/own_stage.h"
#include "backends/xnnpack/runtime/stages/stages_for_test.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

enum class After { kBounds, kSwish, kHardswish, kGelu };

struct Form {
  const char* name;
  uint32_t images, height, width, ins, channels;
  uint32_t window, step;
  uint32_t top, bottom;  // Paddings; `top` also left and right.
  After between, after;
  bool has_bias = true;
};

const Form kForms[] = {
    {"a window of 3", 1, 75, 72, 5, 101, 3, 1, 1, 1, After::kBounds, After::kBounds},
    {"step 2", 1, 74, 72, 16, 104, 3, 2, 1, 1, After::kSwish, After::kSwish},
    {"a window of 5", 2, 61, 70, 3, 96, 5, 1, 2, 2, After::kHardswish, After::kHardswish},
    {"a window of 5, step 2", 1, 80, 60, 8, 120, 5, 2, 1, 2, After::kBounds, After::kSwish},
    {"no padding", 1, 79, 73, 4, 100, 3, 1, 0, 0, After::kGelu, After::kBounds, false},
    {"a window of 9, step 2", 1, 90, 64, 4, 96, 9, 2, 4, 4, After::kSwish, After::kBounds},
};

double value_of(After after, double v) {
  switch (after) {
    case After::kBounds:
      return limit(v, -0.5, 2);
    case After::kSwish:
      return swish(v);
    case After::kHardswish:
      return hardswish(v);
    case After::kGelu:
      return gelu(v);
  }
  return v;
}

// y = after(depthwise(between(pointwise(x)))).
struct Model {
  Form form;
  Floats expanding, expanding_bias, filter, bias;
  PayloadBuilder p;

  explicit Model(const Form& f, bool shows_expanded = false)
      : form(f),
        expanding(some_numbers(size_t{f.ins} * f.channels, 31, 1)),
        expanding_bias(some_numbers(f.channels, 7, 1)),
        filter(some_numbers(size_t{f.window} * f.window * f.channels, 17, 0.5f)),
        bias(some_numbers(f.channels, 11, 1)) {
    const uint32_t x = p.input({f.images, f.height, f.width, f.ins});
    const Sizes wide = {f.images, f.height, f.width, f.channels};
    uint32_t expanded = shows_expanded ? p.output(wide) : p.inner(wide);
    p.convolved(x, p.constant({f.channels, 1, 1, f.ins}, expanding),
                f.has_bias ? p.constant({f.channels}, expanding_bias) : UINT32_MAX, expanded, {});
    expanded = followed(f.between, expanded, p.inner(wide));
    const Sizes last = {f.images, out_height(f.height), out_width(f.width), f.channels};
    const uint32_t y = p.output(last);
    const uint32_t result = f.after == After::kBounds ? y : p.inner(last);
    PayloadBuilder::Windows windows = {f.top, f.top, f.bottom, f.top, f.step};
    windows.groups = f.channels;
    p.convolved(expanded, p.constant({1, f.window, f.window, f.channels}, filter),
                p.constant({f.channels}, bias), result, windows);
    followed(f.after, result, y);
  }

  // Adds what follows `value`, and returns its result.
  uint32_t followed(After after, uint32_t value, uint32_t result) {
    switch (after) {
      case After::kBounds:
        p.nodes.back().range = {-0.5f, 2.f};
        return value;
      case After::kSwish:
        p.taper_node(NodeContent::Swish, wire::CreateUnary(p.fbb, value, result).Union());
        return result;
      case After::kHardswish:
        p.unary(NodeContent::Hardswish, value, result);
        return result;
      case After::kGelu:
        p.unary(NodeContent::Gelu, value, result);
        return result;
    }
    return result;
  }

  uint32_t out_height(uint32_t h) const {
    return (h + form.top + form.bottom - form.window) / form.step + 1;
  }
  uint32_t out_width(uint32_t w) const { return (w + 2 * form.top - form.window) / form.step + 1; }

  std::vector<double> expand(const Floats& x) const {
    const size_t pixels = x.size() / form.ins;
    std::vector<double> wide(pixels * form.channels);
    for (size_t i = 0; i < wide.size(); ++i) {
      const size_t c = i % form.channels, pixel = i / form.channels;
      double sum = form.has_bias ? static_cast<double>(expanding_bias[c]) : 0;
      for (size_t k = 0; k < form.ins; ++k) {
        sum += static_cast<double>(x[pixel * form.ins + k]) *
               static_cast<double>(expanding[c * form.ins + k]);
      }
      wide[i] = value_of(form.between, sum);
    }
    return wide;
  }

  // The result at a place, of images of height `h`.
  double expected(const std::vector<double>& wide, uint32_t h, size_t place) const {
    const size_t c = place % form.channels, pixel = place / form.channels;
    const size_t column = pixel % out_width(form.width), row = pixel / out_width(form.width);
    const size_t image = row / out_height(h);
    double sum = static_cast<double>(bias[c]);
    for (uint32_t t = 0; t < form.window * form.window; ++t) {
      const auto i = static_cast<int64_t>(row % out_height(h) * form.step + t / form.window) -
                     int64_t{form.top};
      const auto j = static_cast<int64_t>(column * form.step + t % form.window) - int64_t{form.top};
      if (i < 0 || i >= h || j < 0 || j >= form.width) continue;
      const size_t at = (image * h + static_cast<size_t>(i)) * form.width + static_cast<size_t>(j);
      sum += wide[at * form.channels + c] * static_cast<double>(filter[t * form.channels + c]);
    }
    return value_of(form.after, sum);
  }

  // Computes images of `h` rows; the arguments have room for the largest.
  void expect_right(Loaded& loaded, uint32_t images, uint32_t h) const {
    const auto dim = [](uint32_t size) { return static_cast<int32_t>(size); };
    const size_t most_in = size_t{form.images} * form.height * form.width * form.ins;
    const Floats image = some_numbers(size_t{images} * h * form.width * form.ins, 13, 1);
    HeldFloats x({dim(images), dim(h), dim(form.width), dim(form.ins)}, image, most_in);
    const uint32_t rows = out_height(form.height), columns = out_width(form.width);
    HeldFloats y({dim(form.images), dim(rows), dim(columns), dim(form.channels)},
                 Floats(size_t{form.images} * rows * columns * form.channels));
    const Status status = loaded.run({&x.value, &y.value});
    ASSERT_TRUE(status.ok()) << status.message();
    const Floats got = y.result();
    ASSERT_EQ(got.size(), size_t{images} * out_height(h) * columns * form.channels);
    const std::vector<double> wide = expand(image);
    for (size_t i = 0; i < got.size(); ++i) {
      const double want = expected(wide, h, i);
      ASSERT_NEAR(got[i], want, 2e-5 * std::fmax(1, std::abs(want))) << i;
    }
  }
};

TEST(ExpandedStage, ComputesWhatTheConvolutionsDo) {
  for (const Form& form : kForms) {
    for (const uint32_t threads : {1u, 3u}) {
      SCOPED_TRACE(testing::Message() << form.name << ", " << threads << " threads");
      Model model(form);
      Loaded loaded(model.p.finish(), on_threads(threads));
      ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
      model.expect_right(loaded, form.images, form.height);
      model.expect_right(loaded, 1, form.window + 2);  // Less than a strip.
    }
  }
}

// How many nodes from the first on the stage computes.
size_t taken(const Form& form, bool shows_expanded = false) {
  Model model(form, shows_expanded);
  const ReadGraph read(model.p.finish());
  return ExpandedStage::find(read.graph, read.uses(), 0).count;
}

TEST(ExpandedStage, TakesConvolutionsWithALargeValueBetween) {
  if (!has_own_stages()) GTEST_SKIP() << "no vectors";
  if (taken(kForms[2]) == 0) GTEST_SKIP() << "this processor has other products";
  EXPECT_EQ(taken(kForms[2]), 4u);
  Form form = kForms[3];
  EXPECT_EQ(taken(form), 3u);
  EXPECT_EQ(taken(form, true), 0u) << "the value is a result";
  form.height = 70;
  EXPECT_EQ(taken(form), 0u) << "a small value";
  form.height = 17;
  form.width = 400;
  EXPECT_EQ(taken(form), 0u) << "a value of few strips";
  form = kForms[3];
  form.bottom = 5;
  EXPECT_EQ(taken(form), 0u) << "windows in the padding";
}

}  // namespace
}  // namespace taper::xnnpack

#endif  // defined(TAPER_OPTIMIZED)
