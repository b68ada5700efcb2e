// Layers of random integers against sums in double, at every level: bits, groups, zero points and
// numbers of rows that fill vectors and that leave tails; the input in floats and in bytes.

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "kernels_optimized/kernel_table.h"
#include "test/support/call_fast.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::TestTensor;

struct Layer {
  int32_t rows, n, k, groups, bits;
  bool has_points;
};

class PackedLinear : public test::AtEachLevel {
 protected:
  int integer(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  float number() { return std::uniform_real_distribution<float>(-1, 1)(random_); }

  // Fills `weights` with elements, which it packs.
  TestTensor pack(const Layer& l, std::vector<int>& weights) {
    const int32_t row_bytes = (l.k * l.bits + 7) / 8;
    TestTensor packed(l.bits == 8 ? ScalarType::kChar : ScalarType::kByte, {l.n, row_bytes});
    auto* bytes = static_cast<uint8_t*>(packed->mutable_data());
    std::fill_n(bytes, packed->numel(), uint8_t{0});
    const int half = 1 << (l.bits - 1), per_byte = 8 / l.bits;
    for (int i = 0; i < l.n * l.k; ++i) {
      weights.push_back(integer(-half, half - 1));
      const int at = i / l.k * row_bytes + i % l.k / per_byte;
      const int stored = l.bits == 8 ? weights.back() & 255 : weights.back() + half;
      bytes[at] = static_cast<uint8_t>(bytes[at] | stored << i % l.k % per_byte * l.bits);
    }
    return packed;
  }

  void check(const Layer& l, bool by_rows) {
    std::vector<int> weights;
    TestTensor packed = pack(l, weights),
               x(by_rows ? ScalarType::kChar : ScalarType::kFloat, {l.rows, l.k});
    TestTensor scales(ScalarType::kFloat, {l.n, l.groups}), bias(ScalarType::kFloat, {l.n});
    TestTensor points(ScalarType::kChar, {l.n, l.groups}), y(ScalarType::kFloat, {l.rows, l.n});
    TestTensor row_scales(ScalarType::kFloat, {l.rows, 1}),
        row_points(ScalarType::kChar, {l.rows, 1});
    for (int i = 0; i < l.n * l.groups; ++i) {
      scales->mutable_data_ptr<float>()[i] = number() + 1.5f;
      points->mutable_data_ptr<int8_t>()[i] = static_cast<int8_t>(integer(-8, 8));
    }
    for (int i = 0; i < l.n; ++i) bias->mutable_data_ptr<float>()[i] = number();
    for (int i = 0; i < l.rows; ++i) {
      row_scales->mutable_data_ptr<float>()[i] = number() + 1.5f;
      row_points->mutable_data_ptr<int8_t>()[i] = static_cast<int8_t>(integer(-128, 127));
    }
    std::vector<double> input;
    for (int i = 0; i < l.rows * l.k; ++i) {
      const int q = integer(-128, 127);
      const float f = number();
      if (by_rows) {
        x->mutable_data_ptr<int8_t>()[i] = static_cast<int8_t>(q);
        input.push_back(double{row_scales->const_data_ptr<float>()[i / l.k]} *
                        (q - row_points->const_data_ptr<int8_t>()[i / l.k]));
      } else {
        x->mutable_data_ptr<float>()[i] = f;
        input.push_back(double{f});
      }
    }
    std::vector<EValue> slots = {EValue(&*x)};
    if (by_rows) slots.insert(slots.end(), {EValue(&*row_scales), EValue(&*row_points)});
    slots.insert(slots.end(),
                 {EValue(&*packed), EValue(&*scales), l.has_points ? EValue(&*points) : EValue(),
                  EValue(&*bias), EValue(int64_t{l.bits}), EValue(&*y)});
    std::vector<EValue*> args;
    for (EValue& slot : slots) args.push_back(&slot);
    std::vector<unsigned char> temp(1 << 20);
    KernelContext context({temp.data(), temp.size()});
    const char* name = by_rows ? "taper::packed_linear_rows.out" : "taper::packed_linear.out";
    ASSERT_TRUE(find_kernel(optimized_kernels(), name)->run(context, args.data()).ok());
    for (int i = 0; i < l.rows * l.n && !HasFailure(); ++i) {
      const int row = i / l.n, n = i % l.n;
      double sum = 0, size = 0;
      for (int k = 0; k < l.k; ++k) {
        const int at = n * l.groups + k / (l.k / l.groups);
        const int point = l.has_points ? points->const_data_ptr<int8_t>()[at] : 0;
        const int input_at = row * l.k + k, weight_at = n * l.k + k;
        const double product = input[static_cast<size_t>(input_at)] *
                               (weights[static_cast<size_t>(weight_at)] - point) *
                               double{scales->const_data_ptr<float>()[at]};
        sum += product;
        size += std::abs(product);
      }
      EXPECT_NEAR(double{y->const_data_ptr<float>()[i]},
                  sum + double{bias->const_data_ptr<float>()[n]}, 1e-6 * size + 1e-5)
          << l.rows << " x " << l.k << " in " << l.groups << " groups, " << l.bits << " bits, row "
          << row << ", column " << n;
    }
  }

 private:
  std::mt19937 random_{5};
};

TEST_P(PackedLinear, IsTheSumOfProducts) {
  const int sizes[][2] = {{7, 1},   {16, 1},  {64, 2},  {96, 3},   {100, 5},
                          {128, 1}, {256, 8}, {320, 5}, {512, 16}, {768, 2}};
  for (const int bits : {2, 4, 8}) {
    for (const auto& [k, groups] : sizes) {
      for (const int rows : {1, 2, 3, 7, 9}) {
        for (const bool by_rows : {false, true}) {
          check({rows, rows == 2 ? 35 : 5, k, groups, bits, rows % 2 == 1}, by_rows);
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, PackedLinear,
                         testing::Values(Level::kBaseline, Level::kAvx2, Level::kAvx512));

}  // namespace
}  // namespace taper::optimized
