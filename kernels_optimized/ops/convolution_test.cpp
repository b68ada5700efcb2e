// Convolution against its definition in double, at every level: shapes whose rows are shorter and
// longer than a vector, strides, padding, dilation, groups, and one to three dimensions.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "test/support/call_fast.h"
#include "test/support/int_list.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::Ints;
using test::TestTensor;

// Sizes of the input and of the kernel, in three dimensions, and the options.
struct Shape {
  int32_t batch, in, out;
  int32_t size[3];
  int32_t kernel[3];
  int64_t stride, padding, dilation, groups;
  int64_t last_stride = 0;  // Along rows, if it differs.

  int64_t stride_of(int d) const { return d == 2 && last_stride != 0 ? last_stride : stride; }
  int64_t out_size(int d) const {
    const int64_t pad = kernel[d] == 1 ? 0 : padding;
    return (size[d] + 2 * pad - dilation * (kernel[d] - 1) - 1) / stride_of(d) + 1;
  }
};

class Convolution : public testing::TestWithParam<std::tuple<Level, Shape>> {
 protected:
  Convolution() { limit_level(std::get<0>(GetParam())); }
  ~Convolution() override { limit_level(Level::kAvx512); }
  void SetUp() override {
    if (level() != std::get<0>(GetParam())) GTEST_SKIP() << "the processor has no such vectors";
  }

  TestTensor numbers(std::vector<int32_t> sizes) {
    TestTensor result(ScalarType::kFloat, std::move(sizes));
    std::uniform_real_distribution<float> range(-1, 1);
    for (int64_t i = 0; i < result->numel(); ++i) {
      result->mutable_data_ptr<float>()[i] = range(random_);
    }
    return result;
  }

  void check(const struct Clamp& clamp);

  std::mt19937 random_{5};
};

// out[n, o, a, b, c] by the definition. `pad` is by dimension.
double expected(const Shape& s, const int64_t (&pad)[3], const float* in, const float* weight,
                const int64_t (&at)[5]) {
  const int64_t per_group = s.in / s.groups, first = at[1] / (s.out / s.groups) * per_group;
  double sum = 0;
  for (int64_t i = 0; i < per_group; ++i) {
    for (int64_t t = 0; t < s.kernel[0] * s.kernel[1] * s.kernel[2]; ++t) {
      const int64_t tap[] = {t / (s.kernel[1] * s.kernel[2]), t / s.kernel[2] % s.kernel[1],
                             t % s.kernel[2]};
      int64_t offset = at[0] * s.in + first + i;
      bool inside = true;
      for (int d = 0; d < 3; ++d) {
        const int64_t x = at[2 + d] * s.stride_of(d) - pad[d] + tap[d] * s.dilation;
        inside = inside && x >= 0 && x < s.size[d];
        offset = offset * s.size[d] + x;
      }
      const int64_t k = (at[1] * per_group + i) * s.kernel[0] * s.kernel[1] * s.kernel[2] + t;
      if (inside) sum += static_cast<double>(in[offset]) * static_cast<double>(weight[k]);
    }
  }
  return sum;
}

// An operator that clamps the result in place, with its arguments between the tensors.
struct Clamp {
  const char* name = "";  // Empty: none.
  std::vector<EValue> by = {};
  double low = -INFINITY, high = INFINITY;
};

const Clamp kClamps[] = {
    {"+aten::relu.out", {}, 0},
    {"+aten::hardtanh.out", {EValue(-0.5), EValue(0.25)}, -0.5, 0.25},
    {"+aten::clamp.out", {EValue(), EValue(int64_t{0})}, -INFINITY, 0},
    {"+aten::clamp.out", {EValue(0.25), EValue(-0.5)}, 0.25, -0.5},
};

// Computes the convolution, clamped, and compares.
void Convolution::check(const Clamp& clamp) {
  const Shape& s = std::get<1>(GetParam());
  const int32_t per_group = s.in / static_cast<int32_t>(s.groups);
  int32_t to[3];
  int64_t pad[3];
  for (int d = 0; d < 3; ++d) {
    to[d] = static_cast<int32_t>(s.out_size(d));
    pad[d] = s.kernel[d] == 1 ? 0 : s.padding;
  }
  TestTensor x = numbers({s.batch, s.in, s.size[0], s.size[1], s.size[2]}), b = numbers({s.out});
  TestTensor w = numbers({s.out, per_group, s.kernel[0], s.kernel[1], s.kernel[2]});
  TestTensor y(ScalarType::kFloat, {s.batch, s.out, to[0], to[1], to[2]});
  Ints stride({s.stride, s.stride, s.stride_of(2)}), padding({pad[0], pad[1], pad[2]});
  Ints dilation({s.dilation, s.dilation, s.dilation}), none({0, 0, 0});
  std::vector<EValue> slots = {EValue(&*x),      EValue(&*w),      EValue(&*b),   stride.value(),
                               padding.value(),  dilation.value(), EValue(false), none.value(),
                               EValue(s.groups), EValue(&*y)};
  std::vector<EValue*> args;
  for (EValue& slot : slots) args.push_back(&slot);
  std::vector<EValue> by = clamp.by;
  Tensor last = *y;
  EValue result(&last);
  if (*clamp.name != '\0') {
    args.push_back(args.back());
    for (EValue& slot : by) args.push_back(&slot);
    args.push_back(&result);
  }
  std::vector<unsigned char> temp(1 << 20);
  KernelContext context({temp.data(), s.batch == 1 ? temp.size() : 0});
  const Kernel* kernel =
      find_kernel(optimized_kernels(), std::string("aten::convolution.out") + clamp.name);
  ASSERT_NE(kernel, nullptr) << clamp.name;
  ASSERT_EQ(kernel->arg_count, args.size());
  ASSERT_TRUE(kernel->run(context, args.data()).ok());
  const int64_t area = int64_t{to[0]} * to[1] * to[2];
  for (int64_t i = 0; i < y->numel() && !HasFailure(); ++i) {
    const int64_t at[] = {i / area / s.out, i / area % s.out, i % area / (to[1] * to[2]),
                          i % area / to[2] % to[1], i % to[2]};
    const double sum =
        expected(s, pad, x->const_data_ptr<float>(), w->const_data_ptr<float>(), at) +
        static_cast<double>(b->const_data_ptr<float>()[at[1]]);
    const double want = std::fmin(std::fmax(sum, clamp.low), clamp.high);
    EXPECT_NEAR(static_cast<double>(y->const_data_ptr<float>()[i]), want, 2e-5) << i;
  }
}

TEST_P(Convolution, AgreesWithTheDefinition) { check({}); }

TEST_P(Convolution, IsClampedInPlace) {
  for (const Clamp& clamp : kClamps) check(clamp);
}

const Shape kShapes[] = {
    {1, 3, 8, {1, 19, 37}, {1, 3, 3}, 1, 1, 1, 1},      // Rows of two vectors and a tail.
    {2, 3, 13, {1, 21, 41}, {1, 3, 3}, 2, 1, 1, 1},     // A first layer; no scratch.
    {1, 2, 5, {1, 31, 35}, {1, 7, 7}, 2, 3, 1, 1},      //
    {1, 70, 13, {1, 20, 32}, {1, 3, 3}, 1, 1, 1, 1},    // More terms than are added at a time.
    {1, 3, 16, {1, 11, 300}, {1, 3, 3}, 1, 1, 1, 1},    // More columns than a block has.
    {1, 2, 4, {1, 40, 48}, {1, 3, 3}, 1, 9, 9, 1},      // Output rows share no input rows.
    {1, 20, 17, {6, 7, 16}, {3, 3, 3}, 1, 1, 1, 1},     //
    {1, 10, 10, {1, 9, 33}, {1, 3, 3}, 1, 1, 1, 2},     //
    {2, 5, 20, {1, 30, 64}, {1, 3, 3}, 2, 1, 1, 1, 1},  // Steps of 2 between rows, no scratch.
    {1, 5, 20, {9, 14, 33}, {3, 3, 4}, 2, 1, 1, 1, 1},  //
    {1, 40, 30, {1, 7, 7}, {1, 3, 3}, 1, 1, 1, 1},   // Panels of several rows, deeper than a block.
    {1, 5, 4, {1, 17, 23}, {1, 3, 3}, 3, 2, 2, 1},   // Stride 3, dilation.
    {1, 20, 33, {1, 9, 9}, {1, 1, 1}, 1, 0, 1, 1},   // Point-wise.
    {2, 20, 33, {1, 9, 9}, {1, 1, 1}, 2, 0, 1, 1},   //
    {1, 12, 25, {1, 1, 1}, {1, 1, 1}, 1, 0, 1, 1},   // One position.
    {1, 12, 18, {1, 11, 5}, {1, 3, 2}, 1, 1, 1, 3},  // Groups.
    {1, 4, 6, {1, 1, 70}, {1, 1, 5}, 1, 2, 1, 1},    // One dimension.
    {1, 3, 4, {5, 6, 18}, {3, 3, 3}, 1, 1, 1, 1},    // Three.
    {1, 6, 6, {1, 17, 40}, {1, 3, 3}, 1, 1, 1, 6},   // Depthwise.
    {2, 6, 12, {1, 19, 67}, {1, 3, 3}, 2, 1, 1, 6},  // With two outputs for each channel.
    {1, 6, 6, {1, 18, 90}, {1, 5, 5}, 2, 2, 1, 6},   //
    {1, 6, 6, {1, 7, 7}, {1, 5, 5}, 1, 2, 1, 6},     //
    {1, 3, 3, {1, 13, 50}, {1, 3, 3}, 1, 2, 2, 3},   // Dilated.
    {1, 3, 3, {1, 13, 50}, {1, 3, 3}, 3, 0, 1, 3},   //
    {1, 3, 3, {4, 5, 21}, {3, 3, 3}, 1, 1, 1, 3},    //
    {1, 3, 3, {1, 1, 33}, {1, 1, 31}, 1, 15, 1, 3},  //
};

// 2 * x + 1 at each position, then relu, whose result lies elsewhere or in place.
TEST(ConvolutionThenRelu, TakesAnyMemoryAndKeepsNan) {
  for (const bool in_place : {false, true}) {
    const std::vector<float> from = {-3, NAN, 0.5f, -0.25f};
    TestTensor x(ScalarType::kFloat, {1, 1, 4}), y(ScalarType::kFloat, {1, 1, 4});
    TestTensor other(ScalarType::kFloat, {1, 1, 4});
    std::copy(from.begin(), from.end(), x->mutable_data_ptr<float>());
    TestTensor w = TestTensor::of<float>(ScalarType::kFloat, {1, 1, 1}, {2});
    TestTensor b = TestTensor::of<float>(ScalarType::kFloat, {1}, {1});
    Tensor last = in_place ? *y : *other;
    Ints one({1}), none({0});
    test::call_fast(
        "aten::convolution.out+aten::relu.out",
        {EValue(&*x), EValue(&*w), EValue(&*b), one.value(), none.value(), one.value(),
         EValue(false), none.value(), EValue(int64_t{1}), EValue(&*y), EValue(&*y), EValue(&last)});
    const float* result = last.const_data_ptr<float>();
    EXPECT_EQ(result[0], 0);
    EXPECT_TRUE(std::isnan(result[1]));
    EXPECT_EQ(result[2], 2);
    EXPECT_EQ(result[3], 0.5f);
    EXPECT_EQ(y->const_data_ptr<float>()[0], in_place ? 0 : -5);
  }
}

// out[n, o] += in[n, i] * weight[i, o] at every tap of every position.
TEST(TransposedConvolution, AgreesWithTheDefinition) {
  struct Case {
    int64_t in, out, side, kernel, stride, padding, dilation, groups;
  };
  const Case cases[] = {{9, 7, 11, 2, 2, 0, 1, 1},  {8, 6, 40, 3, 2, 1, 1, 2},
                        {5, 4, 9, 4, 2, 1, 1, 1},   {3, 3, 20, 3, 1, 1, 1, 3},
                        {4, 2, 13, 3, 3, 2, 2, 1},  {40, 30, 36, 2, 2, 0, 1, 1},
                        {300, 5, 4, 3, 1, 2, 1, 1}, {2, 2, 3, 5, 4, 0, 1, 1}};
  std::mt19937 random(11);
  std::uniform_real_distribution<float> range(-1, 1);
  const auto fill = [&](TestTensor& tensor) {
    for (int64_t i = 0; i < tensor->numel(); ++i) {
      tensor->mutable_data_ptr<float>()[i] = range(random);
    }
  };
  for (const Case& c : cases) {
    const int64_t to = (c.side - 1) * c.stride - 2 * c.padding + c.dilation * (c.kernel - 1) + 1;
    const auto size = [](int64_t value) { return static_cast<int32_t>(value); };
    const int64_t per_group = c.out / c.groups;
    TestTensor x(ScalarType::kFloat, {1, size(c.in), size(c.side), size(c.side)});
    TestTensor w(ScalarType::kFloat, {size(c.in), size(per_group), size(c.kernel), size(c.kernel)});
    TestTensor b(ScalarType::kFloat, {size(c.out)});
    TestTensor y(ScalarType::kFloat, {1, size(c.out), size(to), size(to)});
    fill(x), fill(w), fill(b);
    std::vector<double> want(static_cast<size_t>(c.out * to * to));
    for (int64_t i = 0; i < c.out * to * to; ++i) {
      want[static_cast<size_t>(i)] = static_cast<double>(b->const_data_ptr<float>()[i / (to * to)]);
    }
    for (int64_t i = 0; i < c.in * c.side * c.side; ++i) {
      const int64_t channel = i / (c.side * c.side), y0 = i / c.side % c.side, x0 = i % c.side;
      const int64_t group = channel / (c.in / c.groups);
      for (int64_t k = 0; k < per_group * c.kernel * c.kernel; ++k) {
        const int64_t o = group * per_group + k / (c.kernel * c.kernel);
        const int64_t y1 = y0 * c.stride - c.padding + k / c.kernel % c.kernel * c.dilation;
        const int64_t x1 = x0 * c.stride - c.padding + k % c.kernel * c.dilation;
        if (y1 < 0 || y1 >= to || x1 < 0 || x1 >= to) continue;
        const float weight =
            w->const_data_ptr<float>()[channel * per_group * c.kernel * c.kernel + k];
        want[static_cast<size_t>((o * to + y1) * to + x1)] +=
            static_cast<double>(x->const_data_ptr<float>()[i]) * static_cast<double>(weight);
      }
    }
    Ints stride({c.stride, c.stride}), padding({c.padding, c.padding});
    Ints dilation({c.dilation, c.dilation}), none({0, 0});
    EValue slots[] = {EValue(&*x),      EValue(&*w),      EValue(&*b),  stride.value(),
                      padding.value(),  dilation.value(), EValue(true), none.value(),
                      EValue(c.groups), EValue(&*y)};
    std::vector<EValue*> args;
    for (EValue& slot : slots) args.push_back(&slot);
    for (const Level level : kLevels) {
      limit_level(level);
      std::vector<unsigned char> temp(1 << 20);
      KernelContext context({temp.data(), temp.size()});
      ASSERT_TRUE(find_kernel(optimized_kernels(), "aten::convolution.out")
                      ->run(context, args.data())
                      .ok());
      for (int64_t i = 0; i < y->numel(); ++i) {
        ASSERT_NEAR(static_cast<double>(y->const_data_ptr<float>()[i]),
                    want[static_cast<size_t>(i)], 3e-5)
            << c.kernel << " stride " << c.stride << " at " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Convolution,
                         testing::Combine(testing::ValuesIn(kLevels), testing::ValuesIn(kShapes)));

}  // namespace
}  // namespace taper::optimized
