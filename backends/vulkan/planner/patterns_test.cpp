// Tests which groups of calls become one, and which look like it but do not.

#include "backends/vulkan/planner/patterns.h"

#include <gtest/gtest.h>

#include "backends/vulkan/planner/fuse.h"
#include "backends/vulkan/planner/operators.h"
#include "backends/vulkan/planner/payload_for_test.h"
#include "backends/vulkan/planner/plan.h"

namespace taper::vulkan {
namespace {

using Id = PayloadBuilder::Id;

// The operators that are left when all is fused, in order; each without namespace and overload. The
// plan must be sound.
std::string calls_of(PayloadBuilder& payload) {
  const std::vector<uint8_t> bytes = payload.finish();
  PayloadGraph graph;
  const NoConstants none;
  Status status = graph.read({bytes.data(), bytes.size()}, &none);
  if (status.ok()) fuse(graph);
  Plan plan;
  if (status.ok()) status = plan.build(graph, Limits());
  if (!status.ok()) return status.message();
  std::string names;
  for (const PayloadCall& call : graph.calls) {
    if (call.is_fused) continue;
    const std::string name = call.op->name;
    const size_t first = name.find('.') + 1;
    names += (names.empty() ? "" : " ") + name.substr(first, name.find('.', first) - first);
  }
  return names;
}

// x * cos + cat([-high, low]) * sin for x [1, 4, 2, 8].
struct Rotation : PayloadBuilder {
  explicit Rotation(int64_t half = 4, bool negates_first = true) {
    call("aten.split_with_sizes_copy.default",
         {x, integers({half, 8 - half}), integer(-1), list({low, high})});
    call("aten.neg.default", {negates_first ? high : low, neg});
    const std::vector<Id> parts =
        negates_first ? std::vector<Id>{neg, low} : std::vector<Id>{high, neg};
    call("aten.cat.default", {list(parts), integer(-1), turned});
    call("aten.mul.Tensor", {x, cos, plain});
    call("aten.mul.Tensor", {turned, sin, product});
    call("aten.add.Tensor", {plain, product, integer(1), y});
    output(y);
  }
  Id x = input({1, 4, 2, 8}), cos = input({4, 1, 8}), sin = input({4, 1, 8});
  Id low = tensor({1, 4, 2, 4}), high = tensor({1, 4, 2, 4}), neg = tensor({1, 4, 2, 4});
  Id turned = tensor({1, 4, 2, 8}), plain = tensor({1, 4, 2, 8}), product = tensor({1, 4, 2, 8});
  Id y = tensor({1, 4, 2, 8});
};

TEST(Patterns, RotaryEmbeddings) {
  Rotation plain;
  EXPECT_EQ(calls_of(plain), "rotate");
  Rotation other(4, false);
  EXPECT_EQ(calls_of(other), "split_with_sizes_copy neg cat mul mul add");
  Rotation read;
  read.output(read.turned);
  EXPECT_EQ(calls_of(read), "split_with_sizes_copy neg cat mul mul add");
}

struct Norm : PayloadBuilder {
  explicit Norm(int64_t dim = -1, int64_t power = 2) {
    call("aten.pow.Tensor_Scalar", {x, integer(power), squares});
    call("aten.mean.dim", {squares, integers({dim}), flag(true), none(), mean});
    call("aten.add.Scalar", {mean, real(1e-5), integer(1), sum});
    call("aten.rsqrt.default", {sum, scale});
    call("aten.mul.Tensor", {x, scale, scaled});
    call("aten.mul.Tensor", {weight, scaled, y});
  }
  Id x = input({3, 8}), weight = input({8}), squares = tensor({3, 8}), mean = tensor({3, 1});
  Id sum = tensor({3, 1}), scale = tensor({3, 1}), scaled = tensor({3, 8}), y = tensor({3, 8});
};

TEST(Patterns, RmsNorms) {
  Norm plain;
  plain.output(plain.y);
  EXPECT_EQ(calls_of(plain), "rms_norm");
  Norm cube(-1, 3);
  cube.output(cube.y);
  EXPECT_EQ(calls_of(cube), "pow mean add rsqrt mul mul");
  Norm read;
  read.output(read.y);
  read.output(read.mean);
  EXPECT_EQ(calls_of(read), "pow mean add rsqrt mul mul");
}

// A product with 4-bit weights of x, which has 8 columns.
Id multiply(PayloadBuilder& p, Id x, uint32_t rows) {
  const Id weights = p.constant_bytes({4, 4}, wire::DataType::UInt8, 16);
  const Id scales = p.constant({1, 4}, {1, 1, 1, 1}), y = p.tensor({rows, 4});
  p.call("et_vk.linear_q4gsw.default", {x, weights, scales, p.integer(8), p.none(), y});
  return y;
}

TEST(Patterns, ProductsWithPackedWeightsNormalise) {
  Norm two;
  const Id a = multiply(two, two.y, 3), b = multiply(two, two.y, 3);
  two.output(a);
  two.output(b);
  EXPECT_EQ(calls_of(two), "linear_q4gsw linear_q4gsw");
  Norm read;
  read.output(multiply(read, read.y, 3));
  read.output(read.y);
  EXPECT_EQ(calls_of(read), "rms_norm linear_q4gsw");
}

TEST(Patterns, AttentionSharesHeads) {
  const auto attention = [](uint32_t heads) {
    PayloadBuilder p;
    const Id q = p.input({1, 4, 1, 8}), k = p.input({1, heads, 6, 8}),
             v = p.input({1, heads, 6, 8});
    Id all[2];
    for (const int i : {0, 1}) {
      const uint32_t group = 4 / heads;
      const Id one = p.tensor({1, heads, 1, 6, 8}), wide = p.tensor({1, heads, group, 6, 8});
      all[i] = p.tensor({1, 4, 6, 8});
      p.call("aten.unsqueeze_copy.default", {i == 0 ? k : v, p.integer(2), one});
      p.call("aten.expand_copy.default",
             {one, p.integers({1, heads, group, 6, 8}), p.flag(false), wide});
      p.call("aten.view_copy.default", {wide, p.integers({1, 4, 6, 8}), all[i]});
    }
    const Id y = p.tensor({1, 4, 1, 8});
    p.call("aten.scaled_dot_product_attention.default",
           {q, all[0], all[1], p.none(), p.real(0), p.flag(false), p.none(), p.flag(false), y});
    p.output(y);
    return calls_of(p);
  };
  EXPECT_EQ(attention(2), "scaled_dot_product_attention");
  EXPECT_EQ(attention(4), "scaled_dot_product_attention");
}

// What was read before a state is written is not read afterwards.
TEST(Patterns, StayBeforeWritesOfStates) {
  PayloadBuilder p;
  const Id state = p.constant({3, 8}, std::vector<float>(24, 1)), x = p.input({3, 8});
  const Id weight = p.input({8}), squares = p.tensor({3, 8}), mean = p.tensor({3, 1});
  const Id sum = p.tensor({3, 1}), scale = p.tensor({3, 1}), scaled = p.tensor({3, 8});
  const Id y = p.tensor({3, 8});
  p.call("aten.pow.Tensor_Scalar", {state, p.integer(2), squares});
  p.call("aten.mean.dim", {squares, p.integers({-1}), p.flag(true), p.none(), mean});
  p.call("aten.add.Scalar", {mean, p.real(1e-5), p.integer(1), sum});
  p.call("aten.rsqrt.default", {sum, scale});
  p.call("aten.mul.Tensor", {state, scale, scaled});
  p.call("aten.copy.default", {state, x, p.flag(false), state});
  p.call("aten.mul.Tensor", {weight, scaled, y});
  p.output(y);
  EXPECT_EQ(calls_of(p), "pow mean add rsqrt mul copy mul");
}

}  // namespace
}  // namespace taper::vulkan
