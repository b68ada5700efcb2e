// Results are bit-identical for any number of threads, also if the pool runs tasks one after
// another or in reverse order.

#include "kernels_optimized/engine/parallel.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "kernels_optimized/cores/recurrent_team.h"
#include "kernels_optimized/engine/dispatch.h"
#include "kernels_optimized/kernel_table.h"
#include "test/support/test_tensor.h"

namespace taper::optimized {
namespace {

using test::TestTensor;
using Sizes = std::vector<int32_t>;

void on_threads(void*, size_t count, ThreadPool::Task task, void* data) {
  std::vector<std::thread> threads;
  for (size_t i = 1; i < count; ++i) threads.emplace_back([=] { task(data, i); });
  task(data, 0);
  for (std::thread& thread : threads) thread.join();
}
void in_order(void*, size_t count, ThreadPool::Task task, void* data) {
  for (size_t i = 0; i < count; ++i) task(data, i);
}
void backwards(void*, size_t count, ThreadPool::Task task, void* data) {
  for (size_t i = count; i-- > 0;) task(data, i);
}

// One call of a kernel, whose arguments are created anew, with the same values, for every run.
struct Call {
  const char* kernel;
  std::vector<Sizes> inputs;  // Tensors, which come first.
  std::vector<EValue> rest;   // Arguments between the tensors and the outputs.
  std::vector<Sizes> outputs;
};

std::vector<std::vector<float>> run(const Call& call, const ThreadPool& pool) {
  uint32_t random = 5;
  std::vector<TestTensor> tensors;
  for (const auto* list : {&call.inputs, &call.outputs}) {
    for (const Sizes& sizes : *list) {
      tensors.emplace_back(ScalarType::kFloat, sizes);
      float* data = tensors.back()->mutable_data_ptr<float>();
      for (int64_t i = 0; i < tensors.back()->numel(); ++i) {
        random = random * 1664525 + 1013904223;
        data[i] = static_cast<float>(random >> 8) / (1 << 23) - 1;
      }
    }
  }
  std::vector<EValue> slots;
  for (size_t i = 0; i < call.inputs.size(); ++i) slots.emplace_back(&*tensors[i]);
  slots.insert(slots.end(), call.rest.begin(), call.rest.end());
  for (size_t i = call.inputs.size(); i < tensors.size(); ++i) slots.emplace_back(&*tensors[i]);
  std::vector<EValue*> args;
  for (EValue& slot : slots) args.push_back(&slot);
  const Kernel* kernel = find_kernel(optimized_kernels(), call.kernel);
  EXPECT_EQ(args.size(), kernel->arg_count) << call.kernel;
  std::vector<unsigned char> temp(size_t{8} << 20);
  KernelContext context({temp.data(), temp.size()}, pool);
  const Status status = kernel->run(context, args.data());
  EXPECT_TRUE(status.ok()) << call.kernel << ": " << status.message();
  std::vector<std::vector<float>> results;
  for (size_t i = call.inputs.size(); i < tensors.size(); ++i) {
    results.push_back(tensors[i].values<float>());
  }
  return results;
}

void expect_same(const Call& call) {
  const auto alone = run(call, {});
  const ThreadPool pools[] = {{on_threads, nullptr, 2},
                              {on_threads, nullptr, 3},
                              {in_order, nullptr, 4},
                              {backwards, nullptr, 7}};
  for (const ThreadPool& pool : pools) {
    const auto together = run(call, pool);
    for (size_t i = 0; i < alone.size(); ++i) {
      ASSERT_EQ(std::memcmp(alone[i].data(), together[i].data(), alone[i].size() * 4), 0)
          << call.kernel << ", result " << i << ", " << pool.threads << " threads";
    }
  }
}

EValue none() { return EValue(); }
EValue integer(int64_t value) { return EValue(value); }

TEST(Parallel, Products) {
  const auto mm = [](int32_t rows, int32_t depth, int32_t columns) {
    expect_same({"aten::mm.out", {{rows, depth}, {depth, columns}}, {}, {{rows, columns}}});
    expect_same(
        {"aten::linear.out", {{rows, depth}, {columns, depth}}, {none()}, {{rows, columns}}});
  };
  mm(190, 300, 250);  // Several blocks of depth.
  mm(3000, 130, 20);  // Divided by rows.
  mm(5, 520, 1030);   // In place, and by dot products.
  mm(1, 512, 4001);
  mm(4001, 512, 1);
  expect_same({"aten::bmm.out", {{9, 50, 60}, {9, 60, 70}}, {}, {{9, 50, 70}}});
  expect_same({"aten::bmm.out", {{1, 150, 160}, {1, 160, 170}}, {}, {{1, 150, 170}}});
  expect_same({"aten::addmm.out",
               {{250}, {190, 300}, {300, 250}},
               {EValue(1.5), EValue(0.5)},
               {{190, 250}}});
}

TEST(Parallel, ElementsAndRows) {
  expect_same({"aten::exp.out", {{3, 70001}}, {}, {{3, 70001}}});
  expect_same({"aten::add.out", {{3, 70001}, {3, 70001}}, {integer(1)}, {{3, 70001}}});
  expect_same({"aten::mul.Scalar_out", {{3, 70001}}, {EValue(0.3)}, {{3, 70001}}});
  expect_same({"aten::_softmax.out", {{301, 333}}, {integer(1), EValue(false)}, {{301, 333}}});
  expect_same(
      {"aten::_log_softmax.out", {{41, 60, 33}}, {integer(1), EValue(false)}, {{41, 60, 33}}});
  EValue last(int64_t{2});
  EValue* pointers[] = {&last};
  int64_t unboxed[1];
  BoxedIntList list = {pointers, unboxed};
  const EValue dims(&list, 1);
  expect_same({"aten::mean.out", {{40, 70, 33}}, {dims, EValue(false), none()}, {{40, 70}}});
  expect_same({"aten::amax.out", {{40, 70, 33}}, {dims, EValue(true)}, {{40, 70, 1}}});
}

TEST(Parallel, Convolutions) {
  EValue one(int64_t{1});
  EValue* pointers[] = {&one, &one};
  int64_t unboxed[2];
  BoxedIntList list = {pointers, unboxed};
  const EValue ones(&list, 2);
  const auto convolve = [&](const Sizes& input, const Sizes& weight, int64_t groups) {
    const Sizes out = {input[0], weight[0], input[2] + 3 - weight[2], input[3] + 3 - weight[3]};
    expect_same({"aten::convolution.out",
                 {input, weight},
                 {none(), ones, ones, ones, EValue(false), ones, integer(groups)},
                 {out}});
  };
  convolve({1, 30, 29, 31}, {50, 30, 3, 3}, 1);
  convolve({2, 24, 20, 20}, {48, 6, 3, 3}, 4);
  convolve({2, 40, 40, 41}, {40, 1, 3, 3}, 40);
}

TEST(Parallel, Attention) {
  expect_same({"llama::custom_sdpa.out",
               {{1, 80, 9, 32}, {1, 100, 3, 32}, {1, 100, 3, 32}},
               {integer(10), none(), EValue(0.0), EValue(true), none()},
               {{1, 80, 9, 32}}});
}

TEST(Parallel, RecurrentLayers) {
  const auto lstm = [](int32_t steps, int32_t batch, int32_t units, int32_t sides) {
    const Sizes state = {sides, batch, units};
    const int32_t blocks = (units + 15) / 16;
    expect_same({"taper::lstm.out",
                 {{steps, batch, sides * 4 * units}, state, state, {sides, blocks, units, 64}},
                 {none(), EValue(false)},
                 {{steps, batch, sides * units}, state, state}});
    expect_same({"taper::gru.out",
                 {{batch, steps, sides * 3 * units}, state, {sides, blocks, units, 48}},
                 {none(), EValue(true)},
                 {{batch, steps, sides * units}, state}});
  };
  lstm(40, 1, 250, 1);  // A team over blocks.
  lstm(30, 1, 250, 2);  // A direction for each thread, or a team over both.
  lstm(20, 17, 90, 1);  // Divided by items.
  lstm(20, 5, 90, 2);
}

// A member that joins after all steps are complete has nothing to do; one that joins earlier helps.
TEST(Parallel, ATeamNeedsNobody) {
  RecurrentLayer layer;
  layer.r.gates = 4;
  layer.r.directions = 2;
  layer.r.steps = 9;
  layer.r.batch = 1;
  layer.r.units = layer.r.outputs = 50;
  static std::atomic<int> blocks;
  blocks = 0;
  const RecurrentStep step = [](const RecurrentLayer&, int64_t, const RecurrentPart& part) {
    blocks += static_cast<int>(part.end - part.begin);
  };
  RecurrentTeam team(layer, step, 3);
  team.join(1);
  EXPECT_EQ(blocks, 9 * 8);
  team.join(0);
  team.join(2);
  EXPECT_EQ(blocks, 9 * 8);
}

TEST(Parallel, PartsCoverAllOnce) {
  for (const int64_t size : {0, 1, 15, 16, 17, 70000, 1000003}) {
    for (const uint32_t threads : {1u, 2u, 6u}) {
      std::vector<int> seen(static_cast<size_t>(size));
      for_parts({in_order, nullptr, threads}, size, 3, kLineFloats,
                [&](int64_t begin, int64_t end) {
                  EXPECT_EQ(begin % kLineFloats, 0);
                  for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
                });
      for (const int n : seen) ASSERT_EQ(n, 1);
    }
  }
}

}  // namespace
}  // namespace taper::optimized
