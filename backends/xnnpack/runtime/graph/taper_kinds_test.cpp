// Tests Taper's own kinds of nodes against their formulas in double, both when a stage of ours
// computes them and when several XNNPACK nodes do; hostile ones are refused.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "backends/xnnpack/runtime/stages/stages_for_test.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

constexpr uint32_t kNothing = UINT32_MAX;

size_t count_of(const Sizes& sizes) {
  size_t count = 1;
  for (const uint32_t size : sizes) count *= size;
  return count;
}

// y = -node(-x): one of our nodes between two of XNNPACK's; x and y have `sizes`.
struct OneNode {
  PayloadBuilder p;
  Sizes sizes;
  uint32_t x, before, after, y;

  explicit OneNode(Sizes shape)
      : sizes(std::move(shape)),
        x(p.input(sizes)),
        before(p.inner(sizes)),
        after(p.inner(sizes)),
        y(p.output(sizes)) {
    p.unary(NodeContent::Negate, x, before);
  }

  void end() { p.unary(NodeContent::Negate, after, y); }

  // Runs it on one thread and on three; returns the node's result for -numbers.
  Floats result(const Floats& numbers) {
    const std::vector<uint8_t> payload = p.finish();
    const bool is_large = count_of(sizes) >= 8192;
    EXPECT_EQ(stage_count(payload), is_large && has_own_stages() ? 3u : 1u);
    Floats first;
    for (const uint32_t threads : {1u, 3u}) {
      Loaded loaded(payload, on_threads(threads));
      EXPECT_TRUE(loaded.status.ok()) << loaded.status.message();
      if (!loaded.status.ok()) return {};
      const std::vector<int32_t> shape(sizes.begin(), sizes.end());
      HeldFloats in(shape, numbers), out(shape, Floats(numbers.size()));
      const Status status = loaded.run({&in.value, &out.value});
      EXPECT_TRUE(status.ok()) << status.message();
      Floats got = out.result();
      for (float& v : got) v = -v;
      if (threads == 1) first = got;
      EXPECT_EQ(first, got);
    }
    return first;
  }
};

using Row = std::vector<double>;

// Compares rows of `width` elements with what `function` makes of them.
void expect_rows(OneNode& node, size_t width, const std::function<void(Row&)>& function) {
  const Floats data = some_numbers(count_of(node.sizes), 37);
  const Floats got = node.result(data);
  ASSERT_EQ(got.size(), data.size());
  for (size_t first = 0; first < data.size(); first += width) {
    Row row;
    for (size_t i = 0; i < width; ++i) row.push_back(-static_cast<double>(data[first + i]));
    function(row);
    for (size_t i = 0; i < width; ++i) {
      ASSERT_NEAR(got[first + i], row[i], 2e-5 * std::fmax(1, std::abs(row[i]))) << first + i;
    }
  }
}

void normalize(Row& row, bool is_centred, double eps) {
  const auto width = static_cast<double>(row.size());
  double mean = 0, square = 0;
  for (const double v : row) mean += is_centred ? v / width : 0;
  for (double& v : row) v -= mean;
  for (const double v : row) square += v * v / width;
  for (double& v : row) v /= std::sqrt(square + eps);
}

TEST(TaperKinds, Swish) {
  for (const uint32_t rows : {3u, 77u}) {
    OneNode node({rows, 133});
    node.p.taper_node(NodeContent::Swish,
                      wire::CreateUnary(node.p.fbb, node.before, node.after).Union());
    node.end();
    expect_rows(node, 1, [](Row& row) { row[0] /= 1 + std::exp(-row[0]); });
  }
}

TEST(TaperKinds, GeluByTanh) {
  for (const uint32_t rows : {3u, 77u}) {
    OneNode node({rows, 133});
    node.p.taper_node(NodeContent::GeluTanh,
                      wire::CreateUnary(node.p.fbb, node.before, node.after).Union());
    node.end();
    expect_rows(node, 1, [](Row& row) {
      const double x = row[0];
      row[0] =
          0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    });
  }
}

struct RowCase {
  Sizes sizes;
  uint32_t row_dims;
};

TEST(TaperKinds, NormsOfRows) {
  const RowCase cases[] = {{{3, 133}, 1},       {{77, 133}, 1}, {{2, 3, 5, 7}, 2},
                           {{16, 9, 5, 21}, 2}, {{7}, 1},       {{2, 4}, 2}};
  for (const RowCase& c : cases) {
    for (int form = 0; form < 8; ++form) {
      SCOPED_TRACE(form);
      const bool is_centred = (form & 1) != 0, has_weight = (form & 2) != 0,
                 has_bias = (form & 4) != 0;
      const Sizes entries(c.sizes.end() - c.row_dims, c.sizes.end());
      const size_t width = count_of(entries);
      const Floats weight = some_numbers(width, 5), bias = some_numbers(width, 11);
      OneNode node(c.sizes);
      const uint32_t w = has_weight ? node.p.constant(entries, weight) : kNothing;
      const uint32_t b = has_bias ? node.p.constant(entries, bias) : kNothing;
      node.p.taper_node(
          is_centred ? NodeContent::LayerNorm : NodeContent::RmsNorm,
          wire::CreateRowNorm(node.p.fbb, node.before, w, b, node.after, c.row_dims, 1e-2f)
              .Union());
      node.end();
      expect_rows(node, width, [&](Row& row) {
        normalize(row, is_centred, static_cast<double>(1e-2f));
        for (size_t i = 0; i < width; ++i) {
          if (has_weight) row[i] *= static_cast<double>(weight[i]);
          if (has_bias) row[i] += static_cast<double>(bias[i]);
        }
      });
    }
  }
}

TEST(TaperKinds, NormsOfGroups) {
  const Sizes shapes[] = {{2, 6, 3, 5}, {8, 6, 9, 25}, {3, 6, 7}, {8, 6}};
  for (const Sizes& sizes : shapes) {
    const size_t area = count_of(sizes) / sizes[0] / 6;
    const Floats weight = some_numbers(6, 5), bias = some_numbers(6, 11);
    for (const uint32_t groups : {1u, 2u, 3u, 6u}) {
      for (int form = 0; form < 4; ++form) {
        SCOPED_TRACE(groups * 10 + static_cast<uint32_t>(form));
        const bool has_weight = (form & 1) != 0, has_bias = (form & 2) != 0;
        OneNode node(sizes);
        const uint32_t w = has_weight ? node.p.constant({6}, weight) : kNothing;
        const uint32_t b = has_bias ? node.p.constant({6}, bias) : kNothing;
        node.p.taper_node(
            NodeContent::GroupNorm,
            wire::CreateGroupNorm(node.p.fbb, node.before, w, b, node.after, groups, 1e-3f)
                .Union());
        node.end();
        size_t channel = 0;  // The first channel of the row.
        expect_rows(node, area * 6 / groups, [&](Row& row) {
          normalize(row, true, static_cast<double>(1e-3f));
          for (size_t i = 0; i < row.size(); ++i) {
            const size_t c = (channel + i / area) % 6;
            if (has_weight) row[i] *= static_cast<double>(weight[c]);
            if (has_bias) row[i] += static_cast<double>(bias[c]);
          }
          channel += row.size() / area;
        });
      }
    }
  }
}

// What a group norm of images makes of numbers, channels last; weight and bias may be empty.
Row group_norm_of(const Floats& numbers, const Sizes& sizes, uint32_t groups, const Floats& weight,
                  const Floats& bias) {
  const size_t channels = sizes.back(), size = channels / groups;
  const size_t area = count_of(sizes) / sizes[0] / channels;
  Row want(numbers.size());
  for (size_t i = 0; i < sizes[0] * groups; ++i) {
    const size_t begin = i / groups * area * channels + i % groups * size;
    const auto at = [&](size_t k) { return begin + k / size * channels + k % size; };
    Row row;
    for (size_t k = 0; k < area * size; ++k) row.push_back(static_cast<double>(numbers[at(k)]));
    normalize(row, true, static_cast<double>(1e-3f));
    for (size_t k = 0; k < row.size(); ++k) {
      const size_t c = at(k) % channels;
      if (!weight.empty()) row[k] *= static_cast<double>(weight[c]);
      if (!bias.empty()) row[k] += static_cast<double>(bias[c]);
      want[at(k)] = row[k];
    }
  }
  return want;
}

// `form` is a mask: 1 has a weight, 2 a bias, 4 bounds.
void expect_image_norm(const Sizes& sizes, uint32_t groups, int form) {
  const uint32_t channels = sizes.back();
  const bool has_weight = (form & 1) != 0, has_bias = (form & 2) != 0, has_bounds = (form & 4) != 0;
  const Floats weight = has_weight ? some_numbers(channels, 5) : Floats();
  const Floats bias = has_bias ? some_numbers(channels, 11) : Floats();
  OneNode node(sizes);
  const uint32_t w = has_weight ? node.p.constant({channels}, weight) : kNothing;
  const uint32_t b = has_bias ? node.p.constant({channels}, bias) : kNothing;
  node.p.taper_node(
      NodeContent::ImageGroupNorm,
      wire::CreateGroupNorm(node.p.fbb, node.before, w, b, node.after, groups, 1e-3f).Union());
  if (has_bounds) node.p.nodes.back().range = {-0.5f, 0.5f};
  node.end();
  Floats data = some_numbers(count_of(sizes), 37);
  const Floats got = node.result(data);
  for (float& x : data) x = -x;
  const Row want = group_norm_of(data, sizes, groups, weight, bias);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    const double bounded = has_bounds ? std::fmin(std::fmax(want[i], -0.5), 0.5) : want[i];
    ASSERT_NEAR(got[i], bounded, 2e-5 * std::fmax(1, std::abs(bounded))) << i;
  }
}

// Signals, images and volumes; some are small, and some of the large ones end with a small chunk.
TEST(TaperKinds, NormsOfGroupsOfChannelsThatAreLast) {
  const Sizes shapes[] = {{2, 5, 6},       {3, 2, 3, 12}, {1, 1, 48},       {1, 1999, 6},
                          {3, 37, 20, 12}, {2, 9, 1026},  {1, 4, 9, 7, 84}, {1, 8192, 6}};
  for (const Sizes& sizes : shapes) {
    for (const uint32_t groups : {1u, 2u, 3u, sizes.back()}) {
      for (const int form : {0, 1, 2, 7}) {
        SCOPED_TRACE(groups * 10 + static_cast<uint32_t>(form));
        expect_image_norm(sizes, groups, form);
      }
    }
  }
}

TEST(TaperKinds, BatchNormWithinBounds) {
  const Floats weight = some_numbers(133, 5), bias = some_numbers(133, 11);
  for (const uint32_t rows : {3u, 77u}) {
    for (const bool has_bounds : {false, true}) {
      OneNode node({rows, 133});
      const uint32_t w = node.p.constant({133}, weight), b = node.p.constant({133}, bias);
      node.p.taper_node(
          NodeContent::BatchNorm,
          wire::CreateChannelScale(node.p.fbb, node.before, w, b, node.after).Union());
      if (has_bounds) node.p.nodes.back().range = {0.0f, 6.0f};
      node.end();
      expect_rows(node, 133, [&](Row& row) {
        for (size_t c = 0; c < 133; ++c) {
          row[c] = row[c] * static_cast<double>(weight[c]) + static_cast<double>(bias[c]);
          if (has_bounds) row[c] = std::fmin(std::fmax(row[c], 0), 6);
        }
      });
    }
  }
}

TEST(TaperKinds, SoftmaxAlongAnyDimension) {
  const Sizes shapes[] = {{2, 5, 7}, {4, 21, 133}};
  for (const Sizes& sizes : shapes) {
    for (uint32_t dim = 0; dim < 3; ++dim) {
      SCOPED_TRACE(dim);
      OneNode node(sizes);
      node.p.taper_node(NodeContent::DimSoftmax,
                        wire::CreateDimSoftmax(node.p.fbb, node.before, node.after, dim).Union());
      node.end();
      const Floats data = some_numbers(count_of(sizes), 37);
      const Floats got = node.result(data);
      ASSERT_EQ(got.size(), data.size());
      size_t inner = 1;
      for (uint32_t d = dim + 1; d < 3; ++d) inner *= sizes[d];
      for (size_t i = 0; i < data.size(); ++i) {
        const size_t first = i / (inner * sizes[dim]) * inner * sizes[dim] + i % inner;
        double sum = 0;
        for (size_t k = 0; k < sizes[dim]; ++k) {
          sum += std::exp(-static_cast<double>(data[first + k * inner]));
        }
        ASSERT_NEAR(got[i], std::exp(-static_cast<double>(data[i])) / sum, 1e-6) << i;
      }
    }
  }
}

// The number of images may change.
TEST(TaperKinds, SizesMayChangeBetweenRuns) {
  OneNode node({4, 6, 8});
  node.p.taper_node(
      NodeContent::GroupNorm,
      wire::CreateGroupNorm(node.p.fbb, node.before, kNothing, kNothing, node.after, 2, 0).Union());
  node.end();
  Loaded loaded(node.p.finish());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  Floats numbers;
  for (int i = 0; i < 48; ++i) numbers.push_back(i % 2 == 0 ? 3.0f : 5.0f);
  HeldFloats in({1, 6, 8}, numbers), out({4, 6, 8}, Floats(192));
  ASSERT_TRUE(loaded.run({&in.value, &out.value}).ok());
  const Floats got = out.result();
  ASSERT_EQ(got.size(), 48u);
  for (size_t i = 0; i < 48; ++i) EXPECT_NEAR(got[i], i % 2 == 0 ? -1 : 1, 1e-5);
  HeldFloats wide({1, 6, 9}, Floats(54)), other({4, 6, 9}, Floats(216));
  EXPECT_FALSE(loaded.run({&wide.value, &other.value}).ok());
}

// A node from x [4, 6, 8] to y, made by `make(builder, x, y)`.
using Make = std::function<void(PayloadBuilder&, uint32_t, uint32_t)>;

bool is_taken(const Make& make, const Sizes& result = {4, 6, 8}) {
  PayloadBuilder p;
  const uint32_t x = p.input({4, 6, 8}), y = p.output(result);
  make(p, x, y);
  return Loaded(p.finish()).status.ok();
}

TEST(TaperKinds, APayloadForExecutorchHasNone) {
  const Make swish = [](PayloadBuilder& p, uint32_t x, uint32_t y) {
    p.unary(NodeContent::Swish, x, y);
  };
  EXPECT_FALSE(is_taken(swish));
  EXPECT_TRUE(is_taken([&](PayloadBuilder& p, uint32_t x, uint32_t y) {
    swish(p, x, y);
    p.identifier = kTaperIdentifier;
  }));
  EXPECT_FALSE(is_taken([&](PayloadBuilder& p, uint32_t x, uint32_t y) {
    swish(p, x, y);
    p.identifier = "XT02";
  }));
}

TEST(TaperKinds, NodesThatLieAreRefused) {
  const auto row_norm = [](uint32_t row_dims, const Sizes& entries) {
    return is_taken([&](PayloadBuilder& p, uint32_t x, uint32_t y) {
      const uint32_t w = p.constant(entries, Floats(count_of(entries)));
      p.taper_node(NodeContent::LayerNorm,
                   wire::CreateRowNorm(p.fbb, x, w, kNothing, y, row_dims, 1).Union());
    });
  };
  EXPECT_TRUE(row_norm(1, {8}));
  EXPECT_TRUE(row_norm(2, {6, 8}));
  EXPECT_FALSE(row_norm(1, {7}));
  EXPECT_FALSE(row_norm(2, {8}));
  EXPECT_FALSE(row_norm(0, {1}));
  EXPECT_FALSE(row_norm(4, {4, 6, 8}));
  EXPECT_FALSE(row_norm(UINT32_MAX, {8}));
  const auto group_norm = [](uint32_t groups, const Sizes& entries, const Sizes& result) {
    return is_taken(
        [&](PayloadBuilder& p, uint32_t x, uint32_t y) {
          const uint32_t w = p.constant(entries, Floats(count_of(entries)));
          p.taper_node(NodeContent::GroupNorm,
                       wire::CreateGroupNorm(p.fbb, x, kNothing, w, y, groups, 1).Union());
        },
        result);
  };
  EXPECT_TRUE(group_norm(3, {6}, {4, 6, 8}));
  EXPECT_FALSE(group_norm(0, {6}, {4, 6, 8}));
  EXPECT_FALSE(group_norm(4, {6}, {4, 6, 8}));
  EXPECT_FALSE(group_norm(3, {8}, {4, 6, 8}));
  EXPECT_FALSE(group_norm(3, {6}, {4, 6, 9}));
  EXPECT_FALSE(group_norm(3, {6}, {4, 48}));
  const auto image_norm = [](uint32_t groups, const Sizes& entries) {
    return is_taken([&](PayloadBuilder& p, uint32_t x, uint32_t y) {
      const uint32_t w = p.constant(entries, Floats(count_of(entries)));
      p.taper_node(NodeContent::ImageGroupNorm,
                   wire::CreateGroupNorm(p.fbb, x, w, kNothing, y, groups, 1).Union());
    });
  };
  EXPECT_TRUE(image_norm(4, {8}));
  EXPECT_FALSE(image_norm(0, {8}));
  EXPECT_FALSE(image_norm(3, {8}));
  EXPECT_FALSE(image_norm(2, {6}));
  const auto softmax = [](uint32_t dim) {
    return is_taken([&](PayloadBuilder& p, uint32_t x, uint32_t y) {
      p.taper_node(NodeContent::DimSoftmax, wire::CreateDimSoftmax(p.fbb, x, y, dim).Union());
    });
  };
  EXPECT_TRUE(softmax(2));
  EXPECT_FALSE(softmax(3));
}

TEST(TaperKinds, WeightsAreConstantFloats) {
  const auto scale = [](const Make& make) { return is_taken(make); };
  EXPECT_TRUE(scale([](PayloadBuilder& p, uint32_t x, uint32_t y) {
    const uint32_t w = p.constant({8}, Floats(8));
    p.taper_node(NodeContent::BatchNorm, wire::CreateChannelScale(p.fbb, x, w, w, y).Union());
  }));
  EXPECT_FALSE(scale([](PayloadBuilder& p, uint32_t x, uint32_t y) {
    const uint32_t w = p.constant({8}, Floats(8));
    p.taper_node(NodeContent::BatchNorm,
                 wire::CreateChannelScale(p.fbb, x, w, kNothing, y).Union());
  }));
  EXPECT_FALSE(scale([](PayloadBuilder& p, uint32_t x, uint32_t y) {
    const uint32_t w = p.input({8});
    p.taper_node(NodeContent::BatchNorm, wire::CreateChannelScale(p.fbb, x, w, w, y).Union());
  }));
  EXPECT_FALSE(scale([](PayloadBuilder& p, uint32_t x, uint32_t y) {
    const uint32_t half = p.add({{4, 6, 8}, 0, UINT32_MAX, 0, wire::DataType::FP16});
    p.unary(NodeContent::Convert, x, half);
    p.taper_node(NodeContent::Swish, wire::CreateUnary(p.fbb, half, y).Union());
  }));
}

// Changes every byte of a payload with all kinds in turn.
TEST(TaperKinds, EveryChangedByteIsSurvived) {
  PayloadBuilder p;
  const Sizes sizes = {2, 4, 3};
  const uint32_t x = p.input(sizes), y = p.output(sizes);
  const uint32_t w = p.constant({3}, {1, 2, 3}), channels = p.constant({4}, {1, 2, 3, 4});
  uint32_t t[8] = {x};
  for (int i = 1; i < 8; ++i) t[i] = p.inner(sizes);
  p.taper_node(NodeContent::Swish, wire::CreateUnary(p.fbb, t[0], t[1]).Union());
  p.taper_node(NodeContent::LayerNorm, wire::CreateRowNorm(p.fbb, t[1], w, w, t[2], 1, 1).Union());
  p.taper_node(NodeContent::RmsNorm,
               wire::CreateRowNorm(p.fbb, t[2], kNothing, kNothing, t[3], 2, 1).Union());
  p.taper_node(NodeContent::GroupNorm,
               wire::CreateGroupNorm(p.fbb, t[3], channels, channels, t[4], 2, 1).Union());
  p.taper_node(NodeContent::BatchNorm, wire::CreateChannelScale(p.fbb, t[4], w, w, t[5]).Union());
  p.taper_node(NodeContent::DimSoftmax, wire::CreateDimSoftmax(p.fbb, t[5], t[6], 1).Union());
  p.taper_node(NodeContent::ImageGroupNorm,
               wire::CreateGroupNorm(p.fbb, t[6], w, w, t[7], 3, 1).Union());
  p.taper_node(NodeContent::GeluTanh, wire::CreateUnary(p.fbb, t[7], y).Union());
  const std::vector<uint8_t> good = p.finish();
  ASSERT_TRUE(Loaded(good).status.ok());
  HeldFloats in({2, 4, 3}, Floats(24, 1)), out({2, 4, 3}, Floats(24));
  run_with_each_byte_changed(good, in, out);
}

}  // namespace
}  // namespace taper::xnnpack
