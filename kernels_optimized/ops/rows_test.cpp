// Softmax and the norms against double, at every level: sizes that leave tails, lines along and
// across memory, lines with infinities and NaN.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "kernels_optimized/kernel_table.h"
#include "test/support/call_fast.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::TestTensor;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

class Rows : public test::AtEachLevel {
 protected:
  static void call(const char* name, std::vector<EValue> slots) {
    std::vector<EValue*> args;
    for (EValue& slot : slots) args.push_back(&slot);
    KernelContext context;
    ASSERT_TRUE(find_kernel(optimized_kernels(), name)->run(context, args.data()).ok()) << name;
  }

  TestTensor numbers(std::vector<int32_t> sizes, float low, float high) {
    TestTensor result(ScalarType::kFloat, std::move(sizes));
    std::uniform_real_distribution<float> range(low, high);
    for (int64_t i = 0; i < result->numel(); ++i) {
      result->mutable_data_ptr<float>()[i] = range(random_);
    }
    return result;
  }

  static double at(TestTensor& tensor, int64_t i) {
    return static_cast<double>(tensor->const_data_ptr<float>()[i]);
  }

 private:
  std::mt19937 random_{3};
};

TEST_P(Rows, Softmax) {
  for (const int32_t size : {1, 5, 16, 37, 70, 5000}) {
    for (const int32_t inner : {1, 2, 3, 5, 8, 16, 37, 150}) {
      const int32_t outer = size > 100 ? 1 : 3;
      TestTensor x = numbers({outer, size, inner}, -20, 20);
      TestTensor y(ScalarType::kFloat, {outer, size, inner});
      TestTensor z(ScalarType::kFloat, {outer, size, inner});
      const EValue dim(int64_t{1}), no(false);
      call("aten::_softmax.out", {EValue(&*x), dim, no, EValue(&*y)});
      call("aten::_log_softmax.out", {EValue(&*x), dim, no, EValue(&*z)});
      for (int32_t line = 0; line < outer * inner && !HasFailure(); ++line) {
        const int64_t first = line / inner * size * inner + line % inner;
        double sum = 0;
        for (int32_t i = 0; i < size; ++i) sum += std::exp(at(x, first + i * inner));
        for (int32_t i = 0; i < size; ++i) {
          const int64_t k = first + i * inner;
          EXPECT_NEAR(at(y, k), std::exp(at(x, k)) / sum, 2e-6) << size << " x " << inner;
          EXPECT_NEAR(at(z, k), at(x, k) - std::log(sum), 1e-5) << size << " x " << inner;
        }
      }
    }
  }
}

TEST_P(Rows, SoftmaxOfInfinitiesAndNan) {
  for (const int32_t inner : {1, 20}) {
    TestTensor x = numbers({4, 21, inner}, -1, 1), y(ScalarType::kFloat, {4, 21, inner});
    float* data = x->mutable_data_ptr<float>();
    const int64_t line = 21 * inner;
    for (int64_t i = 0; i < line; ++i) data[i] = -kInfinity;
    data[line + 20 * inner] = NAN;
    data[2 * line + 3 * inner] = kInfinity;
    data[3 * line + 7 * inner] = -kInfinity;
    call("aten::_softmax.out", {EValue(&*x), EValue(int64_t{1}), EValue(false), EValue(&*y)});
    for (int64_t i = 0; i < 21; ++i) {
      for (int64_t j = 0; j < 3; ++j) EXPECT_TRUE(std::isnan(at(y, j * line + i * inner))) << j;
    }
    EXPECT_EQ(at(y, 3 * line + 7 * inner), 0);
    EXPECT_GT(at(y, 3 * line), 0);
  }
}

TEST_P(Rows, LayerNorm) {
  for (const int32_t width : {1, 7, 16, 90, 768, 5001}) {
    for (const bool affine : {false, true}) {
      TestTensor x = numbers({3, width}, 90, 110);
      TestTensor w = numbers({width}, 0, 2), b = numbers({width}, -1, 1);
      TestTensor y(ScalarType::kFloat, {3, width}), mean(ScalarType::kFloat, {3, 1}),
          rstd(ScalarType::kFloat, {3, 1});
      EValue item(int64_t{width});
      EValue* items[] = {&item};
      int64_t unboxed[1];
      BoxedIntList list = {items, unboxed};
      call("aten::native_layer_norm.out",
           {EValue(&*x), EValue(&list, 1), affine ? EValue(&*w) : EValue(),
            affine ? EValue(&*b) : EValue(), EValue(1e-5), EValue(&*y), EValue(&*mean),
            EValue(&*rstd)});
      for (int64_t row = 0; row < 3; ++row) {
        double sum = 0, squares = 0;
        for (int64_t i = 0; i < width; ++i) sum += at(x, row * width + i);
        const double middle = sum / width;
        for (int64_t i = 0; i < width; ++i) {
          squares += std::pow(at(x, row * width + i) - middle, 2);
        }
        const double scale = 1 / std::sqrt(squares / width + 1e-5);
        EXPECT_NEAR(at(mean, row), middle, 1e-4);
        if (width == 1) continue;  // The variance is nothing but rounding errors.
        EXPECT_NEAR(at(rstd, row), scale, 1e-5 * scale);
        for (int64_t i = 0; i < width; ++i) {
          const double plain = (at(x, row * width + i) - middle) * scale;
          EXPECT_NEAR(at(y, row * width + i), affine ? plain * at(w, i) + at(b, i) : plain, 1e-4);
        }
      }
    }
  }
}

TEST_P(Rows, GroupNorm) {
  const int32_t channels = 6, area = 35;
  TestTensor x = numbers({2, channels, 5, 7}, -3, 5);
  TestTensor w = numbers({channels}, 0, 2), b = numbers({channels}, -1, 1);
  TestTensor y(ScalarType::kFloat, {2, channels, 5, 7}), mean(ScalarType::kFloat, {2, 3}),
      rstd(ScalarType::kFloat, {2, 3});
  call("aten::native_group_norm.out",
       {EValue(&*x), EValue(&*w), EValue(&*b), EValue(int64_t{2}), EValue(int64_t{channels}),
        EValue(int64_t{area}), EValue(int64_t{3}), EValue(1e-5), EValue(&*y), EValue(&*mean),
        EValue(&*rstd)});
  for (int64_t group = 0; group < 6; ++group) {
    const int64_t first = group * 2 * area;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < 2 * area; ++i) sum += at(x, first + i);
    const double middle = sum / (2 * area);
    for (int64_t i = 0; i < 2 * area; ++i) squares += std::pow(at(x, first + i) - middle, 2);
    const double scale = 1 / std::sqrt(squares / (2 * area) + 1e-5);
    for (int64_t i = 0; i < 2 * area; ++i) {
      const int64_t channel = group % 3 * 2 + i / area;
      const double want = (at(x, first + i) - middle) * scale * at(w, channel) + at(b, channel);
      EXPECT_NEAR(at(y, first + i), want, 1e-5);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, Rows, testing::ValuesIn(kLevels));

}  // namespace
}  // namespace taper::optimized
