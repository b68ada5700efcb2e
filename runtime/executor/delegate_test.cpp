// Delegates: found, initialised, run and destroyed.

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "test/support/loaded_method.h"
#include "test/support/payload_backend.h"

namespace taper {
namespace {

using test::Bytes;
using test::floats;
using test::FloatTensor;
using test::LoadedMethod;
using test::MethodSpec;
using test::PayloadBackend;
using test::ProgramBuilder;
using Floats = std::vector<float>;

Bytes payload(const char* text) { return Bytes(text, text + std::strlen(text)); }

// y = (a + b) * b, run by the test backend.
struct Model {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  int a, b, t, y;

  explicit Model(const char* program, bool in_segment) {
    a = m.tensor({.sizes = {{2}}});
    b = m.tensor({.sizes = {{2}}});
    t = m.tensor({.sizes = {{2}}, .memory_id = 1});
    y = m.tensor({.sizes = {{2}}, .memory_id = 1, .offset = 8});
    m.buffer_sizes = {0, 16};
    m.inputs = {a, b};
    m.outputs = {y};
    m.delegates.push_back({.id = "PayloadBackend", .specs = {{"mode", payload("fast")}}});
    if (in_segment) {
      m.delegates[0].location = 1;
      m.delegates[0].index = builder.segment(payload(program));
    } else {
      builder.inline_data = {payload(program)};
    }
    m.delegate(0, {a, b, t, y});
  }
};

constexpr char kProgram[] = "add 0 1 2\nmul 2 1 3\n";

MethodOptions options_with(const Backend& backend) {
  MethodOptions options{test::test_tables()};
  options.backends = {&backend, 1};
  return options;
}

class Delegates : public testing::TestWithParam<bool> {};

TEST_P(Delegates, RunTheirPayload) {
  PayloadBackend backend;
  const Backend entry = payload_backend(backend);
  {
    LoadedMethod loaded(Model(kProgram, GetParam()).builder, options_with(entry));
    ASSERT_TRUE(loaded.status().ok()) << loaded.status().message();
    EXPECT_EQ(backend.live_handles, 1);
    EXPECT_EQ(backend.seen_method, "forward");
    EXPECT_EQ(backend.seen_specs, (std::vector<std::string>{"mode=fast"}));
    FloatTensor a({2}, {1, 2}), b({2}, {3, 4});
    ASSERT_TRUE(loaded->set_input(0, a.value()).ok());
    ASSERT_TRUE(loaded->set_input(1, b.value()).ok());
    ASSERT_TRUE(loaded->execute().ok());
    EXPECT_EQ(floats(loaded.method()), (Floats{12, 24}));
  }
  EXPECT_EQ(backend.live_handles, 0);
}

INSTANTIATE_TEST_SUITE_P(Payloads, Delegates, testing::Values(false, true),
                         [](const auto& info) { return info.param ? "in_segment" : "in_line"; });

TEST(DelegateErrors, EveryMissingBackendIsReported) {
  Model model(kProgram, true);
  model.m.delegates.push_back({.id = "OtherBackend", .location = 1});
  LoadedMethod loaded(model.builder);
  EXPECT_EQ(loaded.status().error(), Error::kNotFound);
  EXPECT_EQ(loaded.subjects(), (std::vector<std::string>{"PayloadBackend", "OtherBackend"}));
}

TEST(DelegateErrors, ABackendThatCannotRunHereIsNamed) {
  PayloadBackend backend;
  backend.available = false;
  const Backend entry = payload_backend(backend);
  LoadedMethod loaded(Model(kProgram, true).builder, options_with(entry));
  EXPECT_EQ(loaded.status().error(), Error::kNotSupported);
}

TEST(DelegateErrors, ABadPayloadIsRefusedAndEarlierHandlesAreDestroyed) {
  PayloadBackend backend;
  const Backend entry = payload_backend(backend);
  Model model(kProgram, true);
  model.m.delegates.push_back({.id = "PayloadBackend",
                               .location = 1,
                               .index = model.builder.segment(payload("divide 1 2 3"))});
  LoadedMethod loaded(model.builder, options_with(entry));
  EXPECT_EQ(loaded.status().error(), Error::kDelegateInvalidCompatibility);
  EXPECT_EQ(backend.live_handles, 0);
}

TEST(DelegateErrors, AnUnboundArgumentIsAnError) {
  PayloadBackend backend;
  const Backend entry = payload_backend(backend);
  Model model(kProgram, true);
  model.m.values[static_cast<size_t>(model.t)].tensor.memory_id.reset();
  LoadedMethod loaded(model.builder, options_with(entry));
  ASSERT_TRUE(loaded.status().ok());
  FloatTensor a({2}, {1, 2}), b({2}, {3, 4});
  ASSERT_TRUE(loaded->set_input(0, a.value()).ok());
  ASSERT_TRUE(loaded->set_input(1, b.value()).ok());
  EXPECT_EQ(loaded->execute().error(), Error::kInvalidProgram);
  EXPECT_EQ(loaded->last_failure().op.name, "PayloadBackend");
}

TEST(DelegateErrors, AConstantIsMarkedAsSuch) {
  PayloadBackend backend;
  const Backend entry = payload_backend(backend);
  Model model(kProgram, true);
  auto& y = model.m.values[static_cast<size_t>(model.y)].tensor;
  y.memory_id.reset();
  y.data_buffer_idx = model.builder.constant(test::bytes_of(Floats{0, 0}));
  LoadedMethod loaded(model.builder, options_with(entry));
  ASSERT_TRUE(loaded.status().ok());
  FloatTensor a({2}, {1, 2}), b({2}, {3, 4});
  ASSERT_TRUE(loaded->set_input(0, a.value()).ok());
  ASSERT_TRUE(loaded->set_input(1, b.value()).ok());
  EXPECT_EQ(loaded->execute().error(), Error::kInvalidArgument);
}

}  // namespace
}  // namespace taper
