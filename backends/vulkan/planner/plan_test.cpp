// Tests plans against what was computed by hand, and plans of damaged payloads for what must hold
// of every plan.

#include "backends/vulkan/planner/plan.h"

#include <gtest/gtest.h>

#include <random>

#include "backends/vulkan/planner/plan_for_test.h"

namespace taper::vulkan {
namespace {

using Id = PayloadBuilder::Id;

// Few rows are shared by several workgroups, whose parts need memory; the largest sizes may not.
TEST(Plan, SmallerSizesNeedNoMoreMemory) {
  PayloadBuilder payload;
  const Id x = payload.input({512, 2048}), w = payload.input({2048, 2048});
  const Id y = payload.tensor({512, 2048});
  payload.call("aten.linear.default", {x, w, payload.none(), y});
  payload.output(y);
  Planned p(payload.finish());
  ASSERT_STREQ(p.status.message(), "");
  for (const int64_t rows : {511, 200, 100, 33, 7, 5, 4, 1}) {
    p.graph.values[static_cast<size_t>(x)].dims[0] = rows;
    EXPECT_STREQ(p.plan.build(p.graph, {}).message(), "") << rows;
  }
}

TEST(Plan, AChainNeedsTwoTensorsAtATime) {
  PayloadBuilder payload;
  Id x = payload.input({1024});
  for (int i = 0; i < 3; ++i) {
    const Id y = payload.tensor({1024});
    payload.call("aten.relu.default", {x, y});
    x = y;
  }
  payload.output(x);
  const Planned planned(payload.finish());
  ASSERT_TRUE(planned.status.ok()) << planned.status.message();
  EXPECT_EQ(planned.plan.arena_bytes(), 8192u);
  EXPECT_EQ(planned.plan.arena_bound(), 8192u);
  EXPECT_EQ(overlaps(planned.plan), "");
  // The second writes where nothing is read, but reads what the first has written.
  EXPECT_EQ(planned.barriers(), (std::vector<bool>{false, true, true}));
}

TEST(Plan, WhatDoesNotMeetDoesNotWait) {
  PayloadBuilder payload;
  const Id x = payload.input({8}), one = payload.integer(1);
  const Id a = payload.tensor({8}), b = payload.tensor({8}), c = payload.tensor({8});
  payload.call("aten.relu.default", {x, a});
  payload.call("aten.neg.default", {x, b});
  payload.call("aten.add.Tensor", {a, b, one, c});
  payload.output(c);
  const Planned planned(payload.finish());
  ASSERT_TRUE(planned.status.ok()) << planned.status.message();
  EXPECT_EQ(planned.barriers(), (std::vector<bool>{false, false, true}));
  // All are padded to 256 bytes. x is not needed any more when c is written.
  EXPECT_EQ(planned.plan.arena_bytes(), 768u);
  EXPECT_EQ(planned.offset(x), planned.offset(c));
}

// What runs once is recorded apart, so that barriers among it are none for the others.
TEST(Plan, WhatRunsOnceIsNoBarrierForTheOthers) {
  PayloadBuilder payload;
  const Id x = payload.input({8}), w = payload.constant({8}, std::vector<float>(8, 1));
  const Id a = payload.tensor({8}), b = payload.tensor({8}), c = payload.tensor({8});
  const Id d = payload.tensor({8}), one = payload.integer(1);
  payload.call("aten.relu.default", {x, a});        // Every time.
  payload.call("aten.neg.default", {w, b});         // Once.
  payload.call("aten.relu.default", {b, c});        // Once, after that.
  payload.call("aten.add.Tensor", {a, c, one, d});  // Every time: reads what the first writes.
  payload.output(d);
  const Planned planned(payload.finish());
  ASSERT_TRUE(planned.status.ok()) << planned.status.message();
  EXPECT_EQ(planned.barriers(), (std::vector<bool>{false, false, true, true}));
}

// A dispatch of no elements is not recorded, and so is its barrier.
TEST(Plan, WhatIsEmptyIsNoBarrier) {
  PayloadBuilder payload;
  const Id x = payload.input({8}), y = payload.input({4});
  const Id a = payload.tensor({8}), b = payload.tensor({4}), c = payload.tensor({4});
  const Id d = payload.tensor({8});
  payload.call("aten.relu.default", {x, a});
  payload.call("aten.relu.default", {y, b});
  payload.call("aten.neg.default", {b, c});
  payload.call("aten.neg.default", {a, d});
  for (const Id id : {x, y, a, b, c, d})
    payload.output(id);  // So that none lies where another was.
  Planned planned(payload.finish());
  EXPECT_EQ(planned.barriers(), (std::vector<bool>{false, false, true, false}));
  planned.graph.values[static_cast<size_t>(y)].dims[0] = 0;
  ASSERT_TRUE(planned.plan.build(planned.graph, Limits()).ok());
  EXPECT_EQ(planned.barriers(), (std::vector<bool>{false, false, false, true}));
}

TEST(Plan, AViewLivesAsLongAsWhatItViews) {
  PayloadBuilder payload;
  const Id x = payload.input({4, 4}), flat = payload.tensor({16});
  const Id a = payload.tensor({4, 4}), b = payload.tensor({16});
  const Id one = payload.integer(1);
  payload.call("aten.view_copy.default", {x, payload.integers({-1}), flat});
  payload.call("aten.relu.default", {x, a});
  payload.call("aten.add.Tensor", {flat, flat, one, b});
  payload.output(a);
  payload.output(b);
  const Planned planned(payload.finish());
  ASSERT_TRUE(planned.status.ok()) << planned.status.message();
  EXPECT_EQ(planned.plan.places()[static_cast<size_t>(flat)].root, static_cast<ValueId>(x));
  EXPECT_EQ(planned.plan.dispatches().size(), 2u);
  EXPECT_EQ(overlaps(planned.plan), "");
}

// Two products read the same weights: they are packed once, and as they were they are needed only
// while the payload is loaded.
TEST(Plan, WeightsInHalfArePackedOnce) {
  PayloadBuilder payload;
  const Id x = payload.input({8, 10}), none = payload.none();
  const Id w = payload.constant({10, 10}, std::vector<float>(100, 1));
  const Id a = payload.tensor({8, 10}), b = payload.tensor({8, 10});
  payload.call("aten.linear.default", {x, w, none, a});
  payload.call("aten.linear.default", {a, w, none, b});
  payload.output(b);
  Planned planned(payload.finish(), {}, false, true);
  ASSERT_TRUE(planned.status.ok()) << planned.status.message();
  ASSERT_EQ(planned.plan.dispatches().size(), 3u);
  EXPECT_EQ(planned.plan.dispatches()[0].shader, Shader::pack_halves);
  EXPECT_TRUE(planned.plan.dispatches()[0].once);
  EXPECT_EQ(planned.plan.loading_bytes(), 512u);   // 100 floats.
  EXPECT_EQ(planned.plan.constant_bytes(), 512u);  // Rows of 16 float16: 320 bytes.
  EXPECT_EQ(planned.plan.rounding(), (std::vector<uint32_t>{0, 1}));
  planned.graph.values[static_cast<size_t>(x)].dims[0] = 3;  // Then it is gemv.comp.
  ASSERT_TRUE(planned.plan.build(planned.graph, Limits()).ok());
  ASSERT_EQ(planned.plan.dispatches().size(), 2u);
  EXPECT_EQ(planned.plan.dispatches()[0].shader, Shader::gemv);
}

TEST(Plan, MatrixUnitsAreUsedWhereTheyAre) {
  PayloadBuilder payload;
  const Id x = payload.input({64, 64}), none = payload.none();
  const Id w = payload.constant({64, 64}, std::vector<float>(4096, 1));
  const Id y = payload.tensor({64, 64});
  payload.call("aten.linear.default", {x, w, none, y});
  payload.output(y);
  Limits limits;
  limits.matrix_units = true;
  for (const bool in_half : {false, true}) {
    const Planned planned(payload.finish(), limits, false, in_half);
    ASSERT_TRUE(planned.status.ok()) << planned.status.message();
    const Dispatch& product = planned.plan.dispatches()[in_half ? 1 : 0];
    EXPECT_EQ(product.shader, in_half ? Shader::matrix_units : Shader::gemm);
  }
}

// A convolution with windows of 3 x 3: by which shaders.
std::vector<Shader> convolution_shaders(uint32_t channels, uint32_t size, int64_t stride,
                                        const Limits& limits = {}) {
  PayloadBuilder payload;
  const uint32_t out = (size - 1) / static_cast<uint32_t>(stride) + 1;
  const Id x = payload.input({1, channels, size, size}), one = payload.integers({1, 1});
  const Id w = payload.constant({channels, channels, 3, 3},
                                std::vector<float>(size_t{9} * channels * channels, 1));
  const Id y = payload.tensor({1, channels, out, out});
  payload.call("aten.convolution.default",
               {x, w, payload.none(), payload.integers({stride, stride}), one, one,
                payload.flag(false), payload.integers({0, 0}), payload.integer(1), y});
  payload.output(y);
  const Planned planned(payload.finish(), limits);
  EXPECT_STREQ(planned.status.message(), "");
  EXPECT_EQ(overlaps(planned.plan), "");
  std::vector<Shader> shaders;
  for (const Dispatch& each : planned.plan.dispatches()) shaders.push_back(each.shader);
  return shaders;
}

TEST(Plan, WinogradIsChosenBySizesAndMemory) {
  const std::vector<Shader> steps = {Shader::winograd_weights, Shader::winograd_pixels,
                                     Shader::gemm, Shader::winograd_sums};
  EXPECT_EQ(convolution_shaders(64, 56, 1), steps);
  EXPECT_EQ(convolution_shaders(64, 56, 2)[0], Shader::gemm);
  EXPECT_EQ(convolution_shaders(8, 56, 1)[0], Shader::gemm);  // There is little to multiply.
  Limits limits;
  limits.bytes = 16 * 36 * 64 * 196 * 4;  // A sixteenth is what the images need.
  EXPECT_EQ(convolution_shaders(64, 56, 1, limits), steps);
  limits.bytes -= 64;
  EXPECT_NE(convolution_shaders(64, 56, 1, limits), steps);
}

// Weights that are transformed do not stay as they were, and smaller images have the same steps.
TEST(Plan, WinogradIsDecidedOnce) {
  PayloadBuilder payload;
  const Id x = payload.input({1, 64, 56, 56}), one = payload.integers({1, 1});
  const Id w = payload.constant({64, 64, 3, 3}, std::vector<float>(size_t{64} * 64 * 9, 1));
  const Id y = payload.tensor({1, 64, 56, 56});
  payload.call("aten.convolution.default",
               {x, w, payload.none(), one, one, one, payload.flag(false), payload.integers({0, 0}),
                payload.integer(1), y});
  payload.output(y);
  Planned planned(payload.finish());
  ASSERT_STREQ(planned.status.message(), "");
  EXPECT_EQ(planned.plan.loading_bytes(), 64u * 64 * 9 * 4);
  EXPECT_EQ(planned.plan.constant_bytes(), 64u * 64 * 36 * 4);
  for (const int64_t size : {55, 8, 1}) {
    Dims& dims = planned.graph.values[static_cast<size_t>(x)].dims;
    dims[2] = dims[3] = size;
    ASSERT_STREQ(planned.plan.build(planned.graph, {}).message(), "");
    EXPECT_EQ(planned.plan.dispatches().back().shader, Shader::winograd_sums) << size;
  }
}

// x = (q - zero) * scale is given, perhaps moved, or computed.
TEST(Plan, IntegersAreMultipliedWhereTheyAreKnown) {
  for (const char* between : {"", "aten.view_copy.default", "aten.neg.default"}) {
    PayloadBuilder payload;
    const Id q = payload.tensor({64, 16}, wire::DataType::Int8), none = payload.none();
    payload.inputs.push_back(static_cast<uint32_t>(q));
    const Id numbers = payload.tensor({64, 16}), y = payload.tensor({64, 8});
    payload.call("quantized_decomposed.dequantize_per_tensor.default",
                 {q, payload.real(0.5), payload.integer(3), payload.integer(-128),
                  payload.integer(127), none, none, numbers});
    Id x = numbers;
    const bool is_view = std::string(between) == "aten.view_copy.default";
    if (*between != 0) {
      x = payload.tensor({64, 16});
      std::vector<Id> args = {numbers};
      if (is_view) args.push_back(payload.integers({64, 16}));
      args.push_back(x);
      payload.call(between, args);
    }
    const Id weights = payload.signed_bytes({8, 16}, std::vector<int8_t>(128, 1));
    payload.call("et_vk.linear_q8csw.default",
                 {x, weights, payload.constant({8}, std::vector<float>(8, 1)), none, y});
    payload.output(y);
    Limits limits;
    for (const bool can : {true, false}) {
      limits.byte_products = can;
      const Planned planned(payload.finish(), limits, /*fuses=*/true);
      ASSERT_STREQ(planned.status.message(), "");
      const bool is_known = *between == 0 || is_view;
      EXPECT_EQ(planned.plan.dispatches().back().shader,
                can && is_known ? Shader::gemm_bytes : Shader::gemm)
          << between;
    }
  }
}

// What the keys of attention are cut from is never stored; what is added, is.
TEST(Plan, ViewsAreStoredWhenThatIsNeeded) {
  PayloadBuilder payload;
  const Id x = payload.input({6, 3, 8}), none = payload.none(), one = payload.integer(1);
  const Id off = payload.flag(false), zero = payload.real(0);
  Id heads[3];
  for (int i = 0; i < 3; ++i) {
    const Id part = payload.tensor({6, 8}), split = payload.tensor({6, 2, 4});
    heads[i] = payload.tensor({2, 6, 4});
    payload.call("aten.select_copy.int", {x, one, payload.integer(i), part});
    payload.call("aten.view_copy.default", {part, payload.integers({6, 2, 4}), split});
    payload.call("aten.permute_copy.default", {split, payload.integers({1, 0, 2}), heads[i]});
  }
  const Id y = payload.tensor({2, 6, 4}), z = payload.tensor({2, 6, 4});
  payload.call("aten.scaled_dot_product_attention.default",
               {heads[0], heads[1], heads[2], none, zero, off, none, off, y});
  payload.call("aten.add.Tensor", {y, heads[0], one, z});
  payload.output(z);
  Planned planned(payload.finish());
  ASSERT_TRUE(planned.status.ok()) << planned.status.message();
  const auto shaders = [&] {
    std::vector<Shader> all;
    for (const Dispatch& each : planned.plan.dispatches()) all.push_back(each.shader);
    return all;
  };
  const std::vector<Shader> expected = {Shader::attention, Shader::copy, Shader::elementwise};
  EXPECT_EQ(shaders(), expected);
  const Dispatch& attention = planned.plan.dispatches()[0];
  for (size_t i = 1; i < 4; ++i) EXPECT_EQ(attention.bindings[i].value, static_cast<ValueId>(x));
  uint32_t words[28];
  std::memcpy(words, attention.push, sizeof(words));
  EXPECT_EQ(words[9], 4u);    // From one head of the queries to the next,
  EXPECT_EQ(words[10], 24u);  // and from one query.
  EXPECT_EQ(words[26], 8u);   // The keys begin there.
  EXPECT_EQ(overlaps(planned.plan), "");
  ASSERT_TRUE(planned.plan.build(planned.graph, Limits()).ok());
  EXPECT_EQ(shaders(), expected);
}

// A graph of cuts and concatenations of random lengths.
std::vector<uint8_t> random_payload(std::mt19937& random) {
  PayloadBuilder payload;
  std::vector<std::pair<Id, uint32_t>> made = {{payload.input({700}), 700}};
  const Id zero = payload.integer(0), one = payload.integer(1);
  for (int i = 0; i < 40; ++i) {
    const auto [a, a_size] = made[random() % made.size()];
    const auto [b, b_size] = made[random() % made.size()];
    const bool grows = a_size + b_size < 2000;
    const uint32_t size = grows ? a_size + b_size : 1 + static_cast<uint32_t>(random()) % a_size;
    const Id result = payload.tensor({size});
    if (grows) {
      payload.call("aten.cat.default", {payload.list({a, b}), zero, result});
    } else {
      payload.call("aten.slice_copy.Tensor", {a, zero, zero, payload.integer(size), one, result});
    }
    made.emplace_back(result, size);
  }
  payload.output(made.back().first);
  payload.output(made[made.size() / 2].first);
  return payload.finish();
}

TEST(Plan, OfAnyGraphKeepsApartWhatLivesTogether) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const Planned planned(random_payload(random));
    ASSERT_TRUE(planned.status.ok()) << planned.status.message();
    EXPECT_EQ(overlaps(planned.plan), "") << "round " << round;
    EXPECT_GE(planned.plan.arena_bytes(), planned.plan.arena_bound());
  }
}

// %y = view(%x, [2 * size(%x, 0)]) with %x of up to 8 rows, and %z filled with that number.
TEST(Plan, FollowsTheSizesOfInputs) {
  PayloadBuilder payload;
  const Id x = payload.input({8, 2}), rows = payload.size(8), all = payload.size(16);
  const Id y = payload.tensor({16}), z = payload.tensor({16}), sum = payload.tensor({16});
  const Id zero = payload.integer(0), one = payload.integer(1), none = payload.none();
  payload.call("sym_size.int", {x, zero, rows});
  payload.call("mul", {payload.integer(2), rows, all});
  payload.call("aten.view_copy.default", {x, payload.list({all}), y});
  payload.call("aten.full.default", {payload.list({all}), all, none, none, none, none, z});
  payload.call("aten.add.Tensor", {y, z, one, sum});
  payload.output(sum);
  Planned planned(payload.finish());
  ASSERT_TRUE(planned.status.ok()) << planned.status.message();
  ASSERT_EQ(planned.plan.dispatches().size(), 2u);
  EXPECT_FALSE(planned.plan.dispatches()[0].once);  // It depends on a size.
  const uint64_t before = planned.offset(sum);
  for (const int64_t size : {3, 0, 8}) {
    planned.graph.values[static_cast<size_t>(x)].dims[0] = size;
    ASSERT_TRUE(planned.plan.build(planned.graph, Limits()).ok());
    EXPECT_EQ(planned.graph.values[static_cast<size_t>(sum)].dims, (Dims{1, {2 * size}}));
    EXPECT_EQ(planned.offset(sum), before);
  }
}

TEST(Plan, WhatReadsOnlyConstantsRunsOnce) {
  PayloadBuilder payload;
  const Id x = payload.input({3}), w = payload.constant({3}, {1, 2, 3});
  const Id r = payload.tensor({3}), y = payload.tensor({3}), one = payload.integer(1);
  payload.call("aten.neg.default", {w, r});
  payload.call("aten.add.Tensor", {x, r, one, y});
  payload.output(y);
  const Planned planned(payload.finish());
  ASSERT_EQ(planned.plan.dispatches().size(), 2u);
  EXPECT_TRUE(planned.plan.dispatches()[0].once);
  EXPECT_FALSE(planned.plan.dispatches()[1].once);
}

// What relu(%x) with such a result is refused for; empty if it is planned.
std::string relu_problem(const PayloadBuilder::Sizes& sizes, wire::DataType dtype) {
  PayloadBuilder payload;
  const Id x = payload.input({2, 3}), y = payload.tensor(sizes, dtype);
  payload.call("aten.relu.default", {x, y});
  payload.output(y);
  return Planned(payload.finish()).status.message();
}

TEST(Plan, ResultsAreWhatTheirOperatorsGive) {
  EXPECT_EQ(relu_problem({2, 3}, wire::DataType::Float32), "");
  EXPECT_EQ(relu_problem({2, 3}, wire::DataType::Int32),
            "a result has another dtype than its operator gives");
  const std::string sizes = "a result has other sizes than its operator gives";
  EXPECT_EQ(relu_problem({3, 2}, wire::DataType::Float32), sizes);
  EXPECT_EQ(relu_problem({2, 3, 1}, wire::DataType::Float32), sizes);
  EXPECT_EQ(relu_problem({2, 2}, wire::DataType::Float32), sizes);
}

TEST(Plan, TensorsAreWrittenOnceAndThenRead) {
  const std::string twice = "a result is written twice, or is an input";
  for (const bool again : {false, true}) {
    PayloadBuilder payload;
    const Id x = payload.input({3}), y = payload.tensor({3});
    payload.call("aten.relu.default", {x, y});
    payload.call("aten.relu.default", {x, again ? y : x});
    payload.output(y);
    EXPECT_EQ(Planned(payload.finish()).status.message(), twice);
  }
  PayloadBuilder early;
  const Id a = early.tensor({3}), b = early.tensor({3});
  early.call("aten.relu.default", {a, b});
  EXPECT_STREQ(Planned(early.finish()).status.message(), "a tensor is read before it is written");
  PayloadBuilder never;
  never.output(never.tensor({3}));
  EXPECT_STREQ(Planned(never.finish()).status.message(),
               "an output of the payload is never written");
}

TEST(Plan, StaysWithinTheLimits) {
  const auto error_with = [](const Limits& limits) {
    PayloadBuilder payload;
    const Id x = payload.input({1000, 1000}), y = payload.tensor({1000, 1000});
    payload.call("aten.relu.default", {x, y});
    payload.output(y);
    return Planned(payload.finish(), limits).status.error();
  };
  EXPECT_EQ(error_with({}), Error::kOk);
  Limits limits;
  limits.bytes = 4'000'000;
  EXPECT_EQ(error_with(limits), Error::kDelegateMemoryAllocationFailed);
  limits = {};
  limits.range = 3'999'999;
  EXPECT_EQ(error_with(limits), Error::kDelegateMemoryAllocationFailed);
  limits = {};
  limits.groups[0] = 2;
  EXPECT_EQ(error_with(limits), Error::kDelegateInvalidCompatibility);
}

// An image through most families of operators.
std::vector<uint8_t> mixed_payload() {
  PayloadBuilder payload;
  const Id x = payload.input({1, 2, 6, 6}),
           w = payload.constant({4, 2, 3, 3}, std::vector<float>(72, 1));
  const Id bias = payload.constant({4}, {1, 2, 3, 4});
  const Id ones = payload.integers({1, 1}), zeros = payload.integers({0, 0});
  const Id no = payload.flag(false), one = payload.integer(1), twos = payload.integers({2, 2});
  const Id c = payload.tensor({1, 4, 6, 6}), r = payload.tensor({1, 4, 6, 6});
  const Id p = payload.tensor({1, 4, 3, 3}), flat = payload.tensor({4, 9});
  const Id t = payload.tensor({9, 4}), m = payload.tensor({4, 4}), s = payload.tensor({4, 4});
  const Id both = payload.tensor({8, 4}), rows = payload.size(4), last = payload.integer(-1);
  const Id all = payload.tensor({8, 4});
  payload.call("aten.convolution.default", {x, w, bias, ones, ones, ones, no, zeros, one, c});
  payload.call("aten.relu.default", {c, r});
  payload.call("aten.max_pool2d.default", {r, twos, twos, zeros, ones, no, p});
  payload.call("aten.view_copy.default", {p, payload.integers({4, 9}), flat});
  payload.call("aten.permute_copy.default", {flat, payload.integers({1, 0}), t});
  payload.call("aten.mm.default", {flat, t, m});
  payload.call("aten._softmax.default", {m, last, no, s});
  payload.call("sym_size.int", {s, one, rows});
  payload.call("aten.cat.default", {payload.list({s, m}), payload.integer(0), both});
  payload.call("aten.expand_copy.default", {both, payload.list({last, rows}), no, all});
  payload.output(all);
  return payload.finish();
}

// What must hold of every plan, whatever the payload was.
void expect_sound(const Planned& planned, const Limits& limits, int round) {
  EXPECT_EQ(overlaps(planned.plan), "") << "mutant " << round;
  const std::vector<Place>& places = planned.plan.places();
  for (const Dispatch& dispatch : planned.plan.dispatches()) {
    EXPECT_LE(dispatch.num_constants, Dispatch::kMaxConstants);
    for (size_t i = 0; i < 3; ++i) EXPECT_LE(dispatch.groups[i], limits.groups[i]);
    for (size_t i = 0; i < dispatch.num_bindings; ++i) {
      const ValueId value = dispatch.bindings[i].value;
      if (value == kFaultValue) continue;
      ASSERT_LT(value, places.size()) << "mutant " << round;
      const Place& root = places[places[value].root];
      EXPECT_NE(root.memory, Place::Memory::kNone) << "mutant " << round;
      EXPECT_FALSE(dispatch.bindings[i].writes && root.memory == Place::Memory::kConstants &&
                   !dispatch.once)
          << "mutant " << round;
    }
  }
}

TEST(Plan, OfADamagedPayloadIsSoundOrRefused) {
  const std::vector<uint8_t> whole = mixed_payload();
  const Planned right(whole);
  ASSERT_TRUE(right.status.ok()) << right.status.message();
  std::mt19937 random(7);
  Limits limits;
  limits.bytes = uint64_t{1} << 30;
  int planned_ones = 0;
  for (int round = 0; round < 30000; ++round) {
    std::vector<uint8_t> bytes = whole;
    for (int edits = 1 + static_cast<int>(random() % 3); edits > 0; --edits) {
      const size_t width = size_t{1} << random() % 3;
      const size_t at = random() % (bytes.size() / width) * width;
      const uint32_t value = random() % 2 != 0 ? random() % 40 : random();
      std::memcpy(&bytes[at], &value, width);
    }
    const Planned mutant(bytes, limits, random() % 2 != 0);
    if (!mutant.status.ok()) continue;
    ++planned_ones;
    expect_sound(mutant, limits, round);
  }
  EXPECT_GT(planned_ones, 1000);
}

}  // namespace
}  // namespace taper::vulkan
