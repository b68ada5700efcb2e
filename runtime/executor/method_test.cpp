// Loading a method, setting inputs, running, reading outputs.

#include "taper/method.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
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

// y = (x + weight) + x, all of two elements; x unplanned, the rest planned.
struct AddTwice {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  int x, weight, t, y;

  AddTwice() {
    const uint32_t constant = builder.constant(test::bytes_of(Floats{10, 20}));
    x = m.tensor({.sizes = {{2}}});
    weight = m.tensor({.sizes = {{2}}, .data_buffer_idx = constant});
    t = m.tensor({.sizes = {{2}}, .memory_id = 1});
    y = m.tensor({.sizes = {{2}}, .memory_id = 1, .offset = 8});
    m.buffer_sizes = {0, 16};
    m.inputs = {x};
    m.outputs = {y};
    m.call("test::add", "out", {x, weight, t, t});
    m.call("test::add", "out", {t, x, y, y});
  }
};

TEST(Method, RunsItsInstructions) {
  AddTwice model;
  LoadedMethod loaded(model.builder);
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().message();
  FloatTensor x({2}, {1, 2});
  ASSERT_TRUE(loaded->set_input(0, x.value()).ok());
  ASSERT_TRUE(loaded->execute().ok());
  EXPECT_EQ(floats(loaded.method()), (Floats{12, 24}));
  x.values() = {2, 3};  // Bound without a copy.
  ASSERT_TRUE(loaded->execute().ok());
  EXPECT_EQ(floats(loaded.method()), (Floats{14, 26}));
}

TEST(Method, NumbersThatAreReadMayVaryAndOthersAreFixed) {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  const int returned = m.integer(3), listed = m.integer(4), moved = m.real(0.5), to = m.real(0);
  const int fixed = m.integer(5), name = m.string("a");
  m.int_list({listed});
  m.inputs = {returned, listed, moved, fixed, name};
  m.outputs = {returned, to};
  m.move(moved, to);
  LoadedMethod loaded(builder);
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().message();
  EXPECT_EQ(loaded->set_input(3, EValue(int64_t{6})).error(), Error::kInvalidArgument);
  EXPECT_EQ(loaded->set_input(4, EValue("b", 1)).error(), Error::kInvalidArgument);
  EXPECT_EQ(loaded->set_input(0, EValue(0.5)).error(), Error::kInvalidType);
  const EValue inputs[] = {EValue(int64_t{-8}), EValue(int64_t{9}), EValue(1.25),
                           EValue(int64_t{5}), EValue("a", 1)};
  ASSERT_TRUE(loaded->set_inputs(inputs).ok());
  ASSERT_TRUE(loaded->execute().ok());
  EXPECT_EQ(loaded->get_output(0)->to_int(), -8);
  EXPECT_EQ(loaded->get_output(1)->to_double(), 1.25);
}

TEST(Method, ExactlyTheStatedMemorySuffices) {
  AddTwice model;
  LoadedMethod loaded(model.builder);
  ASSERT_TRUE(loaded.status().ok());
  MemoryManager memory = loaded.memory().manager();
  const MethodOptions options{test::test_tables()};
  EXPECT_TRUE(Method::load(loaded.program(), "forward", memory, options).ok());
  memory.method = memory.method.subspan(0, memory.method.size() - 1);
  EXPECT_EQ(Method::load(loaded.program(), "forward", memory, options).error(),
            Error::kMemoryAllocationFailed);
  memory = loaded.memory().manager();
  loaded.memory().buffers()[0] = loaded.memory().buffers()[0].subspan(0, 15);
  EXPECT_EQ(Method::load(loaded.program(), "forward", memory, options).error(),
            Error::kMemoryAllocationFailed);
  memory.planned = HierarchicalAllocator();
  EXPECT_EQ(Method::load(loaded.program(), "forward", memory, options).error(),
            Error::kMemoryAllocationFailed);
}

TEST(Method, BlocksMustBeAligned) {
  AddTwice model;
  LoadedMethod loaded(model.builder);
  const size_t bytes = loaded->meta().method_bytes();
  test::Bytes larger(bytes + 32);
  MemoryManager memory = loaded.memory().manager();
  memory.method = {larger.data() + 8, bytes};
  EXPECT_EQ(Method::load(loaded.program(), "forward", memory, {test::test_tables()}).error(),
            Error::kInvalidArgument);
}

TEST(Method, UnknownNamesAreNotFound) {
  AddTwice model;
  LoadedMethod loaded(model.builder);
  EXPECT_EQ(Method::load(loaded.program(), "backward", loaded.memory().manager(), {}).error(),
            Error::kNotFound);
}

TEST(Method, AllMissingKernelsAreReported) {
  AddTwice model;
  model.m.call("aten::first", "out", {model.x});
  model.m.call("aten::second", "", {model.x});
  model.m.call("aten::first", "out", {model.x});
  LoadedMethod loaded(model.builder);
  EXPECT_EQ(loaded.status().error(), Error::kOperatorMissing);
  EXPECT_EQ(loaded.subjects(), (std::vector<std::string>{"aten::first.out", "aten::second"}));
}

Status add_hundred(KernelContext&, const Tensor& a, const Tensor&, Tensor& out) {
  for (int64_t i = 0; i < out.numel(); ++i) {
    out.mutable_data_ptr<float>()[i] = a.const_data_ptr<float>()[i] + 100;
  }
  return {};
}

TEST(Method, EarlierTablesComeFirst) {
  static constexpr Kernel kMine = make_kernel<add_hundred>("test::add.out");
  static constexpr const Kernel* kSmall[] = {&kMine, &kMine};  // Twice is harmless.
  const KernelTable tables[] = {kSmall, test::test_kernels()};
  AddTwice model;
  LoadedMethod loaded(model.builder, {tables});
  ASSERT_TRUE(loaded.status().ok());
  FloatTensor x({2}, {1, 2});
  ASSERT_TRUE(loaded->set_input(0, x.value()).ok());
  ASSERT_TRUE(loaded->execute().ok());
  EXPECT_EQ(floats(loaded.method()), (Floats{201, 202}));
}

TEST(Method, ExecuteBeforeTheInputsIsRefused) {
  AddTwice model;
  LoadedMethod loaded(model.builder);
  EXPECT_EQ(loaded->execute().error(), Error::kInvalidState);
}

TEST(MethodInput, WhatDoesNotFitIsRefusedAndTheOldInputHolds) {
  AddTwice model;
  LoadedMethod loaded(model.builder);
  FloatTensor good({2}, {1, 2});
  ASSERT_TRUE(loaded->set_input(0, good.value()).ok());
  FloatTensor longer({3}, {1, 2, 3});
  FloatTensor rank({1, 2}, {1, 2});
  FloatTensor empty({2}, {1, 2});
  empty.tensor().set_data(nullptr);
  FloatTensor crooked({2}, {1, 2, 3});
  crooked.tensor().set_data(reinterpret_cast<uint8_t*>(crooked.values().data()) + 1);
  EXPECT_EQ(loaded->set_input(0, longer.value()).error(), Error::kInvalidArgument);
  EXPECT_EQ(loaded->set_input(0, rank.value()).error(), Error::kInvalidArgument);
  EXPECT_EQ(loaded->set_input(0, empty.value()).error(), Error::kInvalidArgument);
  EXPECT_EQ(loaded->set_input(0, crooked.value()).error(), Error::kInvalidArgument);
  EXPECT_EQ(loaded->set_input(0, EValue(int64_t{1})).error(), Error::kInvalidType);
  EXPECT_EQ(loaded->set_input(1, good.value()).error(), Error::kInvalidArgument);
  int32_t size = 2, stride = 1;
  uint8_t order = 0;
  int64_t data[2] = {};
  Tensor integers(ScalarType::kLong, 1, &size, &order, &stride, data);
  EXPECT_EQ(loaded->set_input(0, EValue(&integers)).error(), Error::kInvalidType);
  EXPECT_EQ(loaded->set_inputs({}).error(), Error::kInvalidArgument);
  ASSERT_TRUE(loaded->execute().ok());
  EXPECT_EQ(floats(loaded.method()), (Floats{12, 24}));
}

TEST(MethodInput, AnotherDimOrderIsRefused) {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  m.inputs = {m.tensor({.sizes = {{2, 3}}, .dim_order = {{1, 0}}})};
  LoadedMethod loaded(builder);
  FloatTensor x({2, 3}, Floats(6));
  EXPECT_EQ(loaded->set_input(0, x.value()).error(), Error::kInvalidArgument);
}

TEST(MethodInput, PlannedInputsAreCopied) {
  AddTwice model;
  model.m.values[static_cast<size_t>(model.x)].tensor.memory_id = 1;
  model.m.values[static_cast<size_t>(model.x)].tensor.offset = 16;
  model.m.buffer_sizes = {0, 24};
  LoadedMethod loaded(model.builder);
  ASSERT_TRUE(loaded.status().ok());
  FloatTensor x({2}, {1, 2});
  ASSERT_TRUE(loaded->set_input(0, x.value()).ok());
  x.values() = {7, 7};
  ASSERT_TRUE(loaded->execute().ok());
  EXPECT_EQ(floats(loaded.method()), (Floats{12, 24}));
}

TEST(MethodInput, BakedInValuesMustBeTheSame) {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  m.inputs = {m.integer(3), m.boolean(true), m.real(0.5),      m.string("mean"),
              m.none(),     m.real(NAN),     m.real(INFINITY), m.real(1e300)};
  LoadedMethod loaded(builder);
  ASSERT_TRUE(loaded.status().ok());
  EXPECT_TRUE(loaded->set_input(0, EValue(int64_t{3})).ok());
  EXPECT_EQ(loaded->set_input(0, EValue(int64_t{4})).error(), Error::kInvalidArgument);
  EXPECT_TRUE(loaded->set_input(1, EValue(true)).ok());
  EXPECT_EQ(loaded->set_input(1, EValue(false)).error(), Error::kInvalidArgument);
  EXPECT_TRUE(loaded->set_input(2, EValue(0.500001)).ok());
  EXPECT_EQ(loaded->set_input(2, EValue(0.51)).error(), Error::kInvalidArgument);
  EXPECT_TRUE(loaded->set_input(3, EValue("mean", 4)).ok());
  EXPECT_EQ(loaded->set_input(3, EValue("sum", 3)).error(), Error::kInvalidArgument);
  EXPECT_TRUE(loaded->set_input(4, EValue()).ok());
  EXPECT_EQ(loaded->set_input(4, EValue(1.0)).error(), Error::kInvalidType);
  EXPECT_EQ(loaded->execute().error(), Error::kInvalidState);
  EXPECT_FALSE(loaded->set_input(5, EValue(1.0)).ok());
  EXPECT_TRUE(loaded->set_input(5, EValue(std::nan(""))).ok());
  EXPECT_FALSE(loaded->set_input(6, EValue(-INFINITY)).ok());
  EXPECT_FALSE(loaded->set_input(6, EValue(1e300)).ok());
  EXPECT_TRUE(loaded->set_input(6, EValue(INFINITY)).ok());
  EXPECT_FALSE(loaded->set_input(7, EValue(1e200)).ok());
  EXPECT_TRUE(loaded->set_input(7, EValue(1e300)).ok());
  EXPECT_TRUE(loaded->execute().ok());
}

TEST(MethodOutput, UnplannedOutputsGoWhereTheCallerWants) {
  AddTwice model;
  model.m.values[static_cast<size_t>(model.y)].tensor.memory_id.reset();
  LoadedMethod loaded(model.builder);
  FloatTensor x({2}, {1, 2});
  ASSERT_TRUE(loaded->set_input(0, x.value()).ok());
  EXPECT_EQ(loaded->execute().error(), Error::kInvalidState);
  EXPECT_EQ(loaded->get_output(0).error(), Error::kInvalidState);
  float mine[2] = {};
  EXPECT_EQ(loaded->set_output_data(0, mine, 7).error(), Error::kInvalidArgument);
  EXPECT_EQ(loaded->set_output_data(0, nullptr, 8).error(), Error::kInvalidArgument);
  EXPECT_EQ(loaded->set_output_data(1, mine, 8).error(), Error::kInvalidArgument);
  ASSERT_TRUE(loaded->set_output_data(0, mine, 8).ok());
  ASSERT_TRUE(loaded->execute().ok());
  EXPECT_EQ(mine[1], 24.0f);
}

TEST(MethodOutput, PlannedOutputsKeepTheirMemory) {
  AddTwice model;
  LoadedMethod loaded(model.builder);
  float mine[2] = {};
  EXPECT_EQ(loaded->set_output_data(0, mine, 8).error(), Error::kInvalidState);
}

TEST(MethodShapes, DynamicSizesFollowTheInput) {
  AddTwice model;
  for (int slot : {model.x, model.t, model.y}) {
    model.m.values[static_cast<size_t>(slot)].tensor.dynamism = 1;
  }
  model.m.chains[0][0].args = {{model.x, model.x, model.t, model.t}};
  LoadedMethod loaded(model.builder);
  ASSERT_TRUE(loaded.status().ok());
  FloatTensor one({1}, {5});
  ASSERT_TRUE(loaded->set_input(0, one.value()).ok());
  ASSERT_TRUE(loaded->execute().ok());
  EXPECT_EQ(floats(loaded.method()), (Floats{15}));
  FloatTensor two({2}, {5, 6});
  ASSERT_TRUE(loaded->set_input(0, two.value()).ok());
  ASSERT_TRUE(loaded->execute().ok());
  EXPECT_EQ(floats(loaded.method()), (Floats{15, 18}));
  FloatTensor none({0}, {});
  ASSERT_TRUE(loaded->set_input(0, none.value()).ok());
  ASSERT_TRUE(loaded->execute().ok());
  EXPECT_EQ(floats(loaded.method()), Floats{});
  FloatTensor three({3}, {1, 2, 3});
  EXPECT_EQ(loaded->set_input(0, three.value()).error(), Error::kInvalidArgument);
}

// A kernel may grow an input that it writes only up to the caller's memory, not up to the declared
// bound.
TEST(MethodShapes, ABoundInputCannotGrow) {
  AddTwice model;
  model.m.values[static_cast<size_t>(model.x)].tensor.dynamism = 1;
  model.m.chains[0] = {};
  model.m.call("test::add", "out", {model.weight, model.weight, model.x, model.x});
  LoadedMethod loaded(model.builder);
  ASSERT_TRUE(loaded.status().ok());
  FloatTensor one({1}, {5});
  ASSERT_TRUE(loaded->set_input(0, one.value()).ok());
  EXPECT_EQ(loaded->execute().error(), Error::kNotSupported);
}

TEST(MethodErrors, NameTheInstructionAndLeaveTheMethodUsable) {
  AddTwice model;
  const int cond = model.m.boolean(true);
  model.m.inputs.push_back(cond);
  model.m.call("test::fail", "", {model.y});
  LoadedMethod loaded(model.builder);
  FloatTensor x({2}, {1, 2});
  ASSERT_TRUE(loaded->set_input(0, x.value()).ok());
  ASSERT_TRUE(loaded->set_input(1, EValue(true)).ok());
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_EQ(loaded->execute().error(), Error::kInvalidArgument);
    EXPECT_EQ(loaded->last_failure().chain, 0);
    EXPECT_EQ(loaded->last_failure().instruction, 2);
    EXPECT_EQ(loaded->last_failure().op.name, "test::fail");
  }
}

TEST(MethodErrors, SayWhatTheProgramSaysOfThem) {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  const int runs = m.integer(0), few = m.boolean(false);
  m.call("test::increment", "", {runs});
  m.call("test::less", "", {m.integer(0), runs, few});
  m.call("test::assert", "", {few, m.string("never said")});
  m.call("test::less", "", {runs, m.integer(1), few});
  m.call("test::assert", "", {few, m.string("as it\x1b is")});
  LoadedMethod loaded(builder);
  EXPECT_TRUE(loaded->last_failure().message.empty());
  for (int attempt = 0; attempt < 2; ++attempt) {
    EXPECT_EQ(loaded->execute().error(), Error::kInvalidArgument);
    EXPECT_EQ(loaded->last_failure().instruction, 4);
    EXPECT_EQ(loaded->last_failure().op.name, "test::assert");
    EXPECT_EQ(loaded->last_failure().message, "as it\x1b is");
  }
}

TEST(MethodErrors, AMessageIsAText) {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  m.call("test::assert", "", {m.boolean(false), m.integer(3)});
  EXPECT_EQ(LoadedMethod(builder).status().error(), Error::kInvalidProgram);
}

TEST(MethodErrors, TempMemoryIsWhatTheCallerGave) {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  m.call("test::scratch", "", {m.integer(128)});
  m.call("test::scratch", "", {m.integer(128)});  // Free again for every instruction.
  EXPECT_EQ(LoadedMethod(builder)->execute().error(), Error::kOutOfResources);
  EXPECT_TRUE(LoadedMethod(builder, {test::test_tables()}, 192)->execute().ok());
}

// ---- What load refuses -------------------------------------------------------------------------

struct Case {
  const char* name;
  const char* text;
  std::function<void(AddTwice&)> spoil;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class HostileArguments : public testing::TestWithParam<Case> {};

TEST_P(HostileArguments, AreRefusedWhenTheMethodIsLoaded) {
  AddTwice model;
  GetParam().spoil(model);
  LoadedMethod loaded(model.builder);
  EXPECT_EQ(loaded.status().error(), Error::kInvalidProgram) << loaded.status().message();
  EXPECT_NE(std::string(loaded.status().message()).find(GetParam().text), std::string::npos)
      << loaded.status().message();
}

// The list of a view's sizes: one int slot of 2.
int two(MethodSpec& m) { return m.int_list({m.integer(2)}); }

INSTANTIATE_TEST_SUITE_P(
    Cases, HostileArguments,
    testing::Values(Case{"int_where_a_tensor_is", "not of the kind",
                         [](AddTwice& t) {
                           const int number = t.m.integer(1);
                           t.m.call("test::add", "out", {number, t.x, t.y});
                         }},
                    Case{"none_where_a_tensor_is", "not of the kind",
                         [](AddTwice& t) {
                           const int none = t.m.none();
                           t.m.call("test::add", "out", {none, t.x, t.y});
                         }},
                    Case{"too_few_arguments", "too few",
                         [](AddTwice& t) {
                           t.m.call("test::add", "out", {t.x, t.x});
                         }},
                    Case{"no_arguments", "too few",
                         [](AddTwice& t) { t.m.call("test::add", "out", {}); }},
                    Case{"a_constant_is_written", "write a constant",
                         [](AddTwice& t) {
                           t.m.call("test::add", "out", {t.x, t.x, t.weight});
                         }},
                    Case{"a_constant_is_written_through_a_view", "write a constant",
                         [](AddTwice& t) {
                           const int view = t.m.tensor({.sizes = {{2}}});
                           t.m.call("test::view", "", {t.weight, two(t.m), view});
                           t.m.call("test::add", "out", {t.x, t.x, view});
                         }},
                    Case{"a_constant_is_written_through_a_move", "write a constant",
                         [](AddTwice& t) {
                           t.m.move(t.weight, t.t);
                           t.m.call("test::add", "out", {t.x, t.x, t.t});
                         }},
                    Case{"a_constant_is_written_through_a_view_made_later", "write a constant",
                         [](AddTwice& t) {
                           const int view = t.m.tensor({.sizes = {{2}}});
                           t.m.call("test::add", "out", {t.x, t.x, view});
                           t.m.call("test::view", "", {t.weight, two(t.m), view});
                         }},
                    Case{"none_in_a_tensor_list", "not of the kind",
                         [](AddTwice& t) {
                           const int list = t.m.tensor_list({t.x, -1}, true);
                           t.m.call("test::sum_list", "", {list, t.y});
                         }},
                    Case{"an_input_becomes_a_view", "rebind an input",
                         [](AddTwice& t) {
                           t.m.call("test::view", "", {t.y, two(t.m), t.x});
                         }},
                    Case{"a_moved_value_becomes_a_view", "rebind an input or a moved",
                         [](AddTwice& t) {
                           const int view = t.m.tensor({.sizes = {{2}}});
                           t.m.move(t.y, view);
                           t.m.call("test::view", "", {t.y, two(t.m), view});
                         }},
                    Case{"a_planned_tensor_becomes_a_view", "memory of its own",
                         [](AddTwice& t) {
                           t.m.call("test::view", "", {t.t, two(t.m), t.y});
                         }},
                    Case{"a_constant_becomes_a_view", "memory of its own",
                         [](AddTwice& t) {
                           t.m.call("test::view", "", {t.t, two(t.m), t.weight});
                         }},
                    Case{"a_view_of_another_dtype", "another dtype",
                         [](AddTwice& t) {
                           const int view = t.m.tensor({.scalar_type = 4, .sizes = {{2}}});
                           t.m.call("test::view", "", {t.t, two(t.m), view});
                         }},
                    Case{"a_result_that_overlaps_an_argument", "overlaps",
                         [](AddTwice& t) {
                           const int out =
                               t.m.tensor({.sizes = {{2}}, .memory_id = 1, .offset = 4});
                           t.m.call("test::add", "out", {t.x, t.y, out, out});
                         }},
                    Case{"a_result_that_overlaps_an_item_of_a_list", "overlaps",
                         [](AddTwice& t) {
                           const int wide = t.m.tensor({.sizes = {{2}}, .memory_id = 1});
                           const int out = t.m.tensor({.memory_id = 1, .offset = 4});
                           t.m.call("test::sum_list", "", {t.m.tensor_list({t.x, wide}), out});
                         }},
                    Case{"a_view_of_dynamic_shape_is_written", "view of dynamic shape",
                         [](AddTwice& t) {
                           const int view = t.m.tensor({.sizes = {{100}}, .dynamism = 1});
                           t.m.call("test::view", "", {t.t, two(t.m), view});
                           t.m.call("test::add", "out", {t.x, t.x, view});
                         }}),
    [](const auto& info) { return info.param.name; });

TEST(Method, EveryKindOfArgumentIsPassed) {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  const int number = m.integer(1);
  const int tensor = m.tensor({.sizes = {{1}}, .memory_id = 1});
  m.buffer_sizes = {0, 4};
  m.call("test::kinds", "",
         {tensor, m.boolean(true), number, number, number, m.string("s"), m.int_list({number}),
          m.real_list({1.5}), m.bool_list({1, 0}), m.tensor_list({tensor}),
          m.tensor_list({tensor, -1}, true), m.none()});
  LoadedMethod loaded(builder);
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().message();
  EXPECT_TRUE(loaded->execute().ok());
}

}  // namespace
}  // namespace taper
