// What a tracer hears, by a clock that counts how often it is asked.

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "taper/event_tracer.h"
#include "taper/trace_clock.h"
#include "test/support/loaded_method.h"

namespace taper {
namespace {

using test::FloatTensor;
using test::LoadedMethod;
using test::MethodSpec;
using test::ProgramBuilder;

uint64_t tick() {
  static uint64_t count = 0;
  return ++count;
}

// y = 3 * x as two sums, with a jump that is taken over an instruction between them.
struct Thrice {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  int x, t, y;

  explicit Thrice(int32_t target = 3) {
    x = m.tensor({.sizes = {{2}}});
    t = m.tensor({.sizes = {{2}}, .memory_id = 1});
    y = m.tensor({.sizes = {{2}}, .memory_id = 1, .offset = 8});
    m.buffer_sizes = {0, 16};
    m.inputs = {x};
    m.outputs = {y};
    const int never = m.boolean(false);
    m.call("test::add", "out", {x, x, t, t});
    m.jump_false(never, target);
    m.call("test::add", "out", {t, t, t, t});
    m.call("test::add", "out", {t, x, y, y});
  }
};

std::vector<uint32_t> instructions_of(const TraceRing& ring) {
  std::vector<uint32_t> all;
  for (size_t i = 0; i < ring.size(); ++i) all.push_back(ring[i].instruction);
  return all;
}

TEST(Trace, HearsOfEachInstructionThatRuns) {
  Thrice model;
  LoadedMethod loaded(model.builder);
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().message();
  FloatTensor x({2}, {1, 2});
  ASSERT_TRUE(loaded->set_input(0, x.value()).ok());
  TraceRecord records[8];
  TraceRing ring(records, tick);
  ASSERT_TRUE(loaded->execute(ring).ok());
  EXPECT_EQ(test::floats(loaded.method()), (std::vector<float>{3, 6}));
  EXPECT_EQ(instructions_of(ring), (std::vector<uint32_t>{0, 1, 3}));
  for (size_t i = 0; i < ring.size(); ++i) {
    EXPECT_EQ(ring[i].end, ring[i].begin + 1);  // The clock is asked once between two of them.
    EXPECT_EQ(ring[i].chain, 0u);
    EXPECT_EQ(ring[i].temp_bytes, 0u);
  }
  EXPECT_EQ(ring[1].begin, ring[0].end);
}

TEST(Trace, ARingKeepsTheLast) {
  Thrice model;
  LoadedMethod loaded(model.builder);
  FloatTensor x({2}, {1, 2});
  ASSERT_TRUE(loaded->set_input(0, x.value()).ok());
  TraceRecord records[2];
  TraceRing ring(records, tick);
  ASSERT_TRUE(loaded->execute(ring).ok());
  EXPECT_EQ(ring.count(), 3u);
  EXPECT_EQ(instructions_of(ring), (std::vector<uint32_t>{1, 3}));
  ring.clear();
  EXPECT_EQ(ring.size(), 0u);
  TraceRing none({}, tick);
  ASSERT_TRUE(loaded->execute(none).ok());
  EXPECT_EQ(none.count(), 3u);
  EXPECT_EQ(none.size(), 0u);
}

TEST(Trace, WhatFailsHasEnded) {
  Thrice model(0);  // An endless loop.
  MethodOptions options = {test::test_tables()};
  options.max_instructions = 7;
  LoadedMethod loaded(model.builder, options);
  FloatTensor x({2}, {1, 2});
  ASSERT_TRUE(loaded->set_input(0, x.value()).ok());
  TraceRecord records[16];
  TraceRing ring(records, tick);
  EXPECT_EQ(loaded->execute(ring).error(), Error::kInvalidProgram);
  EXPECT_EQ(instructions_of(ring), (std::vector<uint32_t>{0, 1, 0, 1, 0, 1, 0}));
}

TEST(Trace, KnowsHowMuchTempMemoryAKernelTook) {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  m.call("test::scratch", "", {m.integer(128)});
  m.call("test::scratch", "", {m.integer(320)});
  LoadedMethod loaded(builder, {test::test_tables()}, 512);
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().message();
  TraceRecord records[4];
  TraceRing ring(records, tick);
  ASSERT_TRUE(loaded->execute(ring).ok());
  ASSERT_EQ(ring.size(), 2u);
  EXPECT_GE(ring[0].temp_bytes, 128u);
  EXPECT_LT(ring[0].temp_bytes, 128u + 64);  // With what aligns it.
  EXPECT_EQ(ring[1].temp_bytes, ring[0].temp_bytes + 320 - 128);
}

TEST(Trace, TheClockCountsSeconds) {
  const TraceClock clock;
  const auto start = std::chrono::steady_clock::now();
  const uint64_t first = clock.now();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const uint64_t last = clock.now();
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  EXPECT_GE(clock.seconds(last - first), 0.019);
  EXPECT_LE(clock.seconds(last - first), passed.count() * 1.01);
  EXPECT_NEAR(static_cast<double>(clock.nanoseconds_at(last) - clock.nanoseconds_at(first)) * 1e-9,
              clock.seconds(last - first), 1e-6);
}

TEST(Trace, InstructionsSayWhatTheyAre) {
  Thrice model;
  LoadedMethod loaded(model.builder);
  const Result<InstructionInfo> sum = loaded->instruction(0, 3);
  ASSERT_TRUE(sum.ok());
  EXPECT_EQ(sum->op.name, "test::add");
  EXPECT_EQ(sum->op.overload, "out");
  EXPECT_FALSE(sum->is_delegate);
  ASSERT_EQ(sum->args.size(), 3u);
  EXPECT_EQ(sum->args[2]->to_tensor().sizes()[0], 2);
  EXPECT_EQ(loaded->instruction(0, 1)->op.name, "");  // A jump.
  EXPECT_EQ(loaded->instruction(0, 4).error(), Error::kInvalidArgument);
  EXPECT_EQ(loaded->instruction(1, 0).error(), Error::kInvalidArgument);
}

}  // namespace
}  // namespace taper
