// Moves, jumps, frees and views.

#include <gtest/gtest.h>

#include <string>

#include "test/support/loaded_method.h"

namespace taper {
namespace {

using test::floats;
using test::FloatTensor;
using test::LoadedMethod;
using test::MethodSpec;
using test::ProgramBuilder;
using Floats = std::vector<float>;

// if (flag) y = x + x else y = x, with both branches moved to y, as a compiler emits it.
struct Branch {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  int flag, x, sum, y;

  Branch() {
    flag = m.tensor({.scalar_type = 11, .sizes = {{1}}});
    x = m.tensor({.sizes = {{2}}});
    sum = m.tensor({.sizes = {{2}}, .memory_id = 1});
    y = m.tensor({.sizes = {{2}}});
    m.buffer_sizes = {0, 8};
    m.inputs = {flag, x};
    m.outputs = {y};
    const int never = m.boolean(false);
    m.jump_false(flag, 4);
    m.call("test::add", "out", {x, x, sum, sum});
    m.move(sum, y);
    m.jump_false(never, 5);
    m.move(x, y);
  }
};

struct Flag {
  explicit Flag(uint8_t value) : value(value) {}

  uint8_t value;
  int32_t size = 1, stride = 1;
  uint8_t order = 0;
  Tensor tensor{ScalarType::kBool, 1, &size, &order, &stride, &value};
};

TEST(ControlFlow, BothBranchesReachTheOutput) {
  Branch model;
  LoadedMethod loaded(model.builder);
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().message();
  FloatTensor x({2}, {1, 2});
  Flag flag(1);
  ASSERT_TRUE(loaded->set_input(0, EValue(&flag.tensor)).ok());
  ASSERT_TRUE(loaded->set_input(1, x.value()).ok());
  ASSERT_TRUE(loaded->execute().ok());
  EXPECT_EQ(floats(loaded.method()), (Floats{2, 4}));
  flag.value = 0;
  ASSERT_TRUE(loaded->execute().ok());
  EXPECT_EQ(floats(loaded.method()), (Floats{1, 2}));
  float mine[2];
  EXPECT_EQ(loaded->set_output_data(0, mine, 8).error(), Error::kInvalidState);
}

// i = 0; do { acc += x; i += 1 } while (!(limit < i))
TEST(ControlFlow, ALoopRunsUntilItsConditionHolds) {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  const int zero = m.integer(0), i = m.integer(0), limit = m.integer(4);
  const int done = m.boolean(false);
  const int x = m.tensor({.sizes = {{1}}});
  const int acc = m.tensor({.sizes = {{1}}, .memory_id = 1});
  m.buffer_sizes = {0, 4};
  m.inputs = {x};
  m.outputs = {acc, i};
  m.move(zero, i);
  m.call("test::fill", "", {zero, acc});
  m.call("test::add", "out", {acc, x, acc, acc});
  m.call("test::increment", "", {i});
  m.call("test::less", "", {limit, i, done});
  m.jump_false(done, 2);
  LoadedMethod loaded(builder);
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().message();
  FloatTensor value({1}, {3});
  ASSERT_TRUE(loaded->set_input(0, value.value()).ok());
  for (int run = 0; run < 2; ++run) {
    ASSERT_TRUE(loaded->execute().ok());
    EXPECT_EQ(floats(loaded.method()), (Floats{15}));
    EXPECT_EQ(loaded->get_output(1)->to_int(), 5);
  }
}

// An int is a condition, too: ExecuTorch writes one where an operator compares sizes.
TEST(ControlFlow, AnIntOfZeroIsFalse) {
  for (const int64_t flag : {0, 1, -1, 256}) {
    ProgramBuilder builder;
    MethodSpec& m = builder.method("forward");
    const int out = m.tensor({.sizes = {{1}}, .memory_id = 1});
    m.buffer_sizes = {0, 4};
    m.outputs = {out};
    m.call("test::fill", "", {m.integer(3), out});
    m.jump_false(m.integer(flag), 3);
    m.call("test::fill", "", {m.integer(4), out});
    LoadedMethod loaded(builder);
    ASSERT_TRUE(loaded.status().ok()) << loaded.status().message();
    ASSERT_TRUE(loaded->execute().ok());
    EXPECT_EQ(floats(loaded.method()), (Floats{flag == 0 ? 3.0f : 4.0f}));
  }
}

TEST(ControlFlow, EndlessLoopsEnd) {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  m.jump_false(m.boolean(false), 0);
  MethodOptions options{test::test_tables()};
  options.max_instructions = 1000;
  EXPECT_EQ(LoadedMethod(builder, options)->execute().error(), Error::kInvalidProgram);
}

TEST(ControlFlow, AJumpToTheEndEndsTheChain) {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  const int out = m.tensor({.sizes = {{1}}, .memory_id = 1});
  m.buffer_sizes = {0, 4};
  m.outputs = {out};
  m.jump_false(m.boolean(false), 2);
  m.call("test::fail", "", {out});
  m.chains.push_back({});  // The next chain still runs.
  m.call("test::fill", "", {m.integer(9), out});
  LoadedMethod loaded(builder);
  ASSERT_TRUE(loaded->execute().ok());
  EXPECT_EQ(floats(loaded.method()), (Floats{9}));
}

TEST(ControlFlow, AFreedTensorStaysUsable) {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  const int out = m.tensor({.sizes = {{1}}, .memory_id = 1});
  m.buffer_sizes = {0, 4};
  m.outputs = {out};
  m.free(out);
  m.call("test::fill", "", {m.integer(9), out});
  LoadedMethod loaded(builder);
  ASSERT_TRUE(loaded->execute().ok());
  EXPECT_EQ(floats(loaded.method()), (Floats{9}));
}

TEST(ControlFlow, AnErrorPutsMovedAndCountedSlotsBack) {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  const int i = m.integer(0);
  const int out = m.tensor({.sizes = {{1}}, .memory_id = 1});
  m.buffer_sizes = {0, 4};
  m.outputs = {i};
  m.call("test::increment", "", {i});
  m.call("test::fail", "", {out});
  LoadedMethod loaded(builder);
  EXPECT_FALSE(loaded->execute().ok());
  EXPECT_FALSE(loaded->execute().ok());
  EXPECT_EQ(loaded->get_output(0)->to_int(), 0);
}

// ---- Views -------------------------------------------------------------------------------------

struct View {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  int x, view, y;

  explicit View(bool use_first) {
    x = m.tensor({.sizes = {{2, 2}}});
    view = m.tensor({.sizes = {{4}}});
    y = m.tensor({.sizes = {{4}}, .memory_id = 1});
    m.buffer_sizes = {0, 16};
    m.inputs = {x};
    m.outputs = {y, view};
    if (use_first) m.call("test::add", "out", {view, view, y, y});
    m.call("test::view", "", {x, m.int_list({m.integer(4)}), view});
    m.call("test::add", "out", {view, view, y, y});
  }
};

TEST(Views, ShareTheMemoryOfTheirSource) {
  View model(false);
  LoadedMethod loaded(model.builder);
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().message();
  FloatTensor x({2, 2}, {1, 2, 3, 4});
  ASSERT_TRUE(loaded->set_input(0, x.value()).ok());
  ASSERT_TRUE(loaded->execute().ok());
  EXPECT_EQ(floats(loaded.method()), (Floats{2, 4, 6, 8}));
  EXPECT_EQ(loaded->get_output(1)->to_tensor().const_data(), x.values().data());
}

TEST(Views, UsedBeforeTheyAreMadeAreAnError) {
  View model(true);
  LoadedMethod loaded(model.builder);
  ASSERT_TRUE(loaded.status().ok());
  FloatTensor x({2, 2}, {1, 2, 3, 4});
  ASSERT_TRUE(loaded->set_input(0, x.value()).ok());
  EXPECT_EQ(loaded->execute().error(), Error::kInvalidProgram);
  EXPECT_EQ(loaded->last_failure().instruction, 0);
}

// A view does not outlive its execution: the memory it refers to may be gone.
TEST(Views, DoNotOutliveAnExecution) {
  View model(false);
  const int flag = model.m.tensor({.scalar_type = 11, .sizes = {{1}}});
  model.m.inputs.push_back(flag);
  auto& steps = model.m.chains[0];
  steps.insert(steps.begin(),
               {.type = wire::InstructionArguments::JumpFalseCall, .a = flag, .b = 2});
  LoadedMethod loaded(model.builder);
  ASSERT_TRUE(loaded.status().ok());
  Flag make(1);
  ASSERT_TRUE(loaded->set_input(1, EValue(&make.tensor)).ok());
  {
    FloatTensor x({2, 2}, {1, 2, 3, 4});
    ASSERT_TRUE(loaded->set_input(0, x.value()).ok());
    ASSERT_TRUE(loaded->execute().ok());
  }
  FloatTensor other({2, 2}, {5, 6, 7, 8});
  ASSERT_TRUE(loaded->set_input(0, other.value()).ok());
  make.value = 0;
  EXPECT_EQ(loaded->execute().error(), Error::kInvalidProgram);
}

TEST(Views, AnUnboundTensorInsideAListIsAnError) {
  View model(false);
  auto& m = model.m;
  const int one = m.tensor({.sizes = {{1}}, .memory_id = 1});
  auto view = m.chains[0];
  m.chains[0].clear();
  m.call("test::sum_list", "", {m.tensor_list({model.y, model.view}), one});
  m.chains[0].insert(m.chains[0].end(), view.begin(), view.end());
  LoadedMethod loaded(model.builder);
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().message();
  FloatTensor x({2, 2}, {1, 2, 3, 4});
  ASSERT_TRUE(loaded->set_input(0, x.value()).ok());
  EXPECT_EQ(loaded->execute().error(), Error::kInvalidProgram);
}

}  // namespace
}  // namespace taper
