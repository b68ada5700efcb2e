// Measures single kernels with one thread: GFLOP/s if compute-bound, GB/s if memory-bound.

#include <benchmark/benchmark.h>

#include "test/bench/kernel_call.h"

namespace taper::bench {
namespace {

void repeat(benchmark::State& state, KernelCall& call, double flops, double bytes) {
  if (!call.exists()) {
    state.SkipWithError("no such kernel");
    return;
  }
  for (auto _ : state) call.run();
  using benchmark::Counter;
  if (flops > 0) {
    state.counters["GFLOP/s"] = Counter(flops / 1e9, Counter::kIsIterationInvariantRate);
  }
  if (bytes > 0) {
    state.counters["GB/s"] = Counter(bytes / 1e9, Counter::kIsIterationInvariantRate);
  }
}

void mm(benchmark::State& state) {
  const auto n = static_cast<int32_t>(state.range(0));
  KernelCall call("aten::mm.out");
  call.tensor({n, n}).tensor({n, n}).tensor({n, n});
  repeat(state, call, 2.0 * n * n * n, 0);
}
BENCHMARK(mm)->Arg(64)->Arg(256)->Arg(512);

void linear(benchmark::State& state) {
  KernelCall call("aten::linear.out");
  call.tensor({128, 256}).tensor({1024, 256}).tensor({1024}).tensor({128, 1024});
  repeat(state, call, 2.0 * 128 * 256 * 1024, 0);
}
BENCHMARK(linear);

// Arguments: channels in, channels out, side, kernel, stride, groups.
void convolution(benchmark::State& state) {
  const auto in = static_cast<int32_t>(state.range(0)), out = static_cast<int32_t>(state.range(1));
  const auto side = static_cast<int32_t>(state.range(2)), k = static_cast<int32_t>(state.range(3));
  const int64_t stride = state.range(4), groups = state.range(5);
  const int32_t pad = k / 2;
  const auto side_out = static_cast<int32_t>((side + 2 * pad - k) / stride + 1);
  const auto per_group = static_cast<int32_t>(in / groups);
  KernelCall call("aten::convolution.out");
  call.tensor({1, in, side, side}).tensor({out, per_group, k, k}).tensor({out});
  call.list({stride, stride}).list({pad, pad}).list({1, 1}).flag(false).list({0, 0});
  call.number(groups).tensor({1, out, side_out, side_out});
  repeat(state, call, 2.0 * out * per_group * k * k * side_out * side_out, 0);
}
BENCHMARK(convolution)
    ->ArgNames({"in", "out", "side", "k", "stride", "groups"})
    ->Args({3, 32, 224, 3, 2, 1})  // A first layer.
    ->Args({64, 64, 56, 3, 1, 1})  // ResNet layers.
    ->Args({256, 256, 14, 3, 1, 1})
    ->Args({96, 24, 56, 1, 1, 1})  // Point-wise.
    ->Args({320, 1280, 7, 1, 1, 1})
    ->Args({144, 144, 56, 3, 1, 144});  // Depth-wise.

void softmax(benchmark::State& state) {
  KernelCall call("aten::_softmax.out");
  call.tensor({512, 512}).number(int64_t{-1}).flag(false).tensor({512, 512});
  repeat(state, call, 0, 2.0 * 4 * 512 * 512);
}
BENCHMARK(softmax);

void layer_norm(benchmark::State& state) {
  KernelCall call("aten::native_layer_norm.out");
  call.tensor({512, 512}).list({512}).tensor({512}).tensor({512}).number(1e-5);
  call.tensor({512, 512}).tensor({512, 1}).tensor({512, 1});
  repeat(state, call, 0, 2.0 * 4 * 512 * 512);
}
BENCHMARK(layer_norm);

void add(benchmark::State& state) {
  KernelCall call("aten::add.out");
  call.tensor({1 << 20}).tensor({1 << 20}).number(int64_t{1}).tensor({1 << 20});
  repeat(state, call, 0, 3.0 * 4 * (1 << 20));
}
BENCHMARK(add);

void add_broadcast(benchmark::State& state) {
  KernelCall call("aten::add.out");
  call.tensor({1024, 1024}).tensor({1024}).number(int64_t{1}).tensor({1024, 1024});
  repeat(state, call, 0, 2.0 * 4 * (1 << 20));
}
BENCHMARK(add_broadcast);

void unary(benchmark::State& state, const char* name) {
  KernelCall call(name);
  call.tensor({1 << 20}).tensor({1 << 20});
  repeat(state, call, 0, 2.0 * 4 * (1 << 20));
}
BENCHMARK_CAPTURE(unary, relu, "aten::relu.out");
BENCHMARK_CAPTURE(unary, sigmoid, "aten::sigmoid.out");
BENCHMARK_CAPTURE(unary, tanh, "aten::tanh.out");
BENCHMARK_CAPTURE(unary, exp, "aten::exp.out");

void sum_last(benchmark::State& state) {
  KernelCall call("aten::sum.IntList_out");
  call.tensor({1024, 1024}).list({1}).flag(false).none().tensor({1024});
  repeat(state, call, 0, 4.0 * (1 << 20));
}
BENCHMARK(sum_last);

void permute(benchmark::State& state) {
  KernelCall call("aten::permute_copy.out");
  call.tensor({64, 64, 256}).list({0, 2, 1}).tensor({64, 256, 64});
  repeat(state, call, 0, 2.0 * 4 * (1 << 20));
}
BENCHMARK(permute);

}  // namespace
}  // namespace taper::bench

BENCHMARK_MAIN();
