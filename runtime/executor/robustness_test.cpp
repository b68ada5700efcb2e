// Properties of the runtime as a whole: no flipped bit crashes it, threads may share a file, and
// execute() does not use the heap.

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>

#include "test/support/heap_counter.h"
#include "test/support/loaded_method.h"
#include "test/support/payload_backend.h"

namespace taper {
namespace {

using test::Bytes;
using test::floats;
using test::FloatTensor;
using test::MethodMemory;
using test::MethodSpec;
using test::PayloadBackend;
using test::ProgramBuilder;
using Floats = std::vector<float>;

// One of everything: a constant, state, a view, lists, a branch, a delegate.
Bytes model_with_everything() {
  ProgramBuilder builder;
  const char text[] = "add 0 1 2\n";
  const uint32_t payload = builder.segment(Bytes(text, text + std::strlen(text)));
  MethodSpec& m = builder.method("forward");
  const uint32_t constant = builder.constant(test::bytes_of(Floats{10, 20}));
  const uint32_t saved = builder.mutable_data(test::bytes_of(Floats{1, 2}));
  const int x = m.tensor({.sizes = {{2}}});
  const int weight = m.tensor({.sizes = {{2}}, .data_buffer_idx = constant});
  const int state = m.tensor({.sizes = {{2}}, .data_buffer_idx = saved, .memory_id = 1});
  const int t = m.tensor({.sizes = {{2}}, .dynamism = 1, .memory_id = 1, .offset = 8});
  const int y = m.tensor({.sizes = {{2, 1}}});
  const int sum = m.tensor({.sizes = {{}}, .memory_id = 1, .offset = 16});
  const int i = m.integer(0), two = m.integer(2), one = m.integer(1);
  const int done = m.boolean(false);
  m.buffer_sizes = {0, 20};
  m.inputs = {x};
  m.outputs = {y, sum, state, i};
  m.call("test::add", "out", {x, weight, t, t});
  m.move(one, i);
  m.call("test::add", "out", {state, x, state, state});
  m.call("test::increment", "", {i});
  m.call("test::less", "", {two, i, done});
  m.jump_false(done, 2);
  m.delegates.push_back({.id = "PayloadBackend", .location = 1, .index = payload});
  m.delegate(0, {t, x, t});
  m.call("test::sum_list", "", {m.tensor_list({t, x}), sum, sum});
  m.call("test::view", "", {t, m.int_list({two, one}), y});
  m.free(t);
  return builder.finish();
}

// Opens, loads and runs. Whatever goes wrong must be returned as a Status.
Status run(const Bytes& file, Floats* output = nullptr) {
  BufferDataLoader loader(file.data(), file.size());
  Result<Program> program = Program::open(loader);
  if (!program.ok()) return program.status();
  Result<MethodMeta> meta = program->method_meta("forward");
  if (!meta.ok()) return meta.status();
  for (size_t i = 0; i < meta->num_memory_planned_buffers(); ++i) {
    if (*meta->memory_planned_buffer_size(i) > (1 << 20)) {
      return Status(Error::kMemoryAllocationFailed, "more than a test wants to give");
    }
  }
  MethodMemory memory(*meta, 64);
  PayloadBackend backend;
  const Backend entry = payload_backend(backend);
  MethodOptions options{test::test_tables()};
  options.backends = {&entry, 1};
  options.max_instructions = 1000;
  Result<Method> method = Method::load(*program, "forward", memory.manager(), options);
  if (!method.ok()) return method.status();
  FloatTensor x({2}, {1, 2});
  float bound[64] = {};
  TAPER_TRY(method->set_inputs(std::vector<EValue>{x.value()}));
  for (size_t i = 0; i < method->num_outputs(); ++i) {
    (void)method->set_output_data(i, bound, sizeof(bound)).ok();
  }
  TAPER_TRY(method->execute());
  TAPER_TRY(method->reset_state());
  TAPER_TRY(method->execute());
  if (output != nullptr) *output = floats(*method);
  return {};
}

TEST(Robustness, TheModelItselfRuns) {
  Floats output;
  const Status status = run(model_with_everything(), &output);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(output, (Floats{12, 24}));
}

TEST(Robustness, AnySingleFlippedBitIsSurvived) {
  const Bytes good = model_with_everything();
  size_t refused = 0;
  Bytes file = good;
  for (size_t bit = 0; bit < good.size() * 8; ++bit) {
    file[bit / 8] ^= static_cast<uint8_t>(1 << (bit % 8));
    refused += !run(file).ok();
    file[bit / 8] = good[bit / 8];
  }
  EXPECT_GT(refused, good.size());
  EXPECT_TRUE(run(file).ok());
}

TEST(Robustness, AnyWordThatIsZeroOrFullOfOnesIsSurvived) {
  const Bytes good = model_with_everything();
  size_t refused = 0;
  for (size_t at = 0; at + 4 <= good.size(); at += 2) {
    for (uint32_t word : {0u, 1u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
      Bytes file = good;
      wire::write_u32(file.data() + at, word);
      refused += !run(file).ok();
    }
  }
  EXPECT_GT(refused, good.size() / 2);
}

TEST(Robustness, TwoThreadsMayShareOneBuffer) {
  const Bytes file = model_with_everything();
  Floats outputs[2];
  std::thread threads[2];
  for (int i = 0; i < 2; ++i) {
    threads[i] = std::thread([&, i] {
      for (int n = 0; n < 50; ++n) {
        if (!run(file, &outputs[i]).ok()) outputs[i].clear();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(outputs[0], (Floats{12, 24}));
  EXPECT_EQ(outputs[1], outputs[0]);
}

TEST(Robustness, TwoThreadsMayLoadFromOneProgram) {
  const Bytes file = model_with_everything();
  BufferDataLoader loader(file.data(), file.size());
  Result<Program> program = Program::open(loader);
  ASSERT_TRUE(program.ok());
  Status results[2];
  std::thread threads[2];
  for (int i = 0; i < 2; ++i) {
    threads[i] = std::thread([&, i] {
      MethodMemory memory(*program->method_meta("forward"));
      PayloadBackend backend;
      const Backend entry = payload_backend(backend);
      MethodOptions options{test::test_tables()};
      options.backends = {&entry, 1};
      results[i] = Method::load(*program, "forward", memory.manager(), options).status();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(results[0].ok());
  EXPECT_TRUE(results[1].ok());
}

TEST(Robustness, ExecuteDoesNotTouchTheHeap) {
  const Bytes file = model_with_everything();
  BufferDataLoader loader(file.data(), file.size());
  const uint64_t before_open = test::heap_calls();
  Result<Program> program = Program::open(loader);
  ASSERT_TRUE(program.ok());
  EXPECT_EQ(test::heap_calls(), before_open);
  MethodMemory memory(*program->method_meta("forward"), 64);
  PayloadBackend backend;
  const Backend entry = payload_backend(backend);
  MethodOptions options{test::test_tables()};
  options.backends = {&entry, 1};
  Result<Method> method = Method::load(*program, "forward", memory.manager(), options);
  ASSERT_TRUE(method.ok());
  FloatTensor x({2}, {1, 2});
  const EValue input = x.value();

  const uint64_t before = test::heap_calls();
  Status status = method->set_input(0, input);
  for (int i = 0; i < 3 && status.ok(); ++i) status = method->execute();
  const uint64_t after = test::heap_calls();

  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(after, before);
  EXPECT_GT(before, before_open);  // Proves that the counter works.
}

}  // namespace
}  // namespace taper
