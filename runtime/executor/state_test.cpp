// Mutable buffers, and weights outside the program.

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "taper/external_data.h"
#include "test/support/loaded_method.h"

namespace taper {
namespace {

using test::Bytes;
using test::floats;
using test::LoadedMethod;
using test::MethodSpec;
using test::ProgramBuilder;
using test::PtdBuilder;
using Floats = std::vector<float>;

// state += step, where `state` is saved as {1, 2} and `step` is constant {10, 20}.
struct Counter {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  int state, step;

  Counter() {
    const uint32_t odd = builder.mutable_data({7});  // So that the saved bytes are not aligned.
    const uint32_t saved = builder.mutable_data(test::bytes_of(Floats{1, 2}));
    const uint32_t constant = builder.constant(test::bytes_of(Floats{10, 20}));
    state = m.tensor({.sizes = {{2}}, .data_buffer_idx = saved, .memory_id = 1, .name = "count"});
    step = m.tensor({.sizes = {{2}}, .data_buffer_idx = constant, .name = "step"});
    m.tensor(
        {.scalar_type = 0, .sizes = {{1}}, .data_buffer_idx = odd, .memory_id = 1, .offset = 8});
    m.buffer_sizes = {0, 9};
    m.outputs = {state};
    m.call("test::add", "out", {state, step, state, state});
  }
};

TEST(State, StartsFromItsSavedValuesAndLivesOn) {
  Counter model;
  LoadedMethod loaded(model.builder);
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().message();
  EXPECT_EQ(floats(loaded.method()), (Floats{1, 2}));
  ASSERT_TRUE(loaded->execute().ok());
  ASSERT_TRUE(loaded->execute().ok());
  EXPECT_EQ(floats(loaded.method()), (Floats{21, 42}));
}

TEST(State, CanBeReset) {
  Counter model;
  LoadedMethod loaded(model.builder);
  ASSERT_TRUE(loaded->execute().ok());
  ASSERT_TRUE(loaded->reset_state().ok());
  EXPECT_EQ(floats(loaded.method()), (Floats{1, 2}));
  EXPECT_EQ(loaded->meta().num_attributes(), 2u);
  EXPECT_EQ(loaded->meta().attribute_tensor_meta(0)->name(), "count");
}

TEST(State, CanBeSavedAndRestored) {
  Counter model;
  LoadedMethod first(model.builder);
  ASSERT_TRUE(first->execute().ok());
  EXPECT_FALSE(first->has_state_in_delegates());
  const auto* const at = (*first->attribute(0))->const_data_ptr<float>();
  const Floats saved(at, at + 2);
  EXPECT_EQ(saved, (Floats{11, 22}));
  EXPECT_EQ((*first->attribute(1))->scalar_type(), ScalarType::kByte);
  EXPECT_EQ(first->attribute(2).error(), Error::kInvalidArgument);

  LoadedMethod second(model.builder);
  std::memcpy((*second->attribute(0))->mutable_data(), saved.data(), 8);
  ASSERT_TRUE(second->execute().ok());
  EXPECT_EQ(floats(second.method()), (Floats{21, 42}));
}

// As ExecuTorch writes buffers without saved values, if it is asked for names.
TEST(State, OfNamedBuffersWithoutSavedValuesIsKnown) {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  m.tensor({.sizes = {{2}}, .memory_id = 1});
  m.tensor({.sizes = {{2}}, .memory_id = 1, .offset = 8, .name = "cache"});
  m.buffer_sizes = {0, 16};
  LoadedMethod loaded(builder);
  ASSERT_TRUE(loaded.status().ok()) << loaded.status().message();
  ASSERT_EQ(loaded->meta().num_attributes(), 1u);
  EXPECT_EQ(loaded->meta().attribute_tensor_meta(0)->name(), "cache");
  EXPECT_NE((*loaded->attribute(0))->const_data(), nullptr);
}

// The same, with both tensors in a .ptd.
struct External {
  Counter model;
  PtdBuilder ptd;

  External() {
    for (int slot : {model.state, model.step}) {
      test::TensorSpec& tensor = model.m.values[static_cast<size_t>(slot)].tensor;
      tensor.location = 1;
      tensor.data_buffer_idx = 0;
    }
    ptd.tensor("step", {2}, {100, 200});
    ptd.tensor("count", {2}, {5, 6});
  }

  // Loads with the .ptd, runs once, and returns the first output.
  Status run(Floats* output, std::vector<std::string>* subjects = nullptr) {
    const Bytes file = ptd.finish();
    BufferDataLoader loader(file.data(), file.size());
    Result<ExternalData> data = ExternalData::open(loader);
    if (!data.ok()) return data.status();
    MethodOptions options{test::test_tables()};
    options.external_data = &*data;
    LoadedMethod loaded(model.builder, options);
    if (subjects != nullptr) *subjects = loaded.subjects();
    if (!loaded.status().ok()) return loaded.status();
    const Status status = loaded->execute();
    *output = floats(loaded.method());
    return status;
  }
};

TEST(ExternalWeights, AreBoundByName) {
  External external;
  Floats output;
  ASSERT_TRUE(external.run(&output).ok());
  EXPECT_EQ(output, (Floats{105, 206}));
}

TEST(ExternalWeights, EveryMissingKeyIsReported) {
  External external;
  external.ptd = PtdBuilder();
  external.ptd.tensor("other", {2}, {1, 2});
  Floats output;
  std::vector<std::string> subjects;
  EXPECT_EQ(external.run(&output, &subjects).error(), Error::kNotFound);
  EXPECT_EQ(subjects, (std::vector<std::string>{"count", "step"}));
}

TEST(ExternalWeights, WithoutAFileAreNotFound) {
  External external;
  EXPECT_EQ(LoadedMethod(external.model.builder).status().error(), Error::kNotFound);
}

TEST(ExternalWeights, AnotherLayoutIsRefused) {
  const auto error_of = [](auto spoil) {
    External external;
    spoil(external.ptd.tensors[0]);
    Floats output;
    return external.run(&output).error();
  };
  EXPECT_EQ(error_of([](auto& t) { t.scalar_type = 3; }), Error::kInvalidExternalData);
  EXPECT_EQ(error_of([](auto& t) { t.sizes = {{1}}; }), Error::kInvalidExternalData);
  EXPECT_EQ(error_of([](auto& t) {
              t.sizes = {{1, 2}};
              t.dim_order = {{0, 1}};
            }),
            Error::kInvalidExternalData);
  EXPECT_EQ(error_of([](auto& t) { t.has_layout = false; }), Error::kInvalidExternalData);
}

}  // namespace
}  // namespace taper
