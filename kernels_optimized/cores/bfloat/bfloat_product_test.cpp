// Tests products of bfloat16 in every form that this processor has, against sums of doubles.

#include "kernels_optimized/cores/bfloat/bfloat_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "kernels_optimized/cores/gemm.h"
#include "kernels_optimized/engine/dispatch.h"
#include "kernels_portable/engine/half.h"

namespace taper::optimized {
namespace {

float widened(uint16_t half) { return portable::bfloat16_to_float({half}); }

uint16_t rounded(float value) {
  uint16_t half;
  round_to_bfloat(&value, 1, &half);
  return half;
}

// bfloat16 has eight bits: from 1 on in steps of 2^-7.
TEST(Bfloat, RoundsToTheNearestAndOfTwoToTheEvenOne) {
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<std::pair<float, float>> cases = {
      {1, 1},
      {1 + 0x1p-8f, 1},
      {1 + 0x1.1p-8f, 1 + 0x1p-7f},
      {1 + 0x3p-8f, 1 + 0x1p-6f},
      {-1 - 0x1.1p-8f, -1 - 0x1p-7f},
      {0, 0},
      {0x1p-130f, 0x1p-130f},
      {infinity, infinity},
      {-infinity, -infinity},
      {std::numeric_limits<float>::max(), infinity},
  };
  std::vector<float> in;
  for (size_t i = 0; i < 7; ++i) {  // More than a vector, and a rest.
    for (const auto& each : cases) in.push_back(each.first);
    in.push_back(std::nanf(""));
  }
  std::vector<uint16_t> out(in.size());
  for (const Level limit : kLevels) {
    limit_level(limit);
    round_to_bfloat(in.data(), static_cast<int64_t>(in.size()), out.data());
    for (size_t i = 0; i < in.size(); ++i) {
      const size_t kind = i % (cases.size() + 1);
      if (kind == cases.size()) {
        EXPECT_TRUE(std::isnan(widened(out[i])));
      } else {
        EXPECT_EQ(widened(out[i]), cases[kind].second) << in[i];
      }
    }
  }
  limit_level(Level::kAvx512);
}

struct Problem {
  int64_t rows, terms, columns;
  bool has_bias;

  std::vector<float> left() const { return numbers(rows * terms, 37); }
  std::vector<float> right() const { return numbers(columns * terms, 53); }
  std::vector<float> bias() const { return numbers(columns, 7); }

  static std::vector<float> numbers(int64_t count, int64_t step) {
    std::vector<float> all;
    for (int64_t i = 0; i < count; ++i) {
      all.push_back(static_cast<float>(i * step % 1009) / 500 - 1);
    }
    return all;
  }
};

// The first of them that is aligned to 64 bytes; there are 32 more than needed.
uint16_t* aligned(std::vector<uint16_t>& numbers) {
  uint16_t* start = numbers.data();
  while (reinterpret_cast<uintptr_t>(start) % 64 != 0) ++start;
  return start;
}

void expect_right(const Problem& p, BfloatForm form) {
  const std::vector<float> left = p.left(), right = p.right(), bias = p.bias();
  const int64_t terms = whole_terms(p.terms);
  std::vector<uint16_t> rows(static_cast<size_t>(whole_rows(p.rows) * terms) + 32, 0x7fc0);
  uint16_t* const row_panels = aligned(rows);
  std::vector<uint16_t> halves(static_cast<size_t>(p.terms));
  for (int64_t i = 0; i < p.rows; ++i) {
    const float* row = left.data() + i * p.terms;
    uint16_t* const to = row_panels + bfloat_row_place(i, p.terms);
    if (i % 2 == 0) place_bfloat_row(row, p.terms, to);
    if (i % 2 == 0) continue;
    round_to_bfloat(row, p.terms, halves.data());
    place_bfloat_row(halves.data(), p.terms, to);
  }
  BfloatProduct product;
  std::vector<uint16_t> weights(static_cast<size_t>(bfloat_weights(p.terms, p.columns)) + 32);
  pack_bfloat({right.data(), 1, p.terms, p.terms, p.columns}, aligned(weights));
  const int64_t step = p.columns + 3;
  std::vector<float> out(static_cast<size_t>(p.rows * step), 77);
  product.rows = row_panels;
  product.terms = terms;
  product.row_count = p.rows;
  product.weights = aligned(weights);
  product.columns = p.columns;
  if (p.has_bias) product.bias = bias.data();
  product.out = out.data();
  product.out_step = step;
  product.min = -6;
  product.max = 1e30F;
  const int64_t panels = bfloat_panels(p.columns);
  multiply_bfloat(product, form, 0, panels / 2);
  multiply_bfloat(product, form, panels / 2, panels);
  for (int64_t i = 0; i < p.rows * step; ++i) {
    const int64_t row = i / step, column = i % step;
    const float got = out[static_cast<size_t>(i)];
    if (column >= p.columns) {
      ASSERT_EQ(got, 77) << "behind row " << row;
      continue;
    }
    double sum = p.has_bias ? static_cast<double>(bias[static_cast<size_t>(column)]) : 0;
    double sizes = 1;
    for (int64_t k = 0; k < p.terms; ++k) {
      const double a = widened(rounded(left[static_cast<size_t>(row * p.terms + k)]));
      const double b = widened(rounded(right[static_cast<size_t>(column * p.terms + k)]));
      sum += a * b;
      sizes += std::fabs(a * b);
    }
    ASSERT_NEAR(got, std::fmax(sum, -6), sizes * 0x1p-21) << "row " << row << ", column " << column;
  }
}

TEST(Bfloat, ProductsAreSumsOfRoundedFactors) {
  const Problem problems[] = {{1, 1, 1, true},    {1, 64, 70, false},  {2, 33, 32, true},
                              {5, 100, 31, true}, {12, 31, 65, true},  {13, 32, 16, false},
                              {31, 17, 96, true}, {32, 64, 33, true},  {33, 96, 100, false},
                              {50, 40, 48, true}, {67, 129, 64, true}, {290, 800, 40, true}};
  for (const Level limit : kLevels) {
    limit_level(limit);
    if (!has_vectors()) continue;
    for (const Problem& p : problems) {
      SCOPED_TRACE(testing::Message() << p.rows << " x " << p.terms << " x " << p.columns);
      expect_right(p, BfloatForm::kFloats);
    }
  }
  limit_level(Level::kAvx512);
  for (int form = 1; form <= static_cast<int>(best_bfloat_form()); ++form) {
    SCOPED_TRACE(form);
    for (const Problem& p : problems) expect_right(p, static_cast<BfloatForm>(form));
  }
}

// Tiles differ in their heights.
TEST(Bfloat, ProductsOfAnyNumberOfRows) {
  for (int form = 0; form <= static_cast<int>(best_bfloat_form()) && has_vectors(); ++form) {
    for (int64_t rows = 1; rows <= 66; ++rows) {
      SCOPED_TRACE(testing::Message() << form << ", " << rows << " rows");
      expect_right({rows, 34, 35, true}, static_cast<BfloatForm>(form));
    }
  }
}

}  // namespace
}  // namespace taper::optimized
