// Tests what follows the tiles of a product, against the function in double of what XNNPACK computes
// without it, and that a product whose result others read as well keeps it.

#include "backends/xnnpack/runtime/stages/fused/epilogue.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>

#include "backends/xnnpack/runtime/stages/stages_for_test.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

// A product, by the sizes of what it reads and of its result.
struct Product {
  const char* name;
  Sizes x, y;
  uint32_t window = 0;  // Of a convolution; 0: a layer.
  uint32_t step = 1;
};

const Product kProducts[] = {
    {"layer", {5, 37}, {5, 70}},
    {"layer of many columns", {29, 700}, {29, 203}},
    {"layer of 1 row", {1, 64}, {1, 33}},
    {"pointwise convolution", {1, 6, 7, 18}, {1, 6, 7, 52}, 1},
    {"convolution of 2 images", {2, 9, 11, 20}, {2, 5, 6, 35}, 3, 2},
    {"convolution to 1 channel", {1, 8, 8, 16}, {1, 8, 8, 1}, 1},
};

using OfTwo = std::function<double(double product, double addend)>;

struct After {
  const char* name;
  OfTwo function;
  NodeContent kind;
  bool is_sum = false;
};

const After kAfter[] = {
    {"hardswish", [](double v, double) { return hardswish(v); }, NodeContent::Hardswish},
    {"gelu", [](double v, double) { return gelu(v); }, NodeContent::Gelu},
    {"sigmoid", [](double v, double) { return 1 / (1 + std::exp(-v)); }, NodeContent::Sigmoid},
    {"swish", [](double v, double) { return swish(v); }, NodeContent::Swish},
    {"tanh", [](double v, double) { return std::tanh(v); }, NodeContent::Tanh},
    {"sum", [](double v, double a) { return v + a; }, NodeContent::Add, true},
    {"clamped sum", [](double v, double a) { return limit(v + a, 0, 2); }, NodeContent::Add, true},
};

size_t count_of(const Sizes& sizes) {
  size_t count = 1;
  for (uint32_t size : sizes) count *= size;
  return count;
}

// A product of input 0, what follows it, with input 1 as the addend, and a clamp after that, which
// XNNPACK would otherwise join with the product.
struct Followed {
  PayloadBuilder p;
  uint32_t result;

  Followed(const Product& product, const After& after, bool shows_product) {
    const uint32_t x = p.input(product.x), other = p.input(product.y);
    const uint32_t made = shows_product ? p.output(product.y) : p.inner(product.y);
    result = p.inner(product.y);
    const uint32_t y = p.output(product.y);
    const uint32_t ins = product.x.back(), outs = product.y.back();
    const uint32_t bias = p.constant({outs}, some_numbers(outs, 3, 1));
    if (product.window == 0) {
      p.connected(x, p.constant({outs, ins}, some_numbers(size_t{ins} * outs, 31, 0.4f)), bias,
                  made);
    } else {
      const uint32_t w = product.window;
      PayloadBuilder::Windows windows = PayloadBuilder::Windows::padded(w / 2);
      windows.step = product.step;
      const Floats filter = some_numbers(size_t{w} * w * ins * outs, 31, 0.4f);
      p.convolved(x, p.constant({outs, w, w, ins}, filter), bias, made, windows);
    }
    if (after.is_sum) {
      p.binary(NodeContent::Add, other, made, result);
      if (std::string(after.name) == "clamped sum") p.nodes.back().range = {0.f, 2.f};
    } else if (after.kind == NodeContent::Swish) {
      p.taper_node(after.kind, wire::CreateUnary(p.fbb, made, result).Union());
    } else {
      p.unary(after.kind, made, result);
    }
    p.unary(NodeContent::Clamp, result, y);
    p.nodes.back().range = {-0.3f, 40.f};
  }
};

struct Results {
  Floats product, last;
};

Results run(const Product& product, const After& after, bool shows_product, uint32_t threads) {
  Followed graph(product, after, shows_product);
  Loaded loaded(graph.p.finish(), on_threads(threads));
  EXPECT_TRUE(loaded.status.ok()) << loaded.status.message();
  const auto held = [](const Sizes& sizes, size_t step) {
    return HeldFloats(std::vector<int32_t>(sizes.begin(), sizes.end()),
                      some_numbers(count_of(sizes), step, 1));
  };
  HeldFloats x = held(product.x, 13), other = held(product.y, 17);
  HeldFloats made = held(product.y, 1), y = held(product.y, 1);
  const Status status = shows_product ? loaded.run({&x.value, &other.value, &made.value, &y.value})
                                      : loaded.run({&x.value, &other.value, &y.value});
  EXPECT_TRUE(status.ok()) << status.message();
  return {made.result(), y.result()};
}

TEST(Epilogue, FollowsEachTileOfAProduct) {
  for (const Product& product : kProducts) {
    for (const After& after : kAfter) {
      for (const uint32_t threads : {1u, 3u}) {
        SCOPED_TRACE(testing::Message()
                     << after.name << " after a " << product.name << ", " << threads << " threads");
        const Floats made = run(product, after, true, threads).product;
        const Floats got = run(product, after, false, threads).last;
        const Floats other = some_numbers(made.size(), 17, 1);
        ASSERT_EQ(got.size(), made.size());
        for (size_t i = 0; i < got.size(); ++i) {
          const double v =
              after.function(static_cast<double>(made[i]), static_cast<double>(other[i]));
          const double want = limit(v, -0.3, 40);
          ASSERT_NEAR(got[i], want, 2e-6 * std::fmax(1, std::abs(want))) << i;
        }
      }
    }
  }
}

// How many nodes follow the first node as its epilogue, in XNNPACK's tiles.
size_t followers(PayloadBuilder& p) {
  const ReadGraph read(p.finish());
  const Fusion found = find_epilogue(read.graph, read.uses(), 0);
  return has_tiles(read.graph.nodes()[0], read.graph.values(), found) ? found.nodes : 0;
}

TEST(Epilogue, IsFoundForProducts) {
  for (const Product& product : kProducts) {
    for (const After& after : kAfter) {
      SCOPED_TRACE(testing::Message() << after.name << " after a " << product.name);
      Followed alone(product, after, false), shown(product, after, true);
      EXPECT_EQ(followers(alone.p), 1u);
      EXPECT_EQ(followers(shown.p), 0u);  // The product's result is an output.
    }
  }
}

TEST(Epilogue, OfExecuTorchsPayloadsMayBeTwoNodes) {
  PayloadBuilder p;
  const uint32_t x = p.input({3, 8}), made = p.inner({3, 4}), share = p.inner({3, 4});
  const uint32_t y = p.output({3, 4});
  p.connected(x, p.constant({4, 8}, Floats(32, 1)), UINT32_MAX, made);
  p.unary(NodeContent::Sigmoid, made, share);
  p.binary(NodeContent::Multiply, made, share, y);
  EXPECT_EQ(followers(p), 2u);
}

// A layer of 3 x 8 without a bias, and what it becomes.
struct Layer {
  PayloadBuilder p;
  uint32_t x = p.input({3, 8}), made = p.inner({3, 4}), y = p.output({3, 4});

  explicit Layer(bool has_bias = true) {
    const uint32_t bias = has_bias ? p.constant({4}, Floats(4, 1)) : UINT32_MAX;
    p.connected(x, p.constant({4, 8}, Floats(32, 1)), bias, made);
  }
};

TEST(Epilogue, OtherNodesStay) {
  Layer doubled;
  doubled.p.binary(NodeContent::Add, doubled.made, doubled.made, doubled.y);
  EXPECT_EQ(followers(doubled.p), 0u) << "a sum of the result with itself";
  Layer broadcast;
  broadcast.p.binary(NodeContent::Add, broadcast.made, broadcast.p.input({1, 4}), broadcast.y);
  EXPECT_EQ(followers(broadcast.p), 0u) << "a sum of other shapes";
  Layer constant;
  constant.p.binary(NodeContent::Add, constant.made, constant.p.constant({3, 4}, Floats(12)),
                    constant.y);
  EXPECT_EQ(followers(constant.p), 0u) << "a sum with a constant";
  Layer plain(false);
  plain.p.binary(NodeContent::Add, plain.made, plain.p.input({3, 4}), plain.y);
  EXPECT_EQ(followers(plain.p), 0u) << "a sum after a layer without a bias";
  Layer absolute;
  absolute.p.unary(NodeContent::Abs, absolute.made, absolute.y);
  EXPECT_EQ(followers(absolute.p), 0u) << "a function that XNNPACK computes as fast";
}

// Sizes of the sum change together, or the program is refused. Without vectors XNNPACK computes the
// sum by itself, and broadcasts.
TEST(Epilogue, AddendsHaveTheSizesOfTheResult) {
  if (!has_own_stages()) GTEST_SKIP() << "no vectors";
  Layer layer;
  layer.p.binary(NodeContent::Add, layer.made, layer.p.input({3, 4}), layer.y);
  Loaded loaded(layer.p.finish());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  // Arguments are in the order of their creation: x, y and the addend.
  HeldFloats x({3, 8}, Floats(24, 1)), y({3, 4}, Floats(12)), addend({3, 4}, Floats(12, 2));
  ASSERT_TRUE(loaded.run({&x.value, &y.value, &addend.value}).ok());
  EXPECT_EQ(y.result(), Floats(12, 11));
  HeldFloats less({2, 8}, Floats(16, 1), 24), fewer({2, 4}, Floats(8, 2), 12);
  ASSERT_TRUE(loaded.run({&less.value, &y.value, &fewer.value}).ok());
  EXPECT_EQ(y.result(), Floats(8, 11));
  HeldFloats one({1, 4}, Floats(4, 2), 12);
  const Status status = loaded.run({&less.value, &y.value, &one.value});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(std::string(status.message()).find("shapes of a sum differ"), std::string::npos);
}

}  // namespace
}  // namespace taper::xnnpack
