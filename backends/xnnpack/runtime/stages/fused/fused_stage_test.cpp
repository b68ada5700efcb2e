// Tests that nodes that compute one function run as a stage, with the results that the nodes have
// in double, and that similar nodes stay with XNNPACK.

#include "backends/xnnpack/runtime/stages/fused/fused_stage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "backends/xnnpack/runtime/stages/stages_for_test.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

constexpr uint32_t kRows = 77, kColumns = 133;

// A payload with one input and one result; both have `sizes`.
struct Chain {
  PayloadBuilder p;
  Sizes sizes;
  uint32_t x, y;

  explicit Chain(uint32_t rows = kRows)
      : sizes{rows, kColumns}, x(p.input(sizes)), y(p.output(sizes)) {}

  uint32_t inner() { return p.inner(sizes); }
  uint32_t column() { return p.inner({sizes[0], 1}); }
  // A constant with a number for each element of a row.
  uint32_t entries(const Floats& values) { return p.constant({kColumns}, values); }
  uint32_t mean(uint32_t of, float part = 1.0f / kColumns) {
    const uint32_t to = column();
    p.connected(of, p.constant({1, kColumns}, Floats(kColumns, part)), UINT32_MAX, to);
    return to;
  }
  uint32_t binary(NodeContent kind, uint32_t a, uint32_t b) {
    const uint32_t to = inner();
    p.binary(kind, a, b, to);
    return to;
  }
  uint32_t unary(NodeContent kind, uint32_t of) {
    const uint32_t to = inner();
    p.unary(kind, of, to);
    return to;
  }
  // of / sqrt(mean(of * of) + eps)
  uint32_t scaled(uint32_t of, float eps) {
    const uint32_t variance = mean(unary(NodeContent::Square, of));
    const uint32_t sum = column(), root = column();
    p.binary(NodeContent::Add, variance, p.constant({1}, {eps}), sum);
    p.unary(NodeContent::ReciprocalSquareRoot, sum, root);
    return binary(NodeContent::Multiply, of, root);
  }
  // Adds a node that computes the result from the last value, and is not part of the function.
  void end(uint32_t with) { p.unary(NodeContent::Negate, with, y); }
};

using Row = std::vector<double>;
using Function = std::function<void(Row&)>;

// Checks that the result is the negative of what `function` makes of each row. `stages` is the
// number of stages if we have vector code for the processor.
void expect_chain(Chain& chain, size_t stages, const Function& function, uint32_t threads = 1) {
  const std::vector<uint8_t> payload = chain.p.finish();
  EXPECT_EQ(stage_count(payload), has_own_stages() ? stages : 1);
  Loaded loaded(payload, on_threads(threads));
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  const auto rows = static_cast<int32_t>(chain.sizes[0]);
  const Floats data = some_numbers(static_cast<size_t>(rows) * kColumns, 37);
  HeldFloats x({rows, kColumns}, data), y({rows, kColumns}, Floats(data.size()));
  const Status status = loaded.run({&x.value, &y.value});
  ASSERT_TRUE(status.ok()) << status.message();
  const Floats got = y.result();
  for (size_t r = 0; r < chain.sizes[0]; ++r) {
    Row row(data.begin() + static_cast<ptrdiff_t>(r * kColumns),
            data.begin() + static_cast<ptrdiff_t>((r + 1) * kColumns));
    function(row);
    for (size_t c = 0; c < kColumns; ++c) {
      ASSERT_NEAR(got[r * kColumns + c], -row[c], 1e-5 * std::fmax(1, std::abs(row[c])));
    }
  }
}

void swish(Row& row) {
  for (double& v : row) v = v / (1 + std::exp(-v));
}

void normalise(Row& row, bool is_centred, double eps) {
  double mean = 0, square = 0;
  for (double v : row) mean += is_centred ? v / kColumns : 0;
  for (double& v : row) v -= mean;
  for (double v : row) square += v * v / kColumns;
  for (double& v : row) v /= std::sqrt(square + eps);
}

TEST(FusedStage, Swish) {
  Chain chain;
  chain.end(
      chain.binary(NodeContent::Multiply, chain.x, chain.unary(NodeContent::Sigmoid, chain.x)));
  expect_chain(chain, 2, swish);
}

TEST(FusedStage, SwishFarFromZero) {
  Chain chain;
  const uint32_t far = chain.binary(NodeContent::Multiply, chain.x, chain.p.constant({1}, {50}));
  chain.end(chain.binary(NodeContent::Multiply, chain.unary(NodeContent::Sigmoid, far), far));
  expect_chain(chain, 3, [](Row& row) {
    for (double& v : row) v *= 50;
    swish(row);
  });
}

TEST(FusedStage, OneAfterAnotherInTheSameMemory) {
  Chain chain;
  uint32_t last = chain.unary(NodeContent::Abs, chain.x);
  for (int i = 0; i < 3; ++i) {
    last = chain.binary(NodeContent::Multiply, last, chain.unary(NodeContent::Sigmoid, last));
  }
  chain.end(last);
  expect_chain(chain, 5, [](Row& row) {
    for (double& v : row) v = std::abs(v);
    for (int i = 0; i < 3; ++i) swish(row);
  });
}

TEST(FusedStage, WhatIsReadLaterIsNotWrittenOver) {
  Chain chain;
  const uint32_t first = chain.unary(NodeContent::Abs, chain.x);
  const uint32_t second =
      chain.binary(NodeContent::Multiply, first, chain.unary(NodeContent::Sigmoid, first));
  chain.end(chain.binary(NodeContent::Subtract, second, first));
  expect_chain(chain, 3, [](Row& row) {
    for (double& v : row) v = std::abs(v) / (1 + std::exp(-std::abs(v))) - std::abs(v);
  });
}

TEST(FusedStage, ShareOfSigmoidThatIsReadTwiceStays) {
  Chain chain;
  const uint32_t share = chain.unary(NodeContent::Sigmoid, chain.x);
  const uint32_t product = chain.binary(NodeContent::Multiply, chain.x, share);
  chain.end(chain.binary(NodeContent::Add, product, share));
  expect_chain(chain, 1, [](Row& row) {
    for (double& v : row) v = (v + 1) / (1 + std::exp(-v));
  });
}

TEST(FusedStage, Exponential) {
  Chain chain;
  chain.end(chain.unary(NodeContent::Exp, chain.x));
  expect_chain(chain, 2, [](Row& row) {
    for (double& v : row) v = std::exp(v);
  });
}

TEST(FusedStage, BatchNormWithinBounds) {
  const Floats weight = some_numbers(kColumns, 5), bias = some_numbers(kColumns, 11);
  for (const bool has_bounds : {false, true}) {
    Chain chain;
    const uint32_t product = chain.binary(NodeContent::Multiply, chain.entries(weight), chain.x);
    const uint32_t sum = chain.binary(NodeContent::Add, product, chain.entries(bias));
    if (has_bounds) chain.p.nodes.back().range = {0.0f, 6.0f};
    chain.end(sum);
    expect_chain(
        chain, 2,
        [&](Row& row) {
          for (size_t c = 0; c < kColumns; ++c) {
            row[c] = row[c] * static_cast<double>(weight[c]) + static_cast<double>(bias[c]);
            if (has_bounds) row[c] = std::fmin(std::fmax(row[c], 0), 6);
          }
        },
        has_bounds ? 2 : 1);
  }
}

TEST(FusedStage, FunctionsOfPositiveNumbers) {
  struct Case {
    NodeContent kind;
    double (*want)(double);
  };
  const Case cases[] = {
      {NodeContent::Log, [](double v) { return std::log(v); }},
      {NodeContent::Sin, [](double v) { return std::sin(v); }},
      {NodeContent::Cos, [](double v) { return std::cos(v); }},
      {NodeContent::SquareRoot, [](double v) { return std::sqrt(v); }},
      {NodeContent::ReciprocalSquareRoot, [](double v) { return 1 / std::sqrt(v); }},
  };
  for (const Case& c : cases) {
    Chain chain;
    const uint32_t square = chain.unary(NodeContent::Square, chain.x);
    const uint32_t sum = chain.binary(NodeContent::Add, square, chain.p.constant({1}, {0.5f}));
    chain.end(chain.unary(c.kind, sum));
    expect_chain(chain, 3, [&](Row& row) {
      for (double& v : row) v = c.want(v * v + 0.5);
    });
  }
}

// Checks a group norm with `groups` groups of 6 channels of 9 x 25 elements; a row is a group.
void expect_group_norm(uint32_t groups, bool has_weight, bool has_bias, uint32_t threads) {
  constexpr uint32_t kBatch = 8, kChannels = 6, kArea = 225;
  const uint32_t width = kChannels / groups * kArea;
  PayloadBuilder p;
  const Sizes rows = {kBatch * groups, width}, column = {kBatch * groups, 1},
              image = {kBatch, kChannels, 9, 25};
  const uint32_t x = p.input(rows), y = p.output(image);
  const auto mean = [&](uint32_t of) {
    const uint32_t to = p.inner(column);
    p.connected(of, p.constant({1, width}, Floats(width, 1.0f / static_cast<float>(width))),
                UINT32_MAX, to);
    return to;
  };
  const auto binary = [&](NodeContent kind, uint32_t a, uint32_t b, const Sizes& sizes) {
    const uint32_t to = p.inner(sizes);
    p.binary(kind, a, b, to);
    return to;
  };
  const uint32_t centred = binary(NodeContent::Subtract, x, mean(x), rows);
  const uint32_t square = p.inner(rows), root = p.inner(column), normal = p.inner(image);
  p.unary(NodeContent::Square, centred, square);
  p.unary(NodeContent::ReciprocalSquareRoot,
          binary(NodeContent::Add, mean(square), p.constant({1}, {1e-3f}), column), root);
  p.reshaped(binary(NodeContent::Multiply, centred, root, rows), image, normal);
  const Floats weight = some_numbers(kChannels, 5), bias = some_numbers(kChannels, 11);
  uint32_t last = normal;
  if (has_weight) {
    last = binary(NodeContent::Multiply, last, p.constant({kChannels, 1, 1}, weight), image);
  }
  if (has_bias) last = binary(NodeContent::Add, last, p.constant({kChannels, 1, 1}, bias), image);
  p.unary(NodeContent::Negate, last, y);
  const std::vector<uint8_t> payload = p.finish();
  EXPECT_EQ(stage_count(payload), has_own_stages() ? 2u : 1u);
  Loaded loaded(payload, on_threads(threads));
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  const size_t count = size_t{kBatch} * kChannels * kArea;
  const Floats data = some_numbers(count, 37);
  HeldFloats in({static_cast<int32_t>(kBatch * groups), static_cast<int32_t>(width)}, data);
  HeldFloats out({kBatch, kChannels, 9, 25}, Floats(count));
  ASSERT_TRUE(loaded.run({&in.value, &out.value}).ok());
  const Floats got = out.result();
  for (size_t first = 0; first < count; first += width) {
    double sum = 0, square_sum = 0;
    for (size_t i = 0; i < width; ++i) sum += static_cast<double>(data[first + i]) / width;
    for (size_t i = 0; i < width; ++i) {
      square_sum += std::pow(static_cast<double>(data[first + i]) - sum, 2) / width;
    }
    for (size_t i = first; i < first + width; ++i) {
      const size_t channel = i / kArea % kChannels;
      double want = (static_cast<double>(data[i]) - sum) / std::sqrt(square_sum + 1e-3);
      if (has_weight) want *= static_cast<double>(weight[channel]);
      if (has_bias) want += static_cast<double>(bias[channel]);
      ASSERT_NEAR(got[i], -want, 2e-5) << i;
    }
  }
}

TEST(FusedStage, GroupNormWithAWeightForEachChannel) {
  for (const uint32_t groups : {1u, 2u, 3u, 6u}) {
    SCOPED_TRACE(groups);
    expect_group_norm(groups, true, true, 1);
    expect_group_norm(groups, true, true, 2);
    expect_group_norm(groups, true, false, 1);
    expect_group_norm(groups, false, true, 1);
  }
}

// Each column of the first dimension is a line of the softmax.
TEST(FusedStage, SoftmaxAlongAnotherDimensionThanTheLast) {
  PayloadBuilder p;
  const Sizes sizes = {2, 21, 700}, swapped = {2, 700, 21};
  const uint32_t x = p.input(sizes), y = p.output(sizes);
  const uint32_t there = p.inner(swapped), softmax = p.inner(swapped), back = p.inner(sizes);
  p.transposed(x, {0, 2, 1}, there);
  p.unary(NodeContent::Softmax, there, softmax);
  p.transposed(softmax, {0, 2, 1}, back);
  p.unary(NodeContent::Negate, back, y);
  const std::vector<uint8_t> payload = p.finish();
  EXPECT_EQ(stage_count(payload), has_own_stages() ? 2u : 1u);
  for (const uint32_t threads : {1u, 2u}) {
    Loaded loaded(payload, on_threads(threads));
    ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
    const Floats data = some_numbers(2 * 21 * 700, 37);
    HeldFloats in({2, 21, 700}, data), out({2, 21, 700}, Floats(data.size()));
    ASSERT_TRUE(loaded.run({&in.value, &out.value}).ok());
    const Floats got = out.result();
    for (size_t line = 0; line < 1400; ++line) {
      const size_t first = line / 700 * 21 * 700 + line % 700;
      double sum = 0;
      for (size_t i = 0; i < 21; ++i) sum += std::exp(static_cast<double>(data[first + i * 700]));
      for (size_t i = 0; i < 21; ++i) {
        const double want = -std::exp(static_cast<double>(data[first + i * 700])) / sum;
        ASSERT_NEAR(got[first + i * 700], want, 1e-6);
      }
    }
  }
}

TEST(FusedStage, SoftmaxThatIsTransposedBackInAnotherWayIsXnnpacks) {
  PayloadBuilder p;
  const Sizes sizes = {16, 32, 32}, swapped = {16, 32, 32};
  const uint32_t x = p.input(sizes), y = p.output(sizes);
  const uint32_t there = p.inner(swapped), softmax = p.inner(swapped);
  p.transposed(x, {0, 2, 1}, there);
  p.unary(NodeContent::Softmax, there, softmax);
  p.transposed(softmax, {2, 1, 0}, y);
  EXPECT_EQ(stage_count(p.finish()), 1u);
}

TEST(FusedStage, LayerNorm) {
  const Floats weight = some_numbers(kColumns, 5), bias = some_numbers(kColumns, 11);
  for (int form = 0; form < 4; ++form) {
    SCOPED_TRACE(form);
    const bool has_weight = (form & 1) != 0, has_bias = (form & 2) != 0;
    Chain chain;
    const uint32_t centred = chain.binary(NodeContent::Subtract, chain.x, chain.mean(chain.x));
    uint32_t last = chain.scaled(centred, 1e-3f);
    if (has_weight) last = chain.binary(NodeContent::Multiply, last, chain.entries(weight));
    if (has_bias) last = chain.binary(NodeContent::Add, chain.entries(bias), last);
    chain.end(last);
    expect_chain(
        chain, 2,
        [&](Row& row) {
          normalise(row, true, static_cast<double>(1e-3f));
          for (size_t c = 0; c < kColumns; ++c) {
            if (has_weight) row[c] *= static_cast<double>(weight[c]);
            if (has_bias) row[c] += static_cast<double>(bias[c]);
          }
        },
        3);
  }
}

TEST(FusedStage, RootMeanSquareNorm) {
  Chain chain;
  chain.end(chain.scaled(chain.x, 1e-2f));
  expect_chain(chain, 2, [](Row& row) { normalise(row, false, static_cast<double>(1e-2f)); });
}

TEST(FusedStage, AnotherSumThanTheMeanStays) {
  Chain chain;
  const uint32_t twice = chain.mean(chain.x, 2.0f / kColumns);
  chain.end(chain.scaled(chain.binary(NodeContent::Subtract, chain.x, twice), 1e-2f));
  // The second half is a norm by itself, of the first half's result.
  expect_chain(chain, 3, [](Row& row) {
    double mean = 0;
    for (double v : row) mean += 2 * v / kColumns;
    for (double& v : row) v -= mean;
    normalise(row, false, static_cast<double>(1e-2f));
  });
}

TEST(FusedStage, SumWithinBounds) {
  Chain chain;
  const uint32_t other = chain.unary(NodeContent::Square, chain.x);
  const uint32_t sum = chain.binary(NodeContent::Add, chain.x, other);
  chain.p.nodes.back().range = {0.f, 6.f};
  chain.end(sum);
  expect_chain(chain, 3, [](Row& row) {
    for (double& v : row) v = std::fmin(std::fmax(v + v * v, 0), 6);
  });
}

TEST(FusedStage, FewElementsAreNotWorthIt) {
  Chain chain(3);
  chain.end(
      chain.binary(NodeContent::Multiply, chain.x, chain.unary(NodeContent::Sigmoid, chain.x)));
  expect_chain(chain, 1, swish);
}

}  // namespace
}  // namespace taper::xnnpack
