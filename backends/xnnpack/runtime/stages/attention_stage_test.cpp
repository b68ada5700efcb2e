// Tests attention as a stage, against its definition in double: heads that share keys, masks of
// every shape, either layout of keys and values, one query and many, sizes below the greatest.

#include "backends/xnnpack/runtime/stages/attention_stage.h"

#include <gtest/gtest.h>

#include <cmath>

#include "backends/xnnpack/runtime/stages/stages_for_test.h"
#include "backends/xnnpack/runtime/xnnpack_backend.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

constexpr uint32_t kElements = 20, kWidth = 36;
constexpr float kScale = 0.25f;

// A tensor with its sizes; sizes of 1 repeat.
struct Array {
  Sizes sizes;
  Floats data;

  Array(Sizes all, size_t step) : sizes(std::move(all)), data(some_numbers(count(), step, 1)) {}
  size_t count() const {
    size_t n = 1;
    for (uint32_t size : sizes) n *= size;
    return n;
  }
  // The element at the last of these indices, as many as there are dimensions.
  double at(std::initializer_list<uint32_t> index) const {
    size_t place = 0;
    const uint32_t* i = index.end() - sizes.size();
    for (size_t d = 0; d < sizes.size(); ++d) {
      place = place * sizes[d] + (sizes[d] == 1 ? 0 : i[d]);
    }
    return static_cast<double>(data[place]);
  }
};

struct Case {
  uint32_t batch = 2, heads = 3, key_heads = 3, queries = 40, keys = 90;
  Sizes mask = {};  // Empty: none.
  bool turned = false, scaled = false, divided = false, mask_first = false;
  bool reshaped = false;  // The products have one dimension of heads, the scores two.
  uint32_t threads = 1;
};

// The payload for a case; the last node negates, so that the result is not an argument.
struct Model {
  explicit Model(const Case& c) : c(c) {
    const Sizes scores = {c.batch, c.heads, c.queries, c.keys};
    const Sizes result = {c.batch, c.heads, c.queries, kWidth};
    const uint32_t q = p.input(flat(query.sizes)), k = p.input(flat(key.sizes)),
                   v = p.input(flat(value.sizes));
    const uint32_t m = c.mask.empty() ? UINT32_MAX : p.input(c.mask);
    const uint32_t y = p.output(flat(result));
    uint32_t at = product = p.inner(flat(scores));
    p.binary(NodeContent::BatchMatrixMultiply, q, k, at, c.turned ? 0 : XNN_FLAG_TRANSPOSE_B);
    if (c.reshaped) p.reshaped(product, scores, at = p.inner(scores));
    if (c.scaled || c.divided) {
      const uint32_t before = at, factor = p.constant({1}, {c.scaled ? kScale : 1 / kScale});
      const NodeContent kind = c.scaled ? NodeContent::Multiply : NodeContent::Divide;
      p.binary(kind, before, factor, at = p.inner(scores));
    }
    if (m != UINT32_MAX) {
      const uint32_t before = at;
      at = p.inner(scores);
      p.binary(NodeContent::Add, c.mask_first ? m : before, c.mask_first ? before : m, at);
    }
    uint32_t weights = p.inner(scores);
    const uint32_t sums = p.inner(flat(result));
    p.unary(NodeContent::Softmax, at, weights);
    if (c.reshaped) {
      const uint32_t four = weights;
      p.reshaped(four, flat(scores), weights = p.inner(flat(scores)));
    }
    p.binary(NodeContent::BatchMatrixMultiply, weights, v, sums,
             c.turned ? XNN_FLAG_TRANSPOSE_B : 0);
    p.unary(NodeContent::Negate, sums, y);
  }

  // The sizes of what has one dimension of heads in a reshaped case.
  Sizes flat(const Sizes& sizes) const {
    return c.reshaped ? Sizes{sizes[0] * sizes[1], sizes[2], sizes[3]} : sizes;
  }
  std::vector<int32_t> shape(const Sizes& sizes) const {
    const Sizes all = flat(sizes);
    return {all.begin(), all.end()};
  }

  // The row of the result for a query, as the nodes compute it in double.
  std::vector<double> expected(uint32_t b, uint32_t h, uint32_t q) const {
    std::vector<double> scores(c.keys), sums(kWidth);
    double most = -INFINITY, total = 0;
    for (uint32_t k = 0; k < c.keys; ++k) {
      for (uint32_t e = 0; e < kElements; ++e) {
        const double of_key = c.turned ? key.at({b, h, e, k}) : key.at({b, h, k, e});
        scores[k] += query.at({b, h, q, e}) * of_key;
      }
      if (c.scaled || c.divided) scores[k] *= static_cast<double>(kScale);
      if (!c.mask.empty()) scores[k] += mask.at({b, h, q, k});
      most = std::max(most, scores[k]);
    }
    for (double& score : scores) total += score = std::exp(score - most);
    for (uint32_t w = 0; w < kWidth; ++w) {
      for (uint32_t k = 0; k < c.keys; ++k) {
        sums[w] -= scores[k] * (c.turned ? value.at({b, h, w, k}) : value.at({b, h, k, w})) / total;
      }
    }
    return sums;
  }

  void expect_right(Loaded& loaded) {
    HeldFloats q(shape(query.sizes), query.data), k(shape(key.sizes), key.data);
    HeldFloats v(shape(value.sizes), value.data);
    HeldFloats m({c.mask.begin(), c.mask.end()}, mask.data);
    HeldFloats y(shape({c.batch, c.heads, c.queries, kWidth}),
                 Floats(size_t{c.batch} * c.heads * c.queries * kWidth));
    std::vector<EValue*> arguments = {&q.value, &k.value, &v.value, &m.value, &y.value};
    if (c.mask.empty()) arguments.erase(arguments.begin() + 3);
    const Status status = loaded.run(arguments);
    ASSERT_TRUE(status.ok()) << status.message();
    const Floats got = y.result();
    for (uint32_t row = 0; row < got.size() / kWidth; ++row) {
      const uint32_t head = row / c.queries % c.heads, batch = row / c.queries / c.heads;
      const std::vector<double> want = expected(batch, head, row % c.queries);
      for (uint32_t w = 0; w < kWidth; ++w)
        ASSERT_NEAR(got[row * kWidth + w], want[w], 1e-5) << row;
    }
  }

  Case c;
  Array query{{c.batch, c.heads, c.queries, kElements}, 37};
  Array key{c.turned ? Sizes{c.batch, c.key_heads, kElements, c.keys}
                     : Sizes{c.batch, c.key_heads, c.keys, kElements},
            53};
  Array value{c.turned ? Sizes{c.batch, c.key_heads, kWidth, c.keys}
                       : Sizes{c.batch, c.key_heads, c.keys, kWidth},
              71};
  Array mask{c.mask, 29};
  uint32_t product = 0;  // The scores, before they are scaled and masked.
  PayloadBuilder p;
};

void check(const Case& c) {
  Model model(c);
  const std::vector<uint8_t> payload = model.p.finish();
  EXPECT_EQ(stage_count(payload), has_own_stages() ? 2 : 1);
  Loaded loaded(payload, on_threads(c.threads));
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  model.expect_right(loaded);
  if (c.reshaped) return;  // Its reshapes have fixed sizes.
  Case fewer = c;          // Other sizes may be anything up to those of the payload.
  fewer.queries = (c.queries + 1) / 2;
  fewer.keys = 33;
  const size_t rank = c.mask.size();
  if (rank >= 1 && c.mask[rank - 1] != 1) fewer.mask[rank - 1] = fewer.keys;
  if (rank >= 2 && c.mask[rank - 2] != 1) fewer.mask[rank - 2] = fewer.queries;
  Model(fewer).expect_right(loaded);
}

TEST(AttentionStage, ManyQueries) {
  check({});
  check({.turned = true, .threads = 2});
  check({.key_heads = 1, .queries = 101, .scaled = true, .threads = 3});
}

TEST(AttentionStage, FewQueries) {
  check({.queries = 1, .keys = 2000});
  check({.queries = 7, .keys = 300, .turned = true});
  check({.key_heads = 1, .queries = 2, .keys = 1000, .mask = {1000}, .threads = 2});
}

TEST(AttentionStage, MasksOfEveryShape) {
  const Sizes masks[] = {{40, 90},      {90},           {40, 1},        {1, 1, 90},
                         {2, 1, 1, 90}, {2, 3, 40, 90}, {1, 3, 40, 90}, {3, 1, 1}};
  for (const Sizes& mask : masks) {
    SCOPED_TRACE(testing::PrintToString(mask));
    check({.mask = mask, .scaled = true});
    check({.key_heads = 1, .mask = mask, .mask_first = true});
  }
}

TEST(AttentionStage, HeadsInOneDimensionOrTwo) {
  check({.divided = true, .reshaped = true});
  check({.mask = {2, 1, 40, 90}, .scaled = true, .reshaped = true, .threads = 2});
}

TEST(AttentionStage, LeavesScoresThatOthersRead) {
  Model model({});
  model.p.unary(NodeContent::Negate, model.product, model.p.output({2, 3, 40, 90}));
  EXPECT_EQ(stage_count(model.p.finish()), 1u);
}

// The products have one head, and the mask two.
TEST(AttentionStage, LeavesScoresThatTheMaskEnlarges) {
  PayloadBuilder p;
  const uint32_t q = p.input({1, 100, 8}), k = p.input({1, 100, 8}), m = p.input({2, 100, 100});
  const uint32_t y = p.output({2, 100, 8}), products = p.inner({1, 100, 100});
  const uint32_t scores = p.inner({2, 100, 100}), weights = p.inner({2, 100, 100});
  p.binary(NodeContent::BatchMatrixMultiply, q, k, products, XNN_FLAG_TRANSPOSE_B);
  p.binary(NodeContent::Add, products, m, scores);
  p.unary(NodeContent::Softmax, scores, weights);
  p.binary(NodeContent::BatchMatrixMultiply, weights, k, y);
  EXPECT_EQ(stage_count(p.finish()), 1u);
}

}  // namespace
}  // namespace taper::xnnpack
