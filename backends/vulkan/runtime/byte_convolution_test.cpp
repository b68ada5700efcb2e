// Convolutions with weights of bytes, on lavapipe and on the kernels, against sums of integers: all
// numbers are small integers, scales are powers of two, so that floats are exact.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "backends/vulkan/runtime/gpu/backend_for_test.h"

namespace taper::vulkan {
namespace {

using Sizes = std::vector<int64_t>;

int64_t product(const Sizes& sizes) {
  int64_t all = 1;
  for (const int64_t size : sizes) all *= size;
  return all;
}

// Images of three dimensions, of which some are 1.
struct Case {
  int64_t images, groups, group_in, group_out;
  Sizes in, window;
  int64_t stride, pad, dilation;
  bool transposed;

  int64_t out(size_t d) const {
    const int64_t reach = dilation * (window[d] - 1);
    return transposed ? (in[d] - 1) * stride - 2 * pad + reach + 1
                      : (in[d] + 2 * pad - reach - 1) / stride + 1;
  }
  Sizes out() const {
    Sizes sizes;
    for (size_t d = 0; d < in.size(); ++d) sizes.push_back(out(d));
    return sizes;
  }
};

// Calls visit(index, place) for every place within sizes.
void for_each_place(const Sizes& sizes, const std::function<void(int64_t, const Sizes&)>& visit) {
  for (int64_t i = 0; i < product(sizes); ++i) {
    Sizes place(sizes.size());
    int64_t rest = i;
    for (size_t d = sizes.size(); d-- > 0; rest /= sizes[d]) place[d] = rest % sizes[d];
    visit(i, place);
  }
}

class ByteConvolutions : public testing::TestWithParam<Case> {
 protected:
  ByteConvolutions() : c(GetParam()) {
    std::mt19937 random(1);
    const int64_t channels = c.groups * c.group_out;
    for (int64_t i = 0; i < c.images * c.groups * c.group_in * product(c.in); ++i) {
      x.push_back(static_cast<float>(random() % 17) - 8);
    }
    for (int64_t i = 0; i < channels * c.group_in * product(c.window); ++i) {
      weights.push_back(static_cast<int8_t>(random() % 256 - 128));
    }
    for (int64_t i = 0; i < channels; ++i) {
      scales.push_back(i % 3 == 0 ? 0.25F : 2.0F);
      bias.push_back(static_cast<float>(i));
    }
  }

  // Scatters every pixel, or gathers it.
  std::vector<float> expected() const {
    const Sizes out = c.out();
    const int64_t channels = c.groups * c.group_out, pixels = product(c.in), outs = product(out);
    std::vector<int64_t> sums(static_cast<size_t>(c.images * channels * outs));
    for_each_place({c.images, channels, c.group_in}, [&](int64_t, const Sizes& at) {
      const int64_t group = at[1] / c.group_out;
      const int64_t image = ((at[0] * c.groups + group) * c.group_in + at[2]) * pixels;
      const int64_t row = (at[1] * c.group_in + at[2]) * product(c.window);
      for_each_place(c.transposed ? c.in : out, [&](int64_t i, const Sizes& place) {
        for_each_place(c.window, [&](int64_t k, const Sizes& step) {
          int64_t other = 0;
          for (size_t d = 0; d < out.size(); ++d) {
            const int64_t size = c.transposed ? out[d] : c.in[d];
            const int64_t to = place[d] * c.stride - c.pad + step[d] * c.dilation;
            other = other < 0 || to < 0 || to >= size ? -1 : other * size + to;
          }
          if (other < 0) return;
          const int64_t from = image + (c.transposed ? i : other);
          const int64_t to = (at[0] * channels + at[1]) * outs + (c.transposed ? other : i);
          sums[static_cast<size_t>(to)] += static_cast<int64_t>(x[static_cast<size_t>(from)]) *
                                           weights[static_cast<size_t>(row + k)];
        });
      });
    });
    std::vector<float> result;
    for (size_t i = 0; i < sums.size(); ++i) {
      const size_t channel = i / static_cast<size_t>(outs) % scales.size();
      result.push_back(static_cast<float>(sums[i]) * scales[channel] + bias[channel]);
    }
    return result;
  }

  std::vector<int32_t> sizes_of(int64_t channels, const Sizes& image) const {
    std::vector<int32_t> sizes = {static_cast<int32_t>(c.images), static_cast<int32_t>(channels)};
    sizes.insert(sizes.end(), image.begin(), image.end());
    return sizes;
  }

  // The image may be given as integers, which stand for (q - kZero) * kScale.
  std::vector<uint8_t> payload(bool of_integers) const {
    PayloadBuilder p;
    const auto unsign = [](const std::vector<int32_t>& from) {
      return PayloadBuilder::Sizes(from.begin(), from.end());
    };
    const int64_t channels = c.groups * c.group_out;
    const PayloadBuilder::Sizes in = unsign(sizes_of(c.groups * c.group_in, c.in));
    const auto image = of_integers ? p.tensor(in) : p.input(in);
    if (of_integers) {
      const auto q = p.tensor(in, wire::DataType::UInt8), none = p.none();
      p.inputs.push_back(static_cast<uint32_t>(q));
      p.call(
          "quantized_decomposed.dequantize_per_tensor.default",
          {q, p.real(kScale), p.integer(kZero), p.integer(0), p.integer(255), none, none, image});
    }
    PayloadBuilder::Sizes sizes = {static_cast<uint32_t>(channels),
                                   static_cast<uint32_t>(c.group_in)};
    sizes.insert(sizes.end(), c.window.begin(), c.window.end());
    const PayloadBuilder::Sizes by_channel = {static_cast<uint32_t>(channels)};
    const auto bytes = p.signed_bytes(sizes, weights), by = p.constant(by_channel, scales);
    const auto added = p.constant(by_channel, bias);
    const auto stride = p.integers({c.stride}), pad = p.integers({c.pad});
    const auto dilation = p.integers({c.dilation}), extra = p.integers({0});
    const auto transposed = p.flag(c.transposed), groups = p.integer(c.groups);
    const auto y = p.tensor(unsign(sizes_of(channels, c.out())));
    p.call(c.transposed ? "taper.transposed_convolution_q8csw.default"
                        : "taper.convolution_q8csw.default",
           {image, bytes, by, added, stride, pad, dilation, transposed, extra, groups, y});
    p.output(y);
    return p.finish();
  }

  void check(const std::string& device, bool of_integers = false) {
    VulkanOptions options;
    options.device = device;
    VulkanBackend backend(options);
    LoadedPayload loaded(backend, {}, payload(of_integers));
    if (loaded.status.error() == Error::kNotFound) GTEST_SKIP() << device << " is not installed";
    ASSERT_STREQ(loaded.status.message(), "");
    const std::vector<int32_t> in = sizes_of(c.groups * c.group_in, c.in);
    test::TestTensor floats(ScalarType::kFloat, in), integers(ScalarType::kByte, in);
    test::TestTensor y(ScalarType::kFloat, sizes_of(c.groups * c.group_out, c.out()));
    std::copy(x.begin(), x.end(), floats->mutable_data_ptr<float>());
    std::transform(x.begin(), x.end(), integers->mutable_data_ptr<uint8_t>(),
                   [](float number) { return static_cast<uint8_t>(number / kScale + kZero); });
    ASSERT_STREQ(loaded.run(of_integers ? integers : floats, y).message(), "");
    EXPECT_EQ(y.values<float>(), expected());
  }

  static constexpr int kZero = 131;
  static constexpr float kScale = 0.5F;

  const Case c;
  std::vector<float> x, scales, bias;
  std::vector<int8_t> weights;
};

TEST_P(ByteConvolutions, OnLavapipeAreSumsOfIntegers) { check("llvmpipe"); }
TEST_P(ByteConvolutions, OnTheKernelsAreSumsOfIntegers) { check("none"); }
// Lavapipe has products of bytes, so gemm_bytes.comp computes these.
TEST_P(ByteConvolutions, OfIntegersOnLavapipe) { check("llvmpipe", true); }
TEST_P(ByteConvolutions, OfIntegersOnTheKernels) { check("none", true); }
// A GPU, if there is one, may have matrix units for bytes.
TEST_P(ByteConvolutions, OfIntegersOnTheFirstDevice) { check("", true); }

const Case kCases[] = {
    {1, 1, 3, 5, {7, 6}, {3, 3}, 2, 1, 1, false},
    {2, 2, 8, 4, {5, 4}, {2, 2}, 1, 0, 2, false},
    {1, 1, 16, 70, {9, 9}, {1, 1}, 1, 0, 1, false},
    {2, 6, 1, 1, {6, 5}, {3, 3}, 1, 1, 1, false},
    {1, 3, 2, 2, {9}, {3}, 2, 1, 1, false},
    {1, 1, 4, 3, {3, 4, 5}, {2, 2, 3}, 1, 1, 1, false},
    {2, 1, 5, 3, {4, 3}, {3, 2}, 2, 1, 1, true},
    {1, 2, 3, 2, {4, 4}, {2, 2}, 2, 0, 1, true},
    {1, 1, 600, 2, {2, 2}, {1, 1}, 1, 0, 1, false},
    {1, 1, 10, 40, {20, 20}, {3, 3}, 1, 1, 1, false},
    {1, 1, 33, 130, {13, 9}, {1, 1}, 1, 0, 1, false},
    {1, 2, 21, 65, {11, 11}, {3, 3}, 1, 1, 1, false},
};

INSTANTIATE_TEST_SUITE_P(All, ByteConvolutions, testing::ValuesIn(kCases));

}  // namespace
}  // namespace taper::vulkan
