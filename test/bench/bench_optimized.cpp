// Measures the speedup of the optimized kernels: each is timed alternately with the portable kernel
// of the same name, with one thread. An argument selects the rows whose names contain it.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <functional>
#include <string>

#include "test/bench/kernel_call.h"

namespace taper::bench {
namespace {

constexpr int kRounds = 15;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double time_of(KernelCall& call, int count) {
  const double start = cpu_seconds();
  for (int i = 0; i < count; ++i) call.run();
  return (cpu_seconds() - start) / count;
}

struct Row {
  std::string name;
  const char* kernel;
  std::function<void(KernelCall&)> arguments;
};

void measure(const Row& row) {
  KernelCall portable(row.kernel, true), fast(row.kernel);
  row.arguments(portable);
  row.arguments(fast);
  const int count = std::max(1, static_cast<int>(2e-3 / (time_of(portable, 2) + 1e-9)));
  std::vector<double> slow_times, fast_times;
  for (int i = 0; i < kRounds; ++i) {
    slow_times.push_back(time_of(portable, count));
    fast_times.push_back(time_of(fast, count));
  }
  std::sort(slow_times.begin(), slow_times.end());
  std::sort(fast_times.begin(), fast_times.end());
  const double slow = slow_times[kRounds / 2], quick = fast_times[kRounds / 2];
  std::printf("%-28s %12.1f %12.1f %8.2f\n", row.name.c_str(), slow * 1e6, quick * 1e6,
              slow / quick);
}

Row product(const char* name, const char* kernel, const std::vector<int32_t>& a,
            const std::vector<int32_t>& b, const std::vector<int32_t>& out) {
  return {name, kernel, [=](KernelCall& call) { call.tensor(a).tensor(b).tensor(out); }};
}

Row linear(const char* name, int32_t rows, int32_t depth, int32_t features) {
  return {name, "aten::linear.out", [=](KernelCall& call) {
            call.tensor({rows, depth}).tensor({features, depth}).tensor({features});
            call.tensor({rows, features});
          }};
}

Row unary(const char* name, const char* kernel) {
  return {name, kernel, [](KernelCall& call) { call.tensor({1, 197, 768}).tensor({1, 197, 768}); }};
}

Row binary(const char* name, const char* kernel, const std::vector<int32_t>& b, bool alpha) {
  return {name, kernel, [=](KernelCall& call) {
            call.tensor({1, 64, 56, 56}).tensor(b);
            if (alpha) call.number(int64_t{1});
            call.tensor({1, 64, 56, 56});
          }};
}

Row softmax(const char* name, const char* kernel, const std::vector<int32_t>& sizes, int64_t dim) {
  return {name, kernel,
          [=](KernelCall& call) { call.tensor(sizes).number(dim).flag(false).tensor(sizes); }};
}

Row convolution(const char* name, int32_t in, int32_t out, int32_t side, int32_t k, int64_t stride,
                int64_t groups) {
  const int32_t pad = k / 2;
  const auto side_out = static_cast<int32_t>((side + 2 * pad - k) / stride + 1);
  const auto per_group = static_cast<int32_t>(in / groups);
  return {name, "aten::convolution.out", [=](KernelCall& call) {
            call.tensor({1, in, side, side}).tensor({out, per_group, k, k}).tensor({out});
            call.list({stride, stride}).list({pad, pad}).list({1, 1}).flag(false).list({0, 0});
            call.number(groups).tensor({1, out, side_out, side_out});
          }};
}

Row transposed(const char* name, int32_t in, int32_t out, int32_t side, int32_t k, int64_t stride) {
  const auto side_out = static_cast<int32_t>((side - 1) * stride + k);
  return {name, "aten::convolution.out", [=](KernelCall& call) {
            call.tensor({1, in, side, side}).tensor({in, out, k, k}).tensor({out});
            call.list({stride, stride}).list({0, 0}).list({1, 1}).flag(true).list({0, 0});
            call.number(int64_t{1}).tensor({1, out, side_out, side_out});
          }};
}

Row layer_norm() {
  return {"layer_norm", "aten::native_layer_norm.out", [](KernelCall& call) {
            call.tensor({197, 768}).list({768}).tensor({768}).tensor({768}).number(1e-5);
            call.tensor({197, 768}).tensor({197, 1}).tensor({197, 1});
          }};
}

Row group_norm() {
  return {"group_norm", "aten::native_group_norm.out", [](KernelCall& call) {
            call.tensor({1, 64, 56, 56}).tensor({64}).tensor({64}).number(int64_t{1});
            call.number(int64_t{64}).number(int64_t{56 * 56}).number(int64_t{8}).number(1e-5);
            call.tensor({1, 64, 56, 56}).tensor({1, 8}).tensor({1, 8});
          }};
}

Row attention(const char* name, int32_t queries, int64_t start) {
  return {name, "llama::custom_sdpa.out", [=](KernelCall& call) {
            call.tensor({1, queries, 6, 48}).tensor({1, 512, 6, 48}).tensor({1, 512, 6, 48});
            call.number(start).none().number(0.0).flag(true).none().tensor({1, queries, 6, 48});
          }};
}

// One layer, 50 time steps.
Row lstm(const char* name, int32_t batch, int32_t units) {
  return {name, "taper::lstm.out", [=](KernelCall& call) {
            const std::vector<int32_t> state = {1, batch, units}, out = {50, batch, units};
            call.tensor({50, batch, 4 * units}).tensor(state).tensor(state);
            call.tensor({1, units / 16, units, 64}).none().flag(false);
            call.tensor(out).tensor(state).tensor(state);
          }};
}
Row gru(const char* name, int32_t batch, int32_t units) {
  return {name, "taper::gru.out", [=](KernelCall& call) {
            const std::vector<int32_t> state = {1, batch, units}, out = {50, batch, units};
            call.tensor({50, batch, 3 * units}).tensor(state);
            call.tensor({1, units / 16, units, 48}).none().flag(false).tensor(out).tensor(state);
          }};
}

std::vector<Row> layers() {
  return {
      lstm("lstm 256 units", 1, 256),
      lstm("lstm 256 units, 8 items", 8, 256),
      gru("gru 256 units", 1, 256),
      attention("attention, 1 query of 256", 1, 255),
      attention("attention, 64 queries", 64, 0),
      convolution("conv first layer", 3, 32, 224, 3, 2, 1),
      convolution("conv 7x7 first layer", 3, 64, 224, 7, 2, 1),
      convolution("conv 3x3 64x56", 64, 64, 56, 3, 1, 1),
      convolution("conv 3x3 256x14", 256, 256, 14, 3, 1, 1),
      convolution("conv 3x3 512x7", 512, 512, 7, 3, 1, 1),
      convolution("conv 1x1 96x56", 96, 24, 56, 1, 1, 1),
      convolution("conv 1x1 320x7", 320, 1280, 7, 1, 1, 1),
      convolution("conv 1x1 one position", 96, 24, 1, 1, 1, 1),
      convolution("conv groups of 4", 128, 128, 28, 3, 1, 32),
      convolution("depthwise 3x3 144x56", 144, 144, 56, 3, 1, 144),
      convolution("depthwise 3x3 s2 96x112", 96, 96, 112, 3, 2, 96),
      convolution("depthwise 5x5 240x14", 240, 240, 14, 5, 1, 240),
      convolution("depthwise 3x3 960x7", 960, 960, 7, 3, 1, 960),
      transposed("transposed 2x2 s2 128x28", 128, 64, 28, 2, 2),
      transposed("transposed 4x4 s2 64x28", 64, 32, 28, 4, 2),
      softmax("softmax last dim", "aten::_softmax.out", {12, 197, 197}, -1),
      softmax("softmax channels", "aten::_softmax.out", {1, 64, 56, 56}, 1),
      softmax("softmax small", "aten::_softmax.out", {8, 10}, 1),
      softmax("log_softmax", "aten::_log_softmax.out", {8, 30000}, -1),
      layer_norm(),
      group_norm(),
      product("mm 256", "aten::mm.out", {256, 256}, {256, 256}, {256, 256}),
      product("mm 1x1024x1024", "aten::mm.out", {1, 1024}, {1024, 1024}, {1, 1024}),
      product("bmm q k", "aten::bmm.out", {12, 197, 64}, {12, 64, 197}, {12, 197, 197}),
      product("bmm weights v", "aten::bmm.out", {12, 197, 197}, {12, 197, 64}, {12, 197, 64}),
      product("bmm tiny", "aten::bmm.out", {8, 4, 5}, {8, 5, 6}, {8, 4, 6}),
      linear("linear 128 rows", 128, 256, 1024),
      linear("linear 8 rows", 8, 288, 768),
      linear("linear 1 row", 1, 288, 768),
      unary("exp", "aten::exp.out"),
      unary("sigmoid", "aten::sigmoid.out"),
      unary("silu", "aten::silu.out"),
      unary("tanh", "aten::tanh.out"),
      unary("erf", "aten::erf.out"),
      unary("hardswish", "aten::hardswish.out"),
      unary("relu", "aten::relu.out"),
  };
}

std::vector<Row> reductions_and_pools() {
  return {
      {"sum last dim", "aten::sum.IntList_out",
       [](KernelCall& call) {
         call.tensor({197, 768}).list({1}).flag(false).none().tensor({197});
       }},
      {"mean image", "aten::mean.out",
       [](KernelCall& call) {
         call.tensor({64, 56 * 56}).list({1}).flag(false).none().tensor({64});
       }},
      {"mean first dim", "aten::mean.out",
       [](KernelCall& call) {
         call.tensor({197, 768}).list({0}).flag(false).none().tensor({768});
       }},
      {"amax last dim", "aten::amax.out",
       [](KernelCall& call) {
         call.tensor({197, 768}).list({1}).flag(false).tensor({197});
       }},
      {"cumsum first dim", "aten::cumsum.out",
       [](KernelCall& call) {
         call.tensor({197, 768}).number(int64_t{0}).none().tensor({197, 768});
       }},
      {"avg_pool 3x3 192x35", "aten::avg_pool2d.out",
       [](KernelCall& call) {
         call.tensor({1, 192, 35, 35})
             .list({3, 3})
             .list({1, 1})
             .list({1, 1})
             .flag(false)
             .flag(true);
         call.none().tensor({1, 192, 35, 35});
       }},
      {"avg_pool to 7x7", "aten::_adaptive_avg_pool2d.out",
       [](KernelCall& call) {
         call.tensor({1, 512, 14, 14}).list({7, 7}).tensor({1, 512, 7, 7});
       }},
  };
}

std::vector<Row> sums_and_products() {
  return {
      binary("add", "aten::add.out", {1, 64, 56, 56}, true),
      {"add small", "aten::add.out",
       [](KernelCall& c) {
         c.tensor({64, 64}).tensor({64, 64}).number(int64_t{1}).tensor({64, 64});
       }},
      {"mul row small", "aten::mul.out",
       [](KernelCall& c) {
         c.tensor({64, 768}).tensor({768}).tensor({64, 768});
       }},
      {"mul rows small", "aten::mul.out",
       [](KernelCall& c) {
         c.tensor({64, 768}).tensor({64, 1}).tensor({64, 768});
       }},
      {"add tiny", "aten::add.out",
       [](KernelCall& c) { c.tensor({4}).tensor({4}).number(int64_t{1}).tensor({4}); }},
      binary("add row", "aten::add.out", {56}, true),
      binary("add channel", "aten::add.out", {64, 1, 1}, true),
      binary("mul", "aten::mul.out", {1, 64, 56, 56}, false),
      binary("mul number", "aten::mul.out", {}, false),
      binary("div", "aten::div.out", {1, 64, 56, 56}, false),
  };
}

std::vector<Row> rows() {
  std::vector<Row> all = layers();
  for (const auto& part : {reductions_and_pools(), sums_and_products()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace
}  // namespace taper::bench

int main(int argc, char** argv) {
  std::printf("%-28s %12s %12s %8s\n", "kernel", "portable us", "fast us", "ratio");
  for (const taper::bench::Row& row : taper::bench::rows()) {
    if (argc < 2 || row.name.find(argv[1]) != std::string::npos) taper::bench::measure(row);
  }
  return 0;
}
