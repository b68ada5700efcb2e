// Tests layers and convolutions of bfloat16 as stages, against their definition in double: factors
// are rounded, sums are not.

#include "backends/xnnpack/runtime/stages/bfloat_stage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "backends/xnnpack/runtime/stages/own_stage.h"
#include "backends/xnnpack/runtime/stages/stages_for_test.h"
#include "kernels_portable/engine/half.h"
#include "test/support/scratch_folder.h"

namespace taper::xnnpack {
namespace {

Specs prefers_bfloat(uint8_t value = 1) { return Specs("prefer_bfloat16", {value}); }

XnnpackOptions with(Numbers numbers, uint32_t threads = 1) {
  XnnpackOptions options = Loaded::one_thread();
  options.threads = threads;
  options.wake_seconds = 0;
  options.numbers = numbers;
  return options;
}

double rounded(float value) {
  return static_cast<double>(portable::bfloat16_to_float(portable::float_to_bfloat16(value)));
}

class BfloatStages : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(xnn_initialize(nullptr), xnn_status_success);
    if (!computes_in_bfloat(Numbers::kRounded)) GTEST_SKIP() << "no vectors for this processor";
  }
};

struct Window {
  uint32_t size, step, dilation, padding;
};

// y = max(-1, conv(x) + bias) of images [1, height, width, ins].
struct Convolution {
  uint32_t ins, outs;
  Window window;
  Floats filter, bias;
  PayloadBuilder p;

  Convolution(uint32_t ins, uint32_t outs, const Window& window, uint32_t size)
      : ins(ins),
        outs(outs),
        window(window),
        filter(some_numbers(size_t{outs} * window.size * window.size * ins, 31, 1)),
        bias(some_numbers(outs, 7, 1)) {
    const uint32_t w = window.size, out = result_size(size);
    const uint32_t x = p.input({1, size, size, ins}), y = p.output({1, out, out, outs});
    const uint32_t weights = p.constant({outs, w, w, ins}, filter);
    const uint32_t biases = p.constant({outs}, bias);
    const uint32_t padding = window.padding, dilation = window.dilation;
    p.convolved(x, weights, biases, y,
                {padding, padding, padding, padding, window.step, dilation, dilation});
    p.nodes.back().range = {-1.f, 1e30f};
  }

  uint32_t result_size(uint32_t size) const {
    return (size + 2 * window.padding - (window.size - 1) * window.dilation - 1) / window.step + 1;
  }

  // The sum for a result, and in `sizes` that of the sizes of its products.
  double expected(const Floats& x, int64_t size, int64_t row, int64_t column, uint32_t o,
                  double& sizes) const {
    double sum = static_cast<double>(bias[o]);
    const uint32_t terms = window.size * window.size * ins;
    for (uint32_t t = 0; t < terms; ++t) {
      const uint32_t tap = t / ins;
      const int64_t y = row * window.step + tap / window.size * window.dilation - window.padding;
      const int64_t z = column * window.step + tap % window.size * window.dilation - window.padding;
      if (y < 0 || y >= size || z < 0 || z >= size) continue;
      const double product = rounded(x[static_cast<size_t>((y * size + z) * ins + t % ins)]) *
                             rounded(filter[o * terms + t]);
      sum += product;
      sizes += std::fabs(product);
    }
    return std::fmax(sum, -1);
  }

  void expect_right(Loaded& loaded, uint32_t size) const {
    const Floats image = some_numbers(size_t{size} * size * ins, 13, 1);
    const auto out = result_size(size);
    HeldFloats x(
        {1, static_cast<int32_t>(size), static_cast<int32_t>(size), static_cast<int32_t>(ins)},
        image, size_t{20} * 20 * ins);
    HeldFloats y({1, 20, 20, static_cast<int32_t>(outs)}, Floats(size_t{20} * 20 * outs));
    const Status status = loaded.run({&x.value, &y.value});
    ASSERT_TRUE(status.ok()) << status.message();
    const Floats got = y.result();
    ASSERT_EQ(got.size(), size_t{out} * out * outs);
    for (size_t i = 0; i < got.size(); ++i) {
      const auto pixel = static_cast<int64_t>(i / outs);
      double sizes = 1;
      const double wanted =
          expected(image, size, pixel / out, pixel % out, static_cast<uint32_t>(i % outs), sizes);
      ASSERT_NEAR(got[i], wanted, sizes * 0x1p-20) << i;
    }
  }
};

// With and without windows, neighbours that are copied together or not, channels that leave a rest
// and channels that fill pieces.
TEST_F(BfloatStages, ConvolutionsAreSumsOfRoundedFactors) {
  const Window windows[] = {{1, 1, 1, 0}, {3, 1, 1, 1}, {3, 2, 1, 1}, {3, 1, 2, 2},
                            {1, 2, 1, 0}, {5, 3, 1, 4}, {2, 1, 1, 0}};
  for (const Window& window : windows) {
    for (const auto& [ins, outs] : {std::pair(16u, 48u), {21u, 50u}, {64u, 17u}}) {
      SCOPED_TRACE(testing::Message()
                   << window.size << " " << window.step << " " << window.dilation << " " << ins);
      Convolution c(ins, outs, window, 20);
      XnnpackBackend backend(with(Numbers::kRounded, 2));
      const Specs specs = prefers_bfloat();
      Loaded loaded(c.p.finish(), backend, "forward", specs);
      ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
      c.expect_right(loaded, 20);
      c.expect_right(loaded, 11);
    }
  }
}

// y = x * w, of `rows` rows of 64 and 80 columns.
struct Layer {
  PayloadBuilder p;
  uint32_t rows;
  Floats weights = some_numbers(64 * 80, 29, 1);

  explicit Layer(uint32_t rows) : rows(rows) {
    const uint32_t x = p.input({rows, 64}), y = p.output({rows, 80});
    p.connected(x, p.constant({80, 64}, weights), p.constant({80}, Floats(80)), y);
  }

  Floats in() const { return some_numbers(size_t{rows} * 64, 17, 1); }
  Floats run(Loaded& loaded) const {
    EXPECT_TRUE(loaded.status.ok()) << loaded.status.message();
    const auto count = static_cast<int32_t>(rows);
    HeldFloats x({count, 64}, in()), y({count, 80}, Floats(size_t{rows} * 80));
    const Status status = loaded.run({&x.value, &y.value});
    EXPECT_TRUE(status.ok()) << status.message();
    return y.result();
  }
  // Whether results are sums of rounded factors, or of the factors themselves.
  bool is_rounded(const Floats& got) const {
    const Floats x = in();
    double far = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      double exact = 0, sum = 0;
      for (size_t k = 0; k < 64; ++k) {
        const float a = x[i / 80 * 64 + k], b = weights[i % 80 * 64 + k];
        exact += static_cast<double>(a) * static_cast<double>(b);
        sum += rounded(a) * rounded(b);
      }
      const double value = static_cast<double>(got[i]);
      const bool is_sum = std::fabs(value - sum) < 1e-4;
      EXPECT_TRUE(is_sum || std::fabs(value - exact) < 1e-4) << i;
      far = std::fmax(far, std::fabs(value - exact));
    }
    return far > 1e-3;
  }
};

TEST_F(BfloatStages, LayersAreRoundedWhereTheProcessorOrTheCallerSaysSo) {
  const auto rounds = [](Numbers numbers, const Specs& specs) {
    Layer layer(40);
    XnnpackBackend backend(with(numbers));
    Loaded loaded(layer.p.finish(), backend, "forward", specs);
    return layer.is_rounded(layer.run(loaded));
  };
  EXPECT_TRUE(rounds(Numbers::kRounded, prefers_bfloat()));
  EXPECT_FALSE(rounds(Numbers::kRounded, prefers_bfloat(0)));
  EXPECT_FALSE(rounds(Numbers::kExact, prefers_bfloat()));
  EXPECT_EQ(rounds(Numbers::kOwn, prefers_bfloat()), computes_in_bfloat(Numbers::kOwn));
}

// A stage costs more than a layer of so few products, and XNNPACK's are float32.
TEST_F(BfloatStages, SmallLayersStayFloat32) {
  Layer layer(2);
  XnnpackBackend backend(with(Numbers::kRounded));
  const Specs specs = prefers_bfloat();
  Loaded loaded(layer.p.finish(), backend, "forward", specs);
  EXPECT_FALSE(layer.is_rounded(layer.run(loaded)));
}

// Packed once, for this precision alone.
TEST_F(BfloatStages, PackedWeightsAreKept) {
  const test::ScratchFolder folder;
  const std::string path = folder / "model.xnncache";
  const struct {
    Numbers numbers;
    uint32_t found;
  } runs[] = {{Numbers::kExact, 0}, {Numbers::kRounded, 0}, {Numbers::kRounded, 1}};
  for (const auto& run : runs) {
    XnnpackOptions options = with(run.numbers);
    options.cache_path = path.c_str();
    XnnpackBackend backend(options);
    Layer layer(40);
    const Specs specs = prefers_bfloat();
    Loaded loaded(layer.p.finish(), backend, "forward", specs);
    EXPECT_EQ(layer.is_rounded(layer.run(loaded)), run.numbers == Numbers::kRounded);
    EXPECT_EQ(backend.cache_report().found, run.found);
    EXPECT_TRUE(backend.save_packed().ok());
  }
}

TEST_F(BfloatStages, AFlagIsOneByte) {
  Layer layer(40);
  XnnpackBackend backend(with(Numbers::kOwn));
  const Specs specs = prefers_bfloat(2);
  const Loaded loaded(layer.p.finish(), backend, "forward", specs);
  EXPECT_EQ(loaded.status.error(), Error::kDelegateInvalidCompatibility);
  EXPECT_STREQ(loaded.status.message(),
               "the compile spec prefer_bfloat16 is not one byte that is 0 or 1");
}

}  // namespace
}  // namespace taper::xnnpack
