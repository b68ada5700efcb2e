// Convolutions that the planner gives to Winograd's algorithm, on lavapipe against the kernels.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "backends/vulkan/planner/plan_for_test.h"
#include "backends/vulkan/runtime/gpu/backend_for_test.h"

namespace taper::vulkan {
namespace {

struct Case {
  uint32_t images, in, out, height, width;
  uint32_t pad;
  uint32_t tile;  // Of Winograd's.
};

std::vector<float> random_numbers(size_t count, float most) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> numbers(-most, most);
  std::vector<float> all(count);
  std::generate(all.begin(), all.end(), [&] { return numbers(random); });
  return all;
}

class Winograd : public testing::TestWithParam<Case> {
 protected:
  uint32_t out_height() const { return c.height + 2 * c.pad - 2; }
  uint32_t out_width() const { return c.width + 2 * c.pad - 2; }

  // relu(convolution(x, w, bias) + other), where the other is the result of a convolution of its own.
  std::vector<uint8_t> payload() const {
    PayloadBuilder p;
    const PayloadBuilder::Sizes to = {c.images, c.out, out_height(), out_width()};
    const auto x = p.input({c.images, c.in, c.height, c.width});
    const auto sum = p.tensor(to), y = p.tensor(to);
    p.call("aten.add.Tensor", {convolution(p, x, 3, c.pad, to), convolution(p, x, 1, c.pad - 1, to),
                               p.integer(1), sum});
    p.call("aten.relu.default", {sum, y});
    p.output(y);
    return p.finish();
  }

  std::vector<float> run(const std::string& device) {
    VulkanOptions options;
    options.device = device;
    VulkanBackend backend(options);
    LoadedPayload loaded(backend, {}, payload());
    if (!loaded.status.ok()) return {};
    const auto i32 = [](uint32_t size) { return static_cast<int32_t>(size); };
    test::TestTensor x(ScalarType::kFloat, {i32(c.images), i32(c.in), i32(c.height), i32(c.width)});
    test::TestTensor y(ScalarType::kFloat,
                       {i32(c.images), i32(c.out), i32(out_height()), i32(out_width())});
    const std::vector<float> numbers =
        random_numbers(size_t{c.images} * c.in * c.height * c.width, 1);
    std::copy(numbers.begin(), numbers.end(), x->mutable_data_ptr<float>());
    EXPECT_STREQ(loaded.run(x, y).message(), "");
    return y.values<float>();
  }

  const Case c = GetParam();

 private:
  PayloadBuilder::Id convolution(PayloadBuilder& p, PayloadBuilder::Id x, uint32_t window,
                                 int64_t pad, const PayloadBuilder::Sizes& to) const {
    const auto one = p.integers({1, 1}), result = p.tensor(to);
    const auto weights = random_numbers(size_t{c.out} * c.in * window * window, 0.5F);
    p.call("aten.convolution.default",
           {x, p.constant({c.out, c.in, window, window}, weights),
            p.constant({c.out}, random_numbers(c.out, 1)), one, p.integers({pad, pad}), one,
            p.flag(false), p.integers({0, 0}), p.integer(1), result});
    return result;
  }
};

TEST_P(Winograd, IsAsExactAsASum) {
  const Planned planned(payload(), {}, /*fuses=*/true);
  ASSERT_STREQ(planned.status.message(), "");
  const auto& dispatches = planned.plan.dispatches();
  const auto sums = std::find_if(dispatches.begin(), dispatches.end(), [](const Dispatch& each) {
    return each.shader == Shader::winograd_sums;
  });
  ASSERT_NE(sums, dispatches.end());
  EXPECT_EQ(sums->constants[0], c.tile);

  const std::vector<float> expected = run("none"), got = run("llvmpipe");
  if (got.empty()) GTEST_SKIP() << "lavapipe is not installed";
  ASSERT_EQ(got.size(), expected.size());
  const float largest = *std::max_element(expected.begin(), expected.end());
  float error = 0;
  for (size_t i = 0; i < got.size(); ++i) error = std::max(error, std::fabs(got[i] - expected[i]));
  EXPECT_LT(error / largest, 1e-5F);
}

const Case kCases[] = {
    {1, 64, 64, 56, 56, 1, 4},   {2, 48, 64, 37, 41, 1, 4},  {1, 96, 80, 35, 31, 2, 4},
    {1, 256, 256, 14, 14, 1, 2}, {3, 200, 120, 9, 11, 1, 2},
};

INSTANTIATE_TEST_SUITE_P(All, Winograd, testing::ValuesIn(kCases));

}  // namespace
}  // namespace taper::vulkan
