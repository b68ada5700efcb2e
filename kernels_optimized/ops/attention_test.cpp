// Attention, over a cache and of whole heads, against its definition in double, at every level:
// causal and masked, grouped heads, decoding one position and filling many.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "kernels_optimized/engine/dispatch.h"
#include "kernels_optimized/kernel_table.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::TestTensor;

struct Case {
  int32_t queries, keys, heads, key_heads, elements;
  int64_t start;
  bool causal, masked;
};

TestTensor numbers(std::vector<int32_t> sizes, std::mt19937& random) {
  TestTensor result(ScalarType::kFloat, std::move(sizes));
  std::uniform_real_distribution<float> range(-1, 1);
  for (int64_t i = 0; i < result->numel(); ++i) {
    result->mutable_data_ptr<float>()[i] = range(random);
  }
  return result;
}

// The result for one query of one head; scores of keys that it does not see are minus infinity.
std::vector<double> expected(const Case& c, const float* query, const float* key,
                             const float* value, const float* mask, int64_t position) {
  const int64_t step = int64_t{c.key_heads} * c.elements;
  const int64_t seen = mask != nullptr ? c.keys : c.start + (c.causal ? position + 1 : c.queries);
  double total = 0;
  std::vector<double> sums(static_cast<size_t>(c.elements));
  for (int64_t k = 0; k < seen; ++k) {
    double score = 0;
    for (int64_t d = 0; d < c.elements; ++d) {
      score += static_cast<double>(query[d]) * static_cast<double>(key[k * step + d]);
    }
    score /= std::sqrt(c.elements);
    if (mask != nullptr) score += static_cast<double>(mask[position * c.keys + k]);
    const double weight = std::exp(score);
    total += weight;
    for (int64_t d = 0; d < c.elements; ++d) {
      sums[static_cast<size_t>(d)] += weight * static_cast<double>(value[k * step + d]);
    }
  }
  for (double& sum : sums) sum = total > 0 ? sum / total : 0;
  return sums;
}

void check(const Case& c) {
  std::mt19937 random(23);
  TestTensor q = numbers({2, c.queries, c.heads, c.elements}, random);
  TestTensor k = numbers({2, c.keys, c.key_heads, c.elements}, random);
  TestTensor v = numbers({2, c.keys, c.key_heads, c.elements}, random);
  TestTensor mask = numbers({c.queries, c.keys}, random);
  TestTensor y(ScalarType::kFloat, {2, c.queries, c.heads, c.elements});
  const float nothing = -std::numeric_limits<float>::infinity();
  float* masks = mask->mutable_data_ptr<float>();
  for (int64_t i = 0; i < mask->numel(); ++i) {
    if (i < c.keys || i % 3 == 0) masks[i] = nothing;  // The first query sees nothing.
  }
  EValue slots[] = {EValue(&*q),
                    EValue(&*k),
                    EValue(&*v),
                    EValue(c.start),
                    c.masked ? EValue(&*mask) : EValue(),
                    EValue(0.0),
                    EValue(c.causal),
                    EValue(),
                    EValue(&*y)};
  std::vector<EValue*> args;
  for (EValue& slot : slots) args.push_back(&slot);
  std::vector<unsigned char> temp(1 << 20);
  KernelContext context({temp.data(), temp.size()});
  ASSERT_TRUE(
      find_kernel(optimized_kernels(), "llama::custom_sdpa.out")->run(context, args.data()).ok());
  const float* got = y->const_data_ptr<float>();
  for (int64_t row = 0; row < int64_t{2} * c.queries * c.heads; ++row, got += c.elements) {
    const int64_t head = row % c.heads, position = row / c.heads % c.queries;
    const int64_t batch = row / c.heads / c.queries;
    const int64_t cache =
        (batch * c.keys * c.key_heads + head / (c.heads / c.key_heads)) * int64_t{c.elements};
    const std::vector<double> want = expected(
        c, q->const_data_ptr<float>() + row * c.elements, k->const_data_ptr<float>() + cache,
        v->const_data_ptr<float>() + cache, c.masked ? masks : nullptr, position);
    for (int64_t d = 0; d < c.elements; ++d) {
      ASSERT_NEAR(static_cast<double>(got[d]), want[static_cast<size_t>(d)], 1e-5) << row;
    }
  }
}

TEST(Attention, AgreesWithTheDefinition) {
  for (const Level level : kLevels) {
    limit_level(level);
    check(Case{1, 40, 4, 2, 48, 17, true, false});
    check(Case{70, 90, 2, 2, 20, 5, true, false});
    check(Case{70, 90, 4, 1, 64, 20, false, false});
    check(Case{9, 33, 2, 1, 7, 0, false, true});
  }
  limit_level(Level::kAvx512);
}

struct Heads {
  int32_t heads, key_heads, queries, keys, elements, width;
  bool causal, masked;
};

// The result for one query; scores of keys that it does not see are minus infinity.
std::vector<double> expected(const Heads& h, const float* query, const float* key,
                             const float* value, const float* mask, int32_t position) {
  std::vector<double> sums(static_cast<size_t>(h.width));
  double total = 0;
  for (int32_t k = 0; k < (h.causal ? std::min(position + 1, h.keys) : h.keys); ++k) {
    double score = 0;
    for (int32_t e = 0; e < h.elements; ++e) {
      score += static_cast<double>(query[e]) * static_cast<double>(key[k * h.elements + e]);
    }
    const double masked = h.masked ? static_cast<double>(mask[position * h.keys + k]) : 0;
    const double weight = std::exp(score / 2 + masked);
    total += weight;
    for (int32_t d = 0; d < h.width; ++d) {
      sums[static_cast<size_t>(d)] += weight * static_cast<double>(value[k * h.width + d]);
    }
  }
  for (double& sum : sums) sum /= total;
  return sums;
}

void check(const Heads& h) {
  std::mt19937 random(29);
  TestTensor q = numbers({h.heads, h.queries, h.elements}, random);
  TestTensor k = numbers({h.key_heads, h.keys, h.elements}, random);
  TestTensor v = numbers({h.key_heads, h.keys, h.width}, random);
  TestTensor mask = numbers({h.queries, h.keys}, random);
  TestTensor y(ScalarType::kFloat, {h.heads, h.queries, h.width});
  EValue slots[] = {
      EValue(&*q), EValue(&*k),      EValue(&*v), h.masked ? EValue(&*mask) : EValue(),
      EValue(0.5), EValue(h.causal), EValue(&*y)};
  std::vector<EValue*> args;
  for (EValue& slot : slots) args.push_back(&slot);
  std::vector<unsigned char> temp(1 << 20);
  KernelContext context({temp.data(), temp.size()});
  ASSERT_TRUE(
      find_kernel(optimized_kernels(), "taper::attention.out")->run(context, args.data()).ok());
  const float* got = y->const_data_ptr<float>();
  for (int32_t row = 0; row < h.heads * h.queries; ++row, got += h.width) {
    const int64_t shared = row / h.queries / (h.heads / h.key_heads);
    const std::vector<double> want =
        expected(h, q->const_data_ptr<float>() + int64_t{row} * h.elements,
                 k->const_data_ptr<float>() + shared * h.keys * h.elements,
                 v->const_data_ptr<float>() + shared * h.keys * h.width,
                 mask->const_data_ptr<float>(), row % h.queries);
    for (int32_t d = 0; d < h.width; ++d) {
      ASSERT_NEAR(static_cast<double>(got[d]), want[static_cast<size_t>(d)], 1e-5) << row;
    }
  }
}

TEST(Attention, OfWholeHeads) {
  for (const Level level : kLevels) {
    limit_level(level);
    check(Heads{2, 2, 130, 300, 20, 36, false, false});
    check(Heads{2, 1, 300, 300, 64, 64, true, false});
    check(Heads{2, 2, 40, 30, 5, 3, true, false});
    check(Heads{4, 2, 9, 77, 32, 40, false, true});
    check(Heads{3, 1, 1, 700, 64, 64, false, true});
    check(Heads{1, 1, 7, 65, 33, 17, false, false});
  }
  limit_level(Level::kAvx512);
}

}  // namespace
}  // namespace taper::optimized
