// taper/taper.h: what it returns and refuses, and that nothing that a caller does crashes it.

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "taper/c_tables.h"
#include "taper/etdump.h"
#include "taper/taper.h"
#include "test/support/c_api_values.h"
#include "test/support/guarded_program.h"
#include "test/support/heap_counter.h"
#include "test/support/payload_backend.h"
#include "test/support/program_builder.h"
#include "test/support/scratch_folder.h"
#include "test/support/test_kernels.h"

namespace taper::test {
namespace {

// forward(x, 3, y) = (x + y, 7, x + y); grow(x) = x + x of up to 4 rows; same(n, b, d) = (n, b, d).
Bytes two_methods() {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  const int x = m.tensor({.sizes = {{2}}});
  const int three = m.integer(3);
  const int y = m.tensor({.sizes = {{2}}, .memory_id = 1});
  const int sum = m.tensor({.sizes = {{2}}, .memory_id = 1, .offset = 16});
  const int seven = m.integer(7);
  m.call("test::add", "out", {x, y, sum});
  m.buffer_sizes = {0, 24};
  m.inputs = {x, three, y};
  m.outputs = {sum, seven, sum};
  MethodSpec& grow = builder.method("grow");
  const int rows = grow.tensor({.sizes = {{4}}, .dynamism = 1, .memory_id = 1});
  const int twice = grow.tensor({.sizes = {{4}}, .dynamism = 1, .memory_id = 1, .offset = 16});
  grow.call("test::add", "out", {rows, rows, twice});
  grow.buffer_sizes = {0, 32};
  grow.inputs = {rows};
  grow.outputs = {twice};
  MethodSpec& same = builder.method("same");
  same.inputs = {same.integer(5), same.boolean(true), same.real(0.5)};
  same.outputs = same.inputs;
  return builder.finish();
}

const taper_kernels* kernels() {
  static const taper_kernels table = {test_kernels()};
  return &table;
}

class CApi : public testing::Test {
 protected:
  void SetUp() override {
    options_.struct_size = sizeof(options_);
    options_.kernels = kernels();
    ASSERT_EQ(taper_open_memory(file_.data(), file_.size(), &options_, &model_, &error_), TAPER_OK)
        << error_.message;
  }
  void TearDown() override { taper_close(model_); }

  void set(const char* method, size_t index, const std::vector<float>& data) {
    const taper_value value = value_of(data);
    EXPECT_EQ(taper_set_input(model_, method, index, &value, &error_), TAPER_OK) << error_.message;
  }
  std::vector<float> output(const char* method, size_t index) {
    taper_value value;
    EXPECT_EQ(taper_get_output(model_, method, index, &value, &error_), TAPER_OK) << error_.message;
    const float* data = static_cast<const float*>(value.data);
    return {data, data + value.bytes / sizeof(float)};
  }
  // Expects that the last call failed with this code, message and site.
  void expect_said(taper_code code, taper_code wanted, const std::string& part,
                   const std::string& site) {
    EXPECT_EQ(code, wanted);
    EXPECT_EQ(error_.code, wanted);
    EXPECT_NE(std::string(error_.message).find(part), std::string::npos) << error_.message;
    EXPECT_EQ(error_.site, site);
  }

  Bytes file_ = two_methods();
  taper_options options_ = {};
  taper_model model_ = 0;
  taper_error error_ = {};
};

TEST_F(CApi, ABrokenConditionIsAnErrorAndAGoodCallFollows) {
  const Bytes file = guarded_program();
  taper_close(model_);
  ASSERT_EQ(taper_open_memory(file.data(), file.size(), &options_, &model_, &error_), TAPER_OK);
  set("forward", 0, {1, 2, 3});
  expect_said(taper_run(model_, "forward", &error_), TAPER_INVALID_ARGUMENT,
              "the condition does not hold: fewer than 3 rows", "taper_run forward");
  set("forward", 0, {1, 2});
  ASSERT_EQ(taper_run(model_, "forward", &error_), TAPER_OK) << error_.message;
  EXPECT_EQ(output("forward", 0), (std::vector<float>{2, 4}));
}

TEST_F(CApi, RunsAndDescribes) {
  size_t count = 0;
  ASSERT_EQ(taper_method_count(model_, &count, nullptr), TAPER_OK);
  EXPECT_EQ(count, 3u);
  const char* name = nullptr;
  ASSERT_EQ(taper_method_name(model_, 1, &name, nullptr), TAPER_OK);
  EXPECT_STREQ(name, "grow");
  taper_method_info method;
  ASSERT_EQ(taper_describe_method(model_, "forward", &method, nullptr), TAPER_OK);
  EXPECT_EQ(method.inputs, 3u);
  EXPECT_EQ(method.outputs, 3u);
  EXPECT_GE(method.planned_bytes, 24u);
  taper_value_info info;
  ASSERT_EQ(taper_describe_input(model_, "grow", 0, &info, nullptr), TAPER_OK);
  EXPECT_EQ(info.kind, TAPER_TENSOR);
  EXPECT_EQ(info.dtype, TAPER_FLOAT32);
  EXPECT_EQ(info.rank, 1);
  EXPECT_EQ(info.sizes[0], 4);
  EXPECT_EQ(info.bytes, 16u);
  EXPECT_NE(info.dynamic, 0);
  set("forward", 0, {1, 2});
  set("forward", 2, {10, 20});
  for (int run = 0; run < 2; ++run) {  // Inputs stay set.
    ASSERT_EQ(taper_run(model_, "forward", &error_), TAPER_OK) << error_.message;
    EXPECT_EQ(output("forward", 0), (std::vector<float>{11, 22}));
  }
  taper_value seven;
  ASSERT_EQ(taper_get_output(model_, "forward", 1, &seven, nullptr), TAPER_OK);
  EXPECT_EQ(seven.kind, TAPER_INT);
  EXPECT_EQ(seven.integer, 7);
  set("grow", 0, {1, 2, 3});
  ASSERT_EQ(taper_run(model_, "grow", &error_), TAPER_OK) << error_.message;
  EXPECT_EQ(output("grow", 0), (std::vector<float>{2, 4, 6}));
  EXPECT_EQ(taper_reset_state(model_, nullptr), TAPER_OK);
}

TEST_F(CApi, ARunAfterTheFirstTakesNothingFromTheHeap) {
  set("forward", 0, {1, 2});
  set("forward", 2, {3, 4});
  ASSERT_EQ(taper_run(model_, "forward", &error_), TAPER_OK) << error_.message;
  const uint64_t before = heap_calls();
  const taper_code ran = taper_run(model_, "forward", &error_);
  taper_value sum;
  const taper_code got = taper_get_output(model_, "forward", 0, &sum, &error_);
  EXPECT_EQ(heap_calls(), before);
  EXPECT_EQ(ran, TAPER_OK);
  EXPECT_EQ(got, TAPER_OK);
}

TEST_F(CApi, KnowsItself) {
  EXPECT_EQ(taper_version(), static_cast<uint32_t>(TAPER_VERSION));
  EXPECT_STREQ(taper_version_text(), "0.1.0");
  EXPECT_STREQ(taper_code_name(TAPER_INVALID_STATE), "InvalidState");
  EXPECT_STREQ(taper_code_name(12345), "Unknown");
  EXPECT_STREQ(taper_dtype_name(TAPER_FLOAT32), "float32");
  EXPECT_STREQ(taper_dtype_name(-1), "unknown");
  EXPECT_STREQ(taper_dtype_name(300), "unknown");
  EXPECT_EQ(taper_dtype_size(TAPER_INT64), 8u);
  EXPECT_EQ(taper_dtype_size(99), 0u);
}

TEST_F(CApi, CallsOutOfOrderAreErrors) {
  taper_value value;
  expect_said(taper_get_output(model_, "forward", 0, &value, &error_), TAPER_INVALID_STATE,
              "before a run that succeeded", "taper_get_output forward");
  set("forward", 0, {1, 2});
  expect_said(taper_run(model_, "forward", &error_), TAPER_INVALID_STATE, "input 2 was never set",
              "taper_run forward");
  set("forward", 2, {1, 2});
  ASSERT_EQ(taper_run(model_, "forward", &error_), TAPER_OK);
  set("forward", 2, {1, 2});
  expect_said(taper_get_output(model_, "forward", 0, &value, &error_), TAPER_INVALID_STATE,
              "before a run", "taper_get_output forward");
  ASSERT_EQ(taper_close(model_), TAPER_OK);
  EXPECT_EQ(taper_close(model_), TAPER_INVALID_ARGUMENT);
  expect_said(taper_run(model_, "forward", &error_), TAPER_INVALID_ARGUMENT,
              "the handle is not that of an open model", "taper_run");
}

TEST_F(CApi, NumbersThatVaryKeepTheirSampleUntilTheyAreSet) {
  const auto run = [&] {
    EXPECT_EQ(taper_run(model_, "same", &error_), TAPER_OK) << error_.message;
    std::vector<double> results;
    for (size_t i = 0; i < 3; ++i) {
      taper_value value;
      EXPECT_EQ(taper_get_output(model_, "same", i, &value, &error_), TAPER_OK);
      results.push_back(value.kind == TAPER_DOUBLE ? value.number
                                                   : static_cast<double>(value.integer));
    }
    return results;
  };
  EXPECT_EQ(run(), (std::vector<double>{5, 1, 0.5}));
  taper_value value = {};
  value.kind = TAPER_INT;
  value.integer = -2;
  EXPECT_EQ(taper_set_input(model_, "same", 0, &value, &error_), TAPER_OK) << error_.message;
  EXPECT_EQ(run(), (std::vector<double>{-2, 1, 0.5}));
  expect_said(taper_set_input(model_, "same", 2, &value, &error_), TAPER_INVALID_TYPE,
              "input 2 is of the kind", "taper_set_input same");
  value.kind = TAPER_BOOL;
  value.integer = 0;
  EXPECT_EQ(taper_set_input(model_, "same", 1, &value, &error_), TAPER_OK) << error_.message;
  value.kind = TAPER_DOUBLE;
  value.number = 8.25;
  EXPECT_EQ(taper_bind_input(model_, "same", 2, &value, &error_), TAPER_OK) << error_.message;
  EXPECT_EQ(run(), (std::vector<double>{-2, 0, 8.25}));
}

TEST_F(CApi, WrongValuesSayWhatWasExpected) {
  const std::vector<float> data(5);
  taper_value value = value_of(data);
  expect_said(taper_set_input(model_, "grow", 0, &value, &error_), TAPER_INVALID_ARGUMENT,
              "input 0: expected float32 (4) at most, given float32 (5)", "taper_set_input grow");
  value.sizes[0] = 2;
  expect_said(taper_set_input(model_, "forward", 0, &value, &error_), TAPER_INVALID_ARGUMENT,
              "float32 (2) at these sizes takes 8 bytes, given 20", "taper_set_input forward");
  value.bytes = 8;
  value.dtype = TAPER_INT64;
  expect_said(taper_set_input(model_, "forward", 0, &value, &error_), TAPER_INVALID_TYPE,
              "expected float32 (2), given int64 (2)", "taper_set_input forward");
  value.rank = 17;
  EXPECT_EQ(taper_set_input(model_, "forward", 0, &value, &error_), TAPER_INVALID_ARGUMENT);
  expect_said(taper_set_input(model_, "forward", 1, &value, &error_), TAPER_INVALID_TYPE,
              "export has fixed its value", "taper_set_input forward");
  expect_said(taper_set_input(model_, "forward", 3, &value, &error_), TAPER_INVALID_ARGUMENT,
              "there are 3 inputs, no number 3", "taper_set_input forward");
  expect_said(taper_run(model_, "backward", &error_), TAPER_NOT_FOUND,
              "there are: forward, grow, same", "taper_run backward");
}

TEST_F(CApi, OpeningCanFail) {
  taper_model model = 5;
  expect_said(taper_open_path("/no/such/file.pte", nullptr, &model, &error_), TAPER_NOT_FOUND,
              "/no/such/file.pte", "taper_open_path");
  EXPECT_EQ(model, 0u);
  EXPECT_EQ(taper_open_path(nullptr, nullptr, &model, nullptr), TAPER_INVALID_ARGUMENT);
  EXPECT_EQ(taper_open_memory(nullptr, 4, nullptr, &model, nullptr), TAPER_INVALID_ARGUMENT);
  EXPECT_EQ(taper_open_memory(file_.data(), 4, nullptr, &model, &error_), TAPER_INVALID_PROGRAM);
  EXPECT_EQ(taper_open_memory(file_.data() + 1, 100, nullptr, &model, &error_),
            TAPER_INVALID_ARGUMENT);
  options_.struct_size = 3;
  EXPECT_EQ(taper_open_memory(file_.data(), file_.size(), &options_, &model, &error_),
            TAPER_INVALID_ARGUMENT);
  ASSERT_EQ(taper_open_memory(file_.data(), file_.size(), nullptr, &model, &error_), TAPER_OK);
  expect_said(taper_load_method(model, "forward", &error_), TAPER_OPERATOR_MISSING, "test::add.out",
              "taper_load_method forward");
  EXPECT_EQ(taper_close(model), TAPER_OK);
}

TEST_F(CApi, EverythingThatIsWrongWithTheBackendsIsSaidAtOnce) {
  PayloadBackend payload;
  const taper_backend backend = {payload_backend(payload)};
  const taper_backend* const given[] = {&backend, nullptr, &backend, nullptr};
  options_.backends = given;
  options_.backend_count = 4;
  taper_model model = 77;
  EXPECT_EQ(taper_open_memory(file_.data(), file_.size(), &options_, &model, &error_),
            TAPER_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message,
               "backends[1] is a null pointer; the backend PayloadBackend is given twice; "
               "backends[3] is a null pointer");
  EXPECT_EQ(model, 0u);
  options_.backends = nullptr;
  EXPECT_EQ(taper_open_memory(file_.data(), file_.size(), &options_, &model, &error_),
            TAPER_INVALID_ARGUMENT);
  EXPECT_STREQ(error_.message, "backends is a null pointer");
}

// Two delegates: x + y by one backend, twice that by another.
TEST_F(CApi, BackendsAreCombined) {
  ProgramBuilder builder;
  MethodSpec& m = builder.method("forward");
  const int x = m.tensor({.sizes = {{2}}});
  const int once = m.tensor({.sizes = {{2}}, .memory_id = 1});
  const int twice = m.tensor({.sizes = {{2}}, .memory_id = 1, .offset = 16});
  const std::string text = "add 0 0 1";
  const Bytes program(text.begin(), text.end());
  builder.inline_data = {program};
  m.delegates = {{.id = "PayloadBackend"}, {.id = "OtherBackend"}};
  m.delegate(0, {x, once});
  m.delegate(1, {once, twice});
  m.buffer_sizes = {0, 24};
  m.inputs = {x};
  m.outputs = {twice};
  const Bytes file = builder.finish();
  PayloadBackend payload, other;
  const taper_backend first = {payload_backend(payload)}, second = {{"OtherBackend", &other}};
  const taper_backend* const given[] = {&first, &second};
  options_.backends = given;
  options_.backend_count = 1;
  taper_model model = 0;
  ASSERT_EQ(taper_open_memory(file.data(), file.size(), &options_, &model, &error_), TAPER_OK);
  expect_said(taper_load_method(model, "forward", &error_), TAPER_NOT_FOUND, "OtherBackend",
              "taper_load_method forward");
  EXPECT_EQ(taper_close(model), TAPER_OK);
  options_.backend_count = 2;
  ASSERT_EQ(taper_open_memory(file.data(), file.size(), &options_, &model, &error_), TAPER_OK);
  const std::vector<float> data = {1, 2};
  const taper_value in = value_of(data);
  ASSERT_EQ(taper_set_input(model, "forward", 0, &in, &error_), TAPER_OK) << error_.message;
  ASSERT_EQ(taper_run(model, "forward", &error_), TAPER_OK) << error_.message;
  taper_value out;
  ASSERT_EQ(taper_get_output(model, "forward", 0, &out, &error_), TAPER_OK) << error_.message;
  EXPECT_EQ(static_cast<const float*>(out.data)[0], 4);
  EXPECT_EQ(static_cast<const float*>(out.data)[1], 8);
  EXPECT_EQ(taper_close(model), TAPER_OK);
}

// The test kernels add on the pool, element by element.
TEST_F(CApi, ThreadsOfTheApplicationAreUsed) {
  size_t tasks = 0;
  options_.parallel_for = [](void* context, size_t count, taper_task task, void* data) {
    *static_cast<size_t*>(context) += count;
    for (size_t i = count; i-- > 0;) task(data, i);
  };
  options_.parallel_context = &tasks;
  const auto sum_with = [&](uint32_t threads, size_t struct_size) {
    options_.threads = threads;
    options_.struct_size = struct_size;
    taper_close(model_);
    EXPECT_EQ(taper_open_memory(file_.data(), file_.size(), &options_, &model_, &error_), TAPER_OK)
        << error_.message;
    set("forward", 0, {1, 2});
    set("forward", 2, {10, 20});
    EXPECT_EQ(taper_run(model_, "forward", &error_), TAPER_OK) << error_.message;
  };
  sum_with(2, sizeof(options_));
  EXPECT_GT(tasks, 0u);
  tasks = 0;
  sum_with(1, sizeof(options_));
  // A caller that was compiled before the API had threads.
  sum_with(2, offsetof(taper_options, parallel_for));
  EXPECT_EQ(tasks, 0u);
}

TEST_F(CApi, MemoryOfTheApplicationIsUsed) {
  struct Pool {
    alignas(16) unsigned char bytes[4096];
    size_t used, pieces;
  } pool = {};
  options_.take_memory = [](void* context, uint32_t, size_t bytes) -> void* {
    Pool& self = *static_cast<Pool*>(context);
    if (bytes > sizeof(self.bytes) - self.used) return nullptr;
    self.used += (bytes + 15) / 16 * 16;
    ++self.pieces;
    return self.bytes + self.used - (bytes + 15) / 16 * 16;
  };
  options_.give_memory_back = [](void* context, uint32_t, void*, size_t) {
    --static_cast<Pool*>(context)->pieces;
  };
  options_.memory_context = &pool;
  taper_close(model_);
  EXPECT_EQ(taper_open_memory(file_.data(), file_.size(), &options_, &model_, &error_), TAPER_OK);
  set("forward", 0, {1, 2});
  set("forward", 2, {10, 20});
  EXPECT_EQ(taper_run(model_, "forward", &error_), TAPER_OK) << error_.message;
  EXPECT_GT(pool.pieces, 0u);
  EXPECT_EQ(taper_close(model_), TAPER_OK);
  EXPECT_EQ(pool.pieces, 0u);
  pool.used = sizeof(pool.bytes);
  taper_open_memory(file_.data(), file_.size(), &options_, &model_, &error_);
  expect_said(taper_load_method(model_, "forward", &error_), TAPER_OUT_OF_MEMORY,
              "more memory than is available", "taper_load_method forward");
}

TEST_F(CApi, FilesAreUsedThatTheApplicationAccepts) {
  taper_close(model_);
  size_t wanted = file_.size();
  options_.check_context = &wanted;
  options_.check_file = [](void* context, const void*, size_t size, taper_error* error) {
    if (size == *static_cast<size_t*>(context)) return taper_code{TAPER_OK};
    std::strcpy(error->message, "I do not know it");
    return taper_code{TAPER_ACCESS_FAILED};
  };
  EXPECT_EQ(taper_open_memory(file_.data(), file_.size(), &options_, &model_, &error_), TAPER_OK);
  EXPECT_EQ(taper_load_method(model_, "forward", &error_), TAPER_OK);
  taper_close(model_);
  wanted = 0;
  expect_said(taper_open_memory(file_.data(), file_.size(), &options_, &model_, &error_),
              TAPER_ACCESS_FAILED, "I do not know it", "taper_open_memory");
  options_.check_file = [](void*, const void*, size_t, taper_error*) { return taper_code{99}; };
  expect_said(taper_open_memory(file_.data(), file_.size(), &options_, &model_, &error_), 99,
              "the application refuses the file", "taper_open_memory");
}

TEST_F(CApi, AFileThatIsCopiedMayShrink) {
  const ScratchFolder scratch;
  const std::string path = scratch / "model.pte";
  std::FILE* file = std::fopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(std::fwrite(file_.data(), 1, file_.size(), file), file_.size());
  std::fclose(file);
  taper_close(model_);
  options_.copy_files = 1;
  EXPECT_EQ(taper_open_path(path.c_str(), &options_, &model_, &error_), TAPER_OK) << error_.message;
  std::fclose(std::fopen(path.c_str(), "wb"));  // Nothing is left of it.
  set("forward", 0, {1, 2});
  set("forward", 2, {10, 20});
  EXPECT_EQ(taper_run(model_, "forward", &error_), TAPER_OK) << error_.message;
}

TEST_F(CApi, ASecondThreadIsTurnedAway) {
  set("forward", 0, {1, 2});
  set("forward", 2, {1, 2});
  const auto hammer = [this] {
    for (int i = 0; i < 2000; ++i) {
      const taper_code code = taper_run(model_, "forward", nullptr);
      EXPECT_TRUE(code == TAPER_OK || code == TAPER_INVALID_STATE) << code;
    }
  };
  std::thread other(hammer);
  hammer();
  other.join();
  EXPECT_EQ(taper_run(model_, "forward", nullptr), TAPER_OK);
}

// Makes random calls with random arguments, valid and invalid ones.
class Monkey {
 public:
  Monkey(const Bytes& file, uint32_t seed) : file_(file), random_(seed) {}
  ~Monkey() {
    for (const taper_model model : models_) taper_close(model);
  }
  Monkey(const Monkey&) = delete;
  Monkey& operator=(const Monkey&) = delete;

  taper_code act() {
    taper_error* error = odds(3) ? nullptr : &error_;
    const char* const methods[] = {"forward", "grow", "", "nothing", nullptr};
    const char* method = methods[odds(4) ? pick(5) : pick(2)];
    const size_t index = odds(8) ? SIZE_MAX : pick(4);
    switch (pick(14)) {
      case 0:
        return open(error);
      case 1:
        return odds(4) ? taper_close(handle()) : TAPER_OK;
      case 2:
        return taper_method_count(handle(), odds(4) ? nullptr : &size_, error);
      case 3:
        return taper_method_name(handle(), index, odds(4) ? nullptr : &name_, error);
      case 4:
        return taper_load_method(handle(), method, error);
      case 5:
        return taper_describe_method(handle(), method, odds(4) ? nullptr : &method_, error);
      case 6:
        return taper_describe_input(handle(), method, index, odds(4) ? nullptr : &info_, error);
      case 7:
        return taper_describe_output(handle(), method, index, odds(4) ? nullptr : &info_, error);
      case 8:
      case 9:
      case 10:
        return set(method, index, error);
      case 11:
        return taper_run(handle(), method, error);
      case 12:
        return get(method, index, error);
      default:
        return taper_reset_state(handle(), error);
    }
  }

 private:
  size_t pick(size_t count) { return random_() % count; }
  bool odds(size_t one_in) { return pick(one_in) == 0; }

  taper_model handle() {
    if (models_.empty() || odds(10)) return odds(2) ? pick(4) : random_() * uint64_t{4294967291};
    return models_[pick(models_.size())];  // Some of these models are closed.
  }

  taper_code open(taper_error* error) {
    taper_options options = {};
    options.struct_size = odds(8) ? pick(100) : sizeof(options);
    options.kernels = odds(8) ? nullptr : kernels();
    options.max_instructions = odds(8) ? 1 : 0;
    options.max_memory_bytes = odds(8) ? pick(1000) : 0;
    if (odds(16)) options.take_memory = [](void*, uint32_t, size_t) -> void* { return nullptr; };
    taper_model model = 0;
    const size_t size = odds(8) ? pick(file_.size()) : file_.size();
    const taper_code code =
        taper_open_memory(odds(16) ? nullptr : file_.data(), size, odds(8) ? nullptr : &options,
                          odds(16) ? nullptr : &model, error);
    if (model != 0) models_.push_back(model);
    return code;
  }

  taper_code set(const char* method, size_t index, taper_error* error) {
    const std::vector<float> data(pick(6), 1.0f);
    taper_value value = value_of(data);
    if (odds(6)) value.rank = static_cast<int32_t>(random_());
    if (odds(6)) value.sizes[0] = static_cast<int32_t>(random_());
    if (odds(6)) value.bytes = random_();
    if (odds(6)) value.dtype = static_cast<int32_t>(pick(40)) - 4;
    if (odds(6)) value.kind = static_cast<int32_t>(pick(9));
    if (odds(12)) value.data = nullptr;
    // `bytes` must be true wherever the data would be read: at most 20 bytes.
    if (value.bytes > data.size() * sizeof(float) && value.bytes <= 20) value.bytes = 0;
    return taper_set_input(handle(), method, index, odds(16) ? nullptr : &value, error);
  }

  taper_code get(const char* method, size_t index, taper_error* error) {
    taper_value value = {};
    const taper_code code = taper_get_output(handle(), method, index, &value, error);
    for (size_t i = 0; code == TAPER_OK && i < value.bytes; ++i) {
      sum_ += static_cast<const uint8_t*>(value.data)[i];  // The output can be read.
    }
    return code;
  }

  const Bytes& file_;
  std::mt19937 random_;
  std::vector<taper_model> models_;
  taper_error error_ = {};
  taper_method_info method_ = {};
  taper_value_info info_ = {};
  const char* name_ = nullptr;
  size_t size_ = 0;
  uint64_t sum_ = 0;
};

TEST(CApiFuzz, NoSequenceOfCallsCrashes) {
  const Bytes file = two_methods();
  size_t fine = 0, refused = 0;
  for (uint32_t seed = 0; seed < 40; ++seed) {
    Monkey monkey(file, seed);
    for (int i = 0; i < 500; ++i) {
      const taper_code code = monkey.act();
      EXPECT_STRNE(taper_code_name(code), "Unknown") << code;
      (code == TAPER_OK ? fine : refused) += 1;
    }
  }
  EXPECT_GT(fine, 1000u);
  EXPECT_GT(refused, 1000u);
}

struct Heard {
  std::vector<std::string> names;
  std::vector<int32_t> instructions;
  uint64_t last_end = 0;
};

void hear(void* context, const taper_event* event) {
  auto& heard = *static_cast<Heard*>(context);
  heard.names.emplace_back(event->name);
  heard.instructions.push_back(event->instruction);
  EXPECT_EQ(event->chain, 0);
  EXPECT_EQ(event->step, -1);
  EXPECT_GE(event->begin_ns, heard.last_end);
  EXPECT_GE(event->end_ns, event->begin_ns);
  heard.last_end = event->end_ns;
}

TEST_F(CApi, ARecordingTellsWhatRanAndBecomesAFile) {
  Heard heard;
  taper_recording* const recording = taper_start_recording(hear, &heard);
  ASSERT_NE(recording, nullptr);
  expect_said(taper_run_recorded(model_, "forward", recording, &error_), TAPER_INVALID_STATE,
              "never set", "taper_run_recorded forward");
  EXPECT_TRUE(heard.names.empty());
  set("forward", 0, {1, 2});
  set("forward", 2, {3, 4});
  ASSERT_EQ(taper_run(model_, "forward", &error_), TAPER_OK) << error_.message;
  const std::vector<float> wanted = output("forward", 0);
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(taper_run_recorded(model_, "forward", recording, &error_), TAPER_OK)
        << error_.message;
    EXPECT_EQ(output("forward", 0), wanted);
  }
  ASSERT_FALSE(heard.names.empty());
  EXPECT_EQ(heard.names[0], "native_call_add.out");
  EXPECT_EQ(heard.instructions[0], 0);

  const void* data = nullptr;
  size_t size = 0;
  ASSERT_EQ(taper_recorded_file(recording, &data, &size, &error_), TAPER_OK);
  const Result<EtDump> dump = read_etdump({static_cast<const uint8_t*>(data), size});
  ASSERT_TRUE(dump.ok()) << dump.status().message();
  ASSERT_EQ(dump->blocks.size(), 2u);
  EXPECT_EQ(2 * (dump->blocks[1].events.size() - 1), heard.names.size());

  expect_said(taper_run_recorded(model_, "forward", nullptr, &error_), TAPER_INVALID_ARGUMENT,
              "recording is a null pointer", "taper_run_recorded forward");
  expect_said(taper_recorded_file(nullptr, &data, &size, &error_), TAPER_INVALID_ARGUMENT,
              "recording is a null pointer", "taper_recorded_file");
  taper_end_recording(recording);
  taper_end_recording(nullptr);
}

}  // namespace
}  // namespace taper::test
