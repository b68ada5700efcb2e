// What the caller keeps in memory of its own: taper_bind_input() and taper_bind_output() of a
// program that leaves inputs and outputs to it, and the weights of a .ptd. What the file keeps is
// read by taper_named_data().

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "taper/c_tables.h"
#include "taper/taper.h"
#include "test/support/c_api_values.h"
#include "test/support/program_builder.h"
#include "test/support/test_kernels.h"

namespace taper::test {
namespace {

// forward(x) = (x + x, x, y), where x may have up to 4 rows; only y = x + x is planned.
Bytes program() {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  const int x = m.tensor({.sizes = {{4}}, .dynamism = 1});
  const int twice = m.tensor({.sizes = {{4}}, .dynamism = 1});
  const int planned = m.tensor({.sizes = {{4}}, .dynamism = 1, .memory_id = 1});
  m.call("test::add", "out", {x, x, twice});
  m.call("test::add", "out", {x, x, planned});
  m.buffer_sizes = {0, 16};
  m.inputs = {x};
  m.outputs = {twice, x, planned};
  return builder.finish();
}

class CBuffers : public testing::Test {
 protected:
  void SetUp() override {
    static const taper_kernels kernels = {test_kernels()};
    taper_options options = {};
    options.struct_size = sizeof(options);
    options.kernels = &kernels;
    ASSERT_EQ(taper_open_memory(file_.data(), file_.size(), &options, &model_, &error_), TAPER_OK)
        << error_.message;
  }
  void TearDown() override { taper_close(model_); }

  taper_code bind_input(const std::vector<float>& data) {
    const taper_value value = value_of(data);
    return taper_bind_input(model_, "forward", 0, &value, &error_);
  }
  taper_code bind_output(size_t index, void* data, size_t bytes) {
    return taper_bind_output(model_, "forward", index, data, bytes, &error_);
  }
  void run() { ASSERT_EQ(taper_run(model_, "forward", &error_), TAPER_OK) << error_.message; }
  taper_value output(size_t index) {
    taper_value value = {};
    EXPECT_EQ(taper_get_output(model_, "forward", index, &value, &error_), TAPER_OK)
        << error_.message;
    return value;
  }
  static std::vector<float> floats(const taper_value& value) {
    const auto* const data = static_cast<const float*>(value.data);
    return {data, data + value.bytes / sizeof(float)};
  }
  void expect_said(taper_code code, taper_code wanted, const std::string& part) {
    EXPECT_EQ(code, wanted);
    EXPECT_NE(std::string(error_.message).find(part), std::string::npos) << error_.message;
  }

  const Bytes file_ = program();
  taper_model model_ = 0;
  taper_error error_ = {};
};

TEST_F(CBuffers, AreReadAndWrittenInPlace) {
  std::vector<float> in = {1, 2}, out(4);
  ASSERT_EQ(bind_input(in), TAPER_OK) << error_.message;
  run();
  EXPECT_EQ(floats(output(0)), (std::vector<float>{2, 4}));  // In memory of the model.
  ASSERT_EQ(bind_output(0, out.data(), 16), TAPER_OK) << error_.message;
  taper_value none;
  expect_said(taper_get_output(model_, "forward", 0, &none, &error_), TAPER_INVALID_STATE,
              "before a run");
  in = {5, 6};  // Read by the next run.
  run();
  EXPECT_EQ(out, (std::vector<float>{10, 12, 0, 0}));
  EXPECT_EQ(output(0).data, out.data());
  EXPECT_EQ(output(1).data, in.data());
  EXPECT_EQ(floats(output(2)), (std::vector<float>{10, 12}));
}

TEST_F(CBuffers, AreTheModelsAgainWithANullPointer) {
  std::vector<float> in = {1, 2}, out(4);
  ASSERT_EQ(bind_input(in), TAPER_OK);
  ASSERT_EQ(bind_output(0, out.data(), 16), TAPER_OK);
  run();
  ASSERT_EQ(bind_output(0, nullptr, 0), TAPER_OK) << error_.message;
  in = {7, 8};
  run();
  EXPECT_EQ(out[0], 2);
  EXPECT_EQ(floats(output(0)), (std::vector<float>{14, 16}));
}

TEST_F(CBuffers, AreRefusedWhereTheyDoNotFit) {
  std::vector<float> out(4);
  expect_said(bind_output(2, out.data(), 16), TAPER_INVALID_STATE, "planned by the program");
  expect_said(bind_output(1, out.data(), 16), TAPER_INVALID_STATE, "planned by the program");
  expect_said(bind_output(3, out.data(), 16), TAPER_INVALID_ARGUMENT,
              "there are 3 outputs, no number 3");
  expect_said(bind_output(0, out.data(), 12), TAPER_INVALID_ARGUMENT, "too small");
  expect_said(bind_output(0, reinterpret_cast<char*>(out.data()) + 1, 16), TAPER_INVALID_ARGUMENT,
              "not aligned");
  expect_said(bind_input({1, 2, 3, 4, 5}), TAPER_INVALID_ARGUMENT,
              "expected float32 (4) at most, given float32 (5)");
  EXPECT_EQ(taper_bind_input(model_, "forward", 0, nullptr, &error_), TAPER_INVALID_ARGUMENT);
  EXPECT_EQ(taper_bind_input(0, "forward", 0, nullptr, nullptr), TAPER_INVALID_ARGUMENT);
  EXPECT_EQ(taper_bind_output(0, "forward", 0, out.data(), 16, nullptr), TAPER_INVALID_ARGUMENT);
}

TEST(CFiles, WeightsAndNamedDataAreInMemory) {
  ProgramBuilder builder;
  builder.named_data = {{"notes", builder.segment({10, 20, 30})}};
  MethodSpec& m = builder.method("forward");
  m.outputs = {m.tensor({.sizes = {{2}}, .name = "weight", .location = 1})};
  PtdBuilder ptd;
  ptd.tensor("weight", {2}, {3, 4});
  const Bytes program = builder.finish(), weights = ptd.finish();
  taper_options options = {};
  options.struct_size = sizeof(options);
  options.data = weights.data();
  options.data_size = weights.size();
  taper_model model = 0;
  taper_error error;
  ASSERT_EQ(taper_open_memory(program.data(), program.size(), &options, &model, &error), TAPER_OK)
      << error.message;
  ASSERT_EQ(taper_run(model, "forward", &error), TAPER_OK) << error.message;
  taper_value value;
  ASSERT_EQ(taper_get_output(model, "forward", 0, &value, &error), TAPER_OK);
  EXPECT_EQ(static_cast<const float*>(value.data)[1], 4);

  const void* data = nullptr;
  size_t size = 0;
  ASSERT_EQ(taper_named_data(model, "notes", &data, &size, &error), TAPER_OK);
  ASSERT_EQ(size, 3u);
  EXPECT_EQ(static_cast<const uint8_t*>(data)[2], 30);
  EXPECT_EQ(taper_named_data(model, "none", &data, &size, &error), TAPER_NOT_FOUND);
  EXPECT_EQ(data, nullptr);
  EXPECT_NE(std::string(error.message).find("none"), std::string::npos);
  EXPECT_EQ(taper_named_data(model, nullptr, &data, &size, &error), TAPER_INVALID_ARGUMENT);
  EXPECT_EQ(taper_named_data(model, "notes", nullptr, &size, &error), TAPER_INVALID_ARGUMENT);
  EXPECT_EQ(taper_close(model), TAPER_OK);

  options.data_size = 20;
  const taper_code code =
      taper_open_memory(program.data(), program.size(), &options, &model, &error);
  EXPECT_STREQ(taper_code_name(code), "InvalidExternalData");
  options.data = weights.data() + 1;
  EXPECT_EQ(taper_open_memory(program.data(), program.size(), &options, &model, &error),
            TAPER_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace taper::test
