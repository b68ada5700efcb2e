// Tests payloads that run, and payloads that are refused.

#include "backends/xnnpack/runtime/xnnpack_backend.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "backends/xnnpack/runtime/payload/payload_for_test.h"
#include "test/support/heap_counter.h"

namespace taper::xnnpack {
namespace {

using wire::NodeContent;

// y = max(0, a + b) for sizes [2, 2] and [2].
PayloadBuilder sum() {
  PayloadBuilder p;
  const uint32_t a = p.input({2, 2}), b = p.input({2}), y = p.output({2, 2});
  p.binary(NodeContent::Add, a, b, y);
  p.nodes[0].range = {0.f, 1000.f};
  return p;
}

TEST(XnnpackBackend, AddsAndClamps) {
  Loaded loaded(sum().finish());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  HeldFloats a({2, 2}, {1, 2, 3, 4}), b({2}, {-2, 10}), y({2, 2}, {0, 0, 0, 0});
  ASSERT_TRUE(loaded.run({&a.value, &b.value, &y.value}).ok());
  EXPECT_EQ(y.result(), (Floats{0, 12, 1, 14}));
  b.data[0] = -3;
  ASSERT_TRUE(loaded.run({&a.value, &b.value, &y.value}).ok());
  EXPECT_EQ(y.result(), (Floats{0, 12, 0, 14}));
}

TEST(XnnpackBackend, MultipliesByWeights) {
  PayloadBuilder p;
  const uint32_t x = p.input({2, 3}), y = p.output({2, 2});
  const uint32_t w = p.constant({2, 3}, {1, 0, 0, 1, 1, 1}), b = p.constant({2}, {0.5, -1});
  p.connected(x, w, b, y);
  Loaded loaded(p.finish());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  HeldFloats in({2, 3}, {1, 2, 3, 4, 5, 6}), out({2, 2}, {0, 0, 0, 0});
  ASSERT_TRUE(loaded.run({&in.value, &out.value}).ok());
  EXPECT_EQ(out.result(), (Floats{1.5, 5, 4.5, 14}));
}

// The same weights as halves: 1, 0, 0, 1, 1, 0.5. ExecuTorch has such filters, too.
TEST(XnnpackBackend, ConstantsMayBeStoredAsHalves) {
  for (const bool is_taper : {true, false}) {
    PayloadBuilder p;
    const uint32_t x = p.input({2, 3}), y = p.output({2, 2});
    const uint32_t w = p.constant({2, 3}, {0, 0, 0});
    p.tensors[w].type = wire::DataType::FP16;
    const uint16_t halves[] = {0x3c00, 0, 0, 0x3c00, 0x3c00, 0x3800};
    std::memcpy(p.data.data() + p.constants.back().offset, halves, sizeof(halves));
    p.connected(x, w, p.constant({2}, {0.5, -1}), y);
    if (is_taper) p.identifier = kTaperIdentifier;
    Loaded loaded(p.finish());
    ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
    HeldFloats in({2, 3}, {1, 2, 3, 4, 5, 6}), out({2, 2}, {0, 0, 0, 0});
    ASSERT_TRUE(loaded.run({&in.value, &out.value}).ok());
    EXPECT_EQ(out.result(), (Floats{1.5, 3.5, 4.5, 11}));
  }
}

const float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(XnnpackBackend, ExtremesOfNanAreNan) {
  for (const NodeContent kind : {NodeContent::Maximum, NodeContent::Minimum}) {
    for (const bool is_constant : {false, true}) {
      PayloadBuilder p;
      constexpr int32_t kSize = 37;
      const Floats ones(kSize, 1);
      const uint32_t a = p.input({kSize}), b = p.input({kSize}), y = p.output({kSize});
      p.binary(kind, a, is_constant ? p.constant({1}, {1}) : b, y);
      Loaded loaded(p.finish());
      ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
      HeldFloats left({kSize}, ones), right({kSize}, ones), out({kSize}, ones);
      left.data[3] = left.data[35] = kNan;
      if (!is_constant) right.data[8] = right.data[36] = kNan;
      ASSERT_TRUE(loaded.run({&left.value, &right.value, &out.value}).ok());
      const Floats got = out.result();
      for (size_t i = 0; i < kSize; ++i) {
        const bool is_nan = std::isnan(left.data[i]) || std::isnan(right.data[i]);
        EXPECT_EQ(std::isnan(got[i]), is_nan) << i;
      }
    }
  }
}

TEST(XnnpackBackend, TheMaximumOfAWindowWithNanIsNan) {
  PayloadBuilder p;
  constexpr int32_t kChannels = 5;
  const uint32_t x = p.input({1, 3, 3, kChannels}), y = p.output({1, 1, 1, kChannels});
  p.nodes.push_back({NodeContent::MaxPool2d,
                     wire::CreatePooling(p.fbb, 0, 0, 0, 0, 3, 3, 1, 1, 1, 1, x, y).Union()});
  Loaded loaded(p.finish());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  for (size_t place = 0; place < 9; ++place) {
    HeldFloats in({1, 3, 3, kChannels}, Floats(9 * kChannels, 2));
    HeldFloats out({1, 1, 1, kChannels}, Floats(kChannels));
    in.data[place * kChannels + 1] = in.data[place * kChannels + 4] = kNan;
    ASSERT_TRUE(loaded.run({&in.value, &out.value}).ok());
    const Floats got = out.result();
    for (size_t c = 0; c < kChannels; ++c) {
      EXPECT_EQ(std::isnan(got[c]), c == 1 || c == 4) << place << ", " << c;
    }
  }
}

struct Steps final : Profiler {
  void add(const ProfiledStep& step) override {
    ops.emplace_back(step.op);
    sizes.emplace_back(step.sizes);
    nodes.push_back(step.node);
    operations.push_back(step.operations);
    bytes.push_back(step.bytes);
    EXPECT_EQ(step.index, nodes.size() - 1);
    EXPECT_GE(step.begin, end - 1e-9);
    end = step.begin + step.seconds;
  }
  std::vector<std::string> ops, sizes;
  std::vector<int64_t> nodes;
  std::vector<double> operations, bytes;
  double end = 0;
};

TEST(XnnpackBackend, TellsHowLongNodesTake) {
  PayloadBuilder p;
  const uint32_t x = p.input({4, 2}), t = p.inner({4, 2}), y = p.output({4, 2});
  p.unary(NodeContent::Square, x, t);
  p.unary(NodeContent::Negate, t, y);
  p.nodes[0].origin = 3;
  Steps steps;
  XnnpackOptions options = Loaded::one_thread();
  options.profiler = &steps;
  Loaded loaded(p.finish(), options);
  ASSERT_TRUE(loaded.status.ok());
  HeldFloats in({4, 2}, Floats(8, 3)), out({4, 2}, Floats(8));
  ASSERT_TRUE(loaded.run({&in.value, &out.value}).ok());
  EXPECT_EQ(out.result(), Floats(8, -9));
  EXPECT_EQ(steps.ops, (std::vector<std::string>{"square", "negate"}));
  EXPECT_EQ(steps.sizes, (std::vector<std::string>{"4x2", "4x2"}));
  EXPECT_EQ(steps.nodes, (std::vector<int64_t>{2, -1}));
  EXPECT_EQ(steps.operations, (std::vector<double>{0, 0}));
  EXPECT_EQ(steps.bytes, (std::vector<double>{64, 64}));  // 8 floats in, 8 out.
}

// XNNPACK fuses a clamp into a product, and computes a sum with bounds by two operators.
TEST(XnnpackBackend, TellsOfNodesThatAreFusedOrDivided) {
  PayloadBuilder p;
  const uint32_t x = p.input({1, 2}), t = p.inner({1, 2}), u = p.inner({1, 2});
  const uint32_t y = p.output({1, 2});
  const uint32_t filter = p.constant({2, 2}, {1, 0, 0, 1}), bias = p.constant({2}, {0, 0});
  p.connected(x, filter, bias, t);
  p.unary(NodeContent::Clamp, t, u);
  p.nodes.back().range = {{-1.0f, 3.0f}};
  p.binary(NodeContent::Add, u, u, y);
  p.nodes.back().range = {{0.0f, 5.0f}};
  for (uint32_t i = 0; i < 3; ++i) p.nodes[i].origin = i + 1;
  Steps steps;
  XnnpackOptions options = Loaded::one_thread();
  options.profiler = &steps;
  Loaded loaded(p.finish(), options);
  ASSERT_TRUE(loaded.status.ok());
  HeldFloats in({1, 2}, {-4, 7}), out({1, 2}, Floats(2));
  ASSERT_TRUE(loaded.run({&in.value, &out.value}).ok());
  EXPECT_EQ(out.result(), (Floats{0, 5}));
  EXPECT_EQ(steps.ops, (std::vector<std::string>{"fully connected", "add", "add"}));
  EXPECT_EQ(steps.nodes, (std::vector<int64_t>{0, 2, 2}));
  // A row of 2 times a matrix of 2 x 2. Of the parts of a node it is not told.
  EXPECT_EQ(steps.operations, (std::vector<double>{8, 0, 0}));
  EXPECT_EQ(steps.bytes, (std::vector<double>{4 * (2 + 4 + 2 + 2), 0, 0}));
}

TEST(XnnpackBackend, SizesMayChangeBetweenRuns) {
  PayloadBuilder p;
  const uint32_t x = p.input({4, 2}), t = p.inner({4, 2}), y = p.output({4, 2});
  p.unary(NodeContent::Square, x, t);
  p.unary(NodeContent::Negate, t, y);
  Loaded loaded(p.finish());
  ASSERT_TRUE(loaded.status.ok());
  HeldFloats in({1, 2}, {3, 4}, 8), out({4, 2}, Floats(8), 8);
  ASSERT_TRUE(loaded.run({&in.value, &out.value}).ok());
  EXPECT_EQ(out.tensor.size(0), 1);
  EXPECT_EQ(out.result(), (Floats{-9, -16}));
  HeldFloats more({3, 2}, {1, 2, 3, 4, 5, 6}, 8);
  ASSERT_TRUE(loaded.run({&more.value, &out.value}).ok());
  EXPECT_EQ(out.result(), (Floats{-1, -4, -9, -16, -25, -36}));
}

// A sum over no rows would be 0, which XNNPACK does not compute.
TEST(XnnpackBackend, ABatchOfNoneHasResultsWithoutElements) {
  PayloadBuilder p;
  const uint32_t x = p.input({4, 2}), t = p.inner({4, 3}), y = p.output({4, 3});
  p.connected(x, p.constant({3, 2}, {1, 0, 0, 1, 1, 1}), p.constant({3}, {0, 0, 1}), t);
  p.unary(NodeContent::Negate, t, y);
  Loaded loaded(p.finish());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  HeldFloats one({1, 2}, {3, 4}, 8), none({0, 2}, {}, 8), out({4, 3}, Floats(12), 12);
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(loaded.run({&none.value, &out.value}).ok());
    EXPECT_EQ(out.tensor.size(0), 0);
    EXPECT_EQ(out.tensor.size(1), 3);
    ASSERT_TRUE(loaded.run({&one.value, &out.value}).ok());
    EXPECT_EQ(out.result(), (Floats{-3, -4, -8}));
  }
  PayloadBuilder total;
  const uint32_t rows = total.input({1, 2, 2, 2}), sum = total.output({1, 1, 1, 2});
  total.nodes.push_back({NodeContent::GlobalAvgPool2d,
                         wire::CreateUnary(total.fbb, rows, sum, 64 | 1 << 16).Union()});
  Loaded pool(total.finish());
  ASSERT_TRUE(pool.status.ok()) << pool.status.message();
  HeldFloats no_rows({1, 0, 2, 2}, {}, 8), sums({1, 1, 1, 2}, {0, 0}, 2);
  EXPECT_FALSE(pool.run({&no_rows.value, &sums.value}).ok());
}

// Reshapes [a, b, 4] to [b, a, 2, 2], whose sizes come from the input, between two XNNPACK nodes.
PayloadBuilder open_reshape(const std::vector<wire::SizeSource>& sources) {
  PayloadBuilder p;
  const uint32_t x = p.input({4, 4, 4}), t = p.inner({4, 4, 4}), r = p.inner({4, 4, 2, 2});
  const uint32_t y = p.output({4, 4, 2, 2});
  p.unary(NodeContent::Square, x, t);
  const Sizes sizes = {0, 0, 2, 2};
  p.nodes.push_back({NodeContent::Reshape,
                     wire::CreateReshapeDirect(p.fbb, 4, &sizes, t, r, 0, &sources).Union()});
  p.unary(NodeContent::Negate, r, y);
  return p;
}
constexpr uint32_t kNoSource = UINT32_MAX;

TEST(XnnpackBackend, AReshapeMayHaveSeveralOpenSizes) {
  const wire::SizeSource all[] = {{0, 1, 1, 1}, {0, 0, 2, 2}, {kNoSource, 0, 1, 1}};
  Loaded loaded(open_reshape({all[0], all[1], all[2], all[2]}).finish());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  HeldFloats out({4, 4, 2, 2}, Floats(64), 64);
  for (const auto& [a, b] : {std::pair{1, 2}, std::pair{2, 1}, std::pair{3, 4}}) {
    Floats numbers(static_cast<size_t>(a * b * 4));
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
    HeldFloats in({a, b, 4}, numbers, 64);
    ASSERT_TRUE(loaded.run({&in.value, &out.value}).ok());
    EXPECT_EQ(out.tensor.size(0), b);
    EXPECT_EQ(out.tensor.size(1), a);
    for (float& number : numbers) number = -number * number;
    EXPECT_EQ(out.result(), numbers);
  }
}

TEST(XnnpackBackend, AGlobalPoolMayAddUp) {
  PayloadBuilder p;
  const uint32_t x = p.input({1, 2, 2, 2}), y = p.output({1, 1, 1, 2});
  p.nodes.push_back(
      {NodeContent::GlobalAvgPool2d, wire::CreateUnary(p.fbb, x, y, 64 | 1 << 16).Union()});
  Loaded loaded(p.finish());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  HeldFloats in({1, 2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), out({1, 1, 1, 2}, {0, 0});
  ASSERT_TRUE(loaded.run({&in.value, &out.value}).ok());
  EXPECT_EQ(out.result(), (Floats{16, 20}));
}

TEST(XnnpackPayload, SumsWithBoundsAreRefused) {
  PayloadBuilder p;
  const uint32_t x = p.input({1, 2, 2, 2}), y = p.output({1, 1, 1, 2});
  p.nodes.push_back({NodeContent::GlobalAvgPool2d,
                     wire::CreateUnary(p.fbb, x, y, 64 | 1 << 16).Union(), std::pair{0.f, 1.f}});
  EXPECT_FALSE(Loaded(p.finish()).status.ok());
}

TEST(XnnpackPayload, SourcesOfSizesThatLieAreRefused) {
  const wire::SizeSource a(0, 0, 1, 1), b(0, 1, 1, 1), none(kNoSource, 0, 1, 1);
  const auto is_taken = [](const std::vector<wire::SizeSource>& sources) {
    PayloadBuilder p = open_reshape(sources);
    return Loaded(p.finish()).status.ok();
  };
  EXPECT_TRUE(is_taken({a, none, none, none}));
  EXPECT_FALSE(is_taken({a, b, none}));
  EXPECT_FALSE(is_taken({none, none, none, none}));
  EXPECT_FALSE(is_taken({a, wire::SizeSource(2, 1, 1, 1), none, none}));   // Its own result.
  EXPECT_FALSE(is_taken({a, wire::SizeSource(3, 1, 1, 1), none, none}));   // A later one.
  EXPECT_FALSE(is_taken({a, wire::SizeSource(99, 1, 1, 1), none, none}));  // No value.
  EXPECT_FALSE(is_taken({a, wire::SizeSource(0, 9, 1, 1), none, none}));   // No dimension.
  EXPECT_FALSE(is_taken({a, wire::SizeSource(0, 1, 1, 0), none, none}));
  EXPECT_FALSE(is_taken({a, wire::SizeSource(0, 1, 1, 3), none, none}));  // 4 / 3 is not a size.
  EXPECT_FALSE(is_taken({a, wire::SizeSource(0, 1, UINT32_MAX, 1), none, none}));
}

TEST(XnnpackBackend, SizesThatDoNotFitAreRefusedAndTheNextRunIsRight) {
  Loaded loaded(sum().finish());
  HeldFloats a({2, 2}, {1, 2, 3, 4}), b({3}, {1, 2, 3}), y({2, 2}, Floats(4));
  EXPECT_FALSE(loaded.run({&a.value, &b.value, &y.value}).ok());
  HeldFloats c({2}, {1, 2});
  ASSERT_TRUE(loaded.run({&a.value, &c.value, &y.value}).ok());
  EXPECT_EQ(y.result(), (Floats{2, 4, 4, 6}));
}

TEST(XnnpackBackend, RunsOnSeveralThreads) {
  PayloadBuilder p;
  const uint32_t x = p.input({64, 64}), y = p.output({64, 64});
  p.unary(NodeContent::Abs, x, y);
  XnnpackOptions options;
  options.threads = 2;
  Loaded loaded(p.finish(), options);
  HeldFloats in({64, 64}, Floats(64 * 64, -2)), out({64, 64}, Floats(64 * 64));
  ASSERT_TRUE(loaded.run({&in.value, &out.value}).ok());
  EXPECT_EQ(out.result(), Floats(64 * 64, 2));
}

TEST(XnnpackBackend, ExecutionTakesNothingFromTheHeap) {
  Loaded loaded(sum().finish());
  HeldFloats a({2, 2}, {1, 2, 3, 4}), b({2}, {1, 1}), y({2, 2}, Floats(4));
  std::vector<EValue*> args = {&a.value, &b.value, &y.value};
  ASSERT_TRUE(loaded.run(args).ok());
  const uint64_t before = test::heap_calls();
  const bool ok = loaded.run(args).ok();
  EXPECT_EQ(test::heap_calls(), before);
  EXPECT_TRUE(ok);
}

TEST(XnnpackBackend, WhatNobodyReadsIsLeftOut) {
  PayloadBuilder p = sum();
  const uint32_t t = p.inner({2, 2});
  p.unary(NodeContent::Square, 0, t);
  p.unary(NodeContent::Negate, t, p.inner({2, 2}));
  Loaded loaded(p.finish());
  ASSERT_TRUE(loaded.status.ok()) << loaded.status.message();
  HeldFloats a({2, 2}, {1, 2, 3, 4}), b({2}, {1, 1}), y({2, 2}, Floats(4));
  ASSERT_TRUE(loaded.run({&a.value, &b.value, &y.value}).ok());
  EXPECT_EQ(y.result(), (Floats{2, 3, 4, 5}));
}

// Checks that the payload is refused with a reason.
void expect_refused(PayloadBuilder& p, const char* what) {
  Loaded loaded(p.finish());
  EXPECT_FALSE(loaded.status.ok()) << what;
  EXPECT_STRNE(loaded.status.message(), "") << what;
}

TEST(XnnpackPayload, TensorsThatLieAreRefused) {
  using Tensor = PayloadBuilder::Tensor;
  const std::pair<const char*, void (*)(std::deque<Tensor>&)> lies[] = {
      {"another rank", [](std::deque<Tensor>& t) { t[0].rank = 3; }},
      {"too many dimensions", [](std::deque<Tensor>& t) { t[0].sizes = {1, 1, 1, 1, 1, 1, 4}; }},
      {"no elements",
       [](std::deque<Tensor>& t) {
         t[0].sizes = {0, 2};
       }},
      {"sizes that overflow",
       [](std::deque<Tensor>& t) {
         t[0].sizes = {4000000000, 4000000000, 4000000000};
       }},
      {"another index", [](std::deque<Tensor>& t) { t[0].id = 1; }},
      {"a type without a meaning", [](std::deque<Tensor>& t) { t[0].type = wire::DataType(77); }},
      {"a type that none can have",
       [](std::deque<Tensor>& t) { t[0].type = wire::DataType::PFP32; }},
      {"a quantised type without a scale",
       [](std::deque<Tensor>& t) { t[0].type = wire::DataType::QINT8; }},
      {"an unknown flag", [](std::deque<Tensor>& t) { t[0].flags = 8; }},
      {"two directions", [](std::deque<Tensor>& t) { t[0].flags = 3; }},
      {"an argument twice", [](std::deque<Tensor>& t) { t[1].external = 0; }},
      {"an argument outside", [](std::deque<Tensor>& t) { t[1].external = 9; }},
      {"a constant outside", [](std::deque<Tensor>& t) { t[0].constant = 5; }},
      {"an input without a flag", [](std::deque<Tensor>& t) { t[1].flags = 0; }},
      {"an output of another rank", [](std::deque<Tensor>& t) { t[2].sizes = {4}; }},
  };
  for (const auto& [what, tell] : lies) {
    PayloadBuilder p = sum();
    tell(p.tensors);
    expect_refused(p, what);
  }
}

// What XnnpackPartitioner(enable_bf16=True) writes.
TEST(XnnpackPayload, BrainFloatsAreRefusedByName) {
  PayloadBuilder p = sum();
  for (PayloadBuilder::Tensor& tensor : p.tensors) tensor.type = wire::DataType::BF16;
  const Loaded loaded(p.finish());
  ASSERT_FALSE(loaded.status.ok());
  EXPECT_NE(std::string(loaded.status.message()).find("bfloat16"), std::string::npos);
}

// XNNPACK would abort on them.
TEST(XnnpackPayload, FiltersOfTypesThatDoNotGoWithTheInputAreRefused) {
  PayloadBuilder p;
  const uint32_t x = p.input({1, 4, 4, 8}), y = p.output({1, 4, 4, 8});
  const uint32_t filter = p.constant({8, 3, 3, 8}, Floats(8 * 9 * 8));
  p.tensors[filter].type = wire::DataType::QINT32;
  p.tensors[filter].scale = 1.f;
  p.convolved(x, filter, UINT32_MAX, y, PayloadBuilder::Windows::padded(1));
  expect_refused(p, "a filter of integers");
  for (const wire::DataType type : {wire::DataType::QINT32, wire::DataType::FP16}) {
    const bool is_half = type == wire::DataType::FP16;
    PayloadBuilder q;
    const uint32_t in = q.input({2, 3}), out = q.output({2, 2});
    const uint32_t weights = q.constant({2, 3}, Floats(6));
    q.tensors[weights].type = type;
    q.tensors[weights].scale = 1.f;
    for (const uint32_t id : {in, out}) {  // Filters of float16 go with floats, not with integers.
      if (is_half) q.tensors[id].type = wire::DataType::QINT8;
      q.tensors[id].scale = 1.f;
    }
    q.connected(in, weights, UINT32_MAX, out);
    expect_refused(q, is_half ? "weights of float16" : "weights of integers");
  }
}

TEST(XnnpackPayload, InputsThatDeclareMoreThanTheBoundAreRefused) {
  PayloadBuilder p;
  const uint32_t x = p.input({1 << 15, 1 << 15}), y = p.output({1, 1});
  p.unary(NodeContent::Abs, p.input({1, 1}), y);
  p.unary(NodeContent::Abs, x, p.inner({1, 1}));
  XnnpackOptions options = Loaded::one_thread();
  options.max_bytes = 1 << 20;
  const Loaded loaded(p.finish(), options);
  EXPECT_EQ(loaded.status.error(), Error::kOutOfResources);
}

TEST(XnnpackBackend, ResultsThatLieOverOtherArgumentsAreRefused) {
  Loaded loaded(sum().finish());
  HeldFloats a({2, 2}, {1, 2, 3, 4}, 8), b({2}, {1, 2}), y({2, 2}, Floats(4));
  float* const own = y.data.data();
  y.tensor.set_data(a.data.data() + 3, 4);
  EXPECT_EQ(loaded.run({&a.value, &b.value, &y.value}).error(), Error::kInvalidProgram);
  y.tensor.set_data(a.data.data() + 4, 4);
  EXPECT_TRUE(loaded.run({&a.value, &b.value, &y.value}).ok());
  y.tensor.set_data(own, 4);
  b.tensor.set_data(a.data.data() + 1, 2);
  EXPECT_TRUE(loaded.run({&a.value, &b.value, &y.value}).ok());
}

TEST(XnnpackPayload, ScalesThatAreNoneAreRefused) {
  for (const float scale : {0.f, -1.f, NAN, INFINITY, 1e-42f}) {
    PayloadBuilder p = sum();
    for (auto& t : p.tensors) {
      t.type = wire::DataType::QINT8;
      t.scale = 0.5f;
    }
    p.tensors[1].scale = scale;
    expect_refused(p, "scale");
  }
  PayloadBuilder p = sum();
  for (auto& t : p.tensors) {
    t.type = wire::DataType::QUINT8;
    t.scale = 0.5f;
  }
  p.tensors[2].zero_point = 256;
  expect_refused(p, "zero point");
}

TEST(XnnpackPayload, NodesThatLieAreRefused) {
  const std::pair<const char*, void (*)(PayloadBuilder&)> lies[] = {
      {"an argument that is not a value",
       [](PayloadBuilder& p) {
         p.binary(NodeContent::Add, 0, 99, p.inner({2, 2}));
       }},
      {"an argument that is missing",
       [](PayloadBuilder& p) {
         p.binary(NodeContent::Add, 0, UINT32_MAX, p.inner({2, 2}));
       }},
      {"a result that is not a value", [](PayloadBuilder& p) { p.unary(NodeContent::Abs, 0, 99); }},
      {"a result written twice", [](PayloadBuilder& p) { p.unary(NodeContent::Abs, 0, 2); }},
      {"a result that is an input", [](PayloadBuilder& p) { p.unary(NodeContent::Abs, 0, 1); }},
      {"a cycle",
       [](PayloadBuilder& p) {
         const uint32_t t = p.inner({2, 2});
         p.unary(NodeContent::Abs, t, t);
       }},
      {"an unknown kind",
       [](PayloadBuilder& p) {
         p.nodes.push_back({NodeContent::Attention, wire::CreateAttention(p.fbb).Union()});
       }},
      {"an empty range",
       [](PayloadBuilder& p) {
         p.nodes[0].range = {2.f, 1.f};
       }},
      {"a range that is not a number",
       [](PayloadBuilder& p) {
         p.nodes[0].range = {NAN, 1.f};
       }},
      {"shapes that do not fit", [](PayloadBuilder& p) { p.tensors[1].sizes = {3}; }},
      {"a filter that does not fit",
       [](PayloadBuilder& p) {
         p.connected(0, p.constant({2, 3}, Floats(6)), UINT32_MAX, p.inner({2, 2}));
       }},
      {"a constant that is too short",
       [](PayloadBuilder& p) {
         p.connected(0, p.constant({900, 2}, Floats(4)), UINT32_MAX, p.inner({2, 900}));
       }},
      {"a constant outside the payload",
       [](PayloadBuilder& p) {
         p.connected(0, p.constant({2, 2}, Floats(4)), UINT32_MAX, p.inner({2, 2}));
         p.constants[1].offset = UINT64_MAX - 4;
       }},
      {"an invalid permutation",
       [](PayloadBuilder& p) {
         const Sizes perm = {1, 1};
         p.nodes.push_back(
             {NodeContent::Transpose,
              wire::CreateTransposeDirect(p.fbb, 2, &perm, 0, p.inner({2, 2})).Union()});
       }},
      {"a slice past the end",
       [](PayloadBuilder& p) {
         const Sizes offsets = {1, 0}, sizes = {2, 2};
         p.nodes.push_back(
             {NodeContent::Slice,
              wire::CreateSliceDirect(p.fbb, 2, &offsets, &sizes, 0, p.inner({2, 2})).Union()});
       }},
      {"a pool without a window",
       [](PayloadBuilder& p) {
         const uint32_t x = p.input({1, 2, 2, 1});
         p.nodes.push_back(
             {NodeContent::MaxPool2d,
              wire::CreatePooling(p.fbb, 0, 0, 0, 0, 0, 2, 1, 1, 1, 1, x, p.inner({1, 1, 1, 1}))
                  .Union()});
       }},
      {"more memory than is allowed",
       [](PayloadBuilder& p) {
         const Sizes pre = {1 << 24, 8}, post = {0, 0};
         uint32_t x = 0;
         for (int i = 0; i < 20; ++i) {
           const uint32_t y = p.inner({2, 2});
           p.nodes.push_back({NodeContent::ConstantPad,
                              wire::CreateConstantPadDirect(p.fbb, &pre, &post, 0, x, y).Union()});
           x = y;
         }
       }},
  };
  for (const auto& [what, tell] : lies) {
    PayloadBuilder p = sum();
    tell(p);
    expect_refused(p, what);
  }
}

TEST(XnnpackPayload, EveryCutAndEveryChangedByteIsSurvived) {
  PayloadBuilder p;
  const uint32_t x = p.input({2, 3}), t = p.inner({2, 2}), y = p.output({2, 2});
  const uint32_t w = p.constant({2, 3}, {1, 2, 3, 4, 5, 6});
  p.connected(x, w, p.constant({2}, {1, 2}), t);
  p.unary(NodeContent::Softmax, t, y);
  // Half of the bytes of the weights, as float16.
  p.tensors[w].type = wire::DataType::FP16;
  p.constants[1].size /= 2;
  p.identifier = kTaperIdentifier;
  const std::vector<uint8_t> good = p.finish();
  ASSERT_TRUE(Loaded(good).status.ok());
  HeldFloats in({2, 3}, Floats(6, 1)), out({2, 2}, Floats(4));
  for (size_t size = 0; size < good.size(); ++size) {
    Loaded loaded({good.begin(), good.begin() + static_cast<ptrdiff_t>(size)});
    if (size + 64 < good.size()) {
      EXPECT_FALSE(loaded.status.ok()) << size;
    }
  }
  run_with_each_byte_changed(good, in, out);
}

TEST(XnnpackBackend, ArgumentsOfTheCallAreChecked) {
  Loaded loaded(sum().finish());
  HeldFloats a({2, 2}, Floats(4)), b({2}, Floats(2)), y({2, 2}, Floats(4)), line({4}, Floats(4));
  EXPECT_FALSE(loaded.run({&a.value, &b.value}).ok());
  EValue number(int64_t{1});
  EXPECT_FALSE(loaded.run({&a.value, &number, &y.value}).ok());
  EXPECT_FALSE(loaded.run({&line.value, &b.value, &y.value}).ok());
  EXPECT_FALSE(loaded.run({&a.value, &b.value, &line.value}).ok());
  y.tensor.set_constant();
  EXPECT_FALSE(loaded.run({&a.value, &b.value, &y.value}).ok());
}

}  // namespace
}  // namespace taper::xnnpack
