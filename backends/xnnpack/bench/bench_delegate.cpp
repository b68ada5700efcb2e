// Measures what the XNNPACK delegate costs beyond XNNPACK itself: an addition of four numbers, run
// by XNNPACK's own runtime and by the delegate around the same graph. The difference is the cost of
// the delegate per execution, which does not depend on the graph.

#include <benchmark/benchmark.h>
#include <xnnpack.h>

#include <cstdio>
#include <cstdlib>

#include "backends/xnnpack/runtime/payload/payload_for_test.h"

namespace taper::xnnpack {
namespace {

void require(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "bench_xnnpack: %s\n", what);
  std::exit(1);
}

constexpr size_t kDims[] = {4};

void invoke_runtime(benchmark::State& state) {
  alignas(64) float a[16] = {}, b[16] = {}, y[16] = {};
  require(xnn_initialize(nullptr) == xnn_status_success, "XNNPACK does not start");
  xnn_subgraph_t graph = nullptr;
  uint32_t ids[3];
  require(xnn_create_subgraph(3, 0, &graph) == xnn_status_success, "no graph was created");
  for (uint32_t i = 0; i < 3; ++i) {
    const uint32_t flag = i < 2 ? XNN_VALUE_FLAG_EXTERNAL_INPUT : XNN_VALUE_FLAG_EXTERNAL_OUTPUT;
    require(xnn_define_tensor_value(graph, xnn_datatype_fp32, 1, kDims, nullptr, i, flag,
                                    &ids[i]) == xnn_status_success,
            "no value was created");
  }
  const xnn_binary_params range = {-1e30, 1e30};
  require(xnn_define_binary(graph, xnn_binary_add, &range, ids[0], ids[1], ids[2], 0) ==
              xnn_status_success,
          "no node was created");
  xnn_runtime_t runtime = nullptr;
  require(xnn_create_runtime_v3(graph, nullptr, nullptr, 0, &runtime) == xnn_status_success,
          "no runtime was created");
  const xnn_external_value external[] = {{0, a}, {1, b}, {2, y}};
  require(xnn_reshape_runtime(runtime) == xnn_status_success &&
              xnn_setup_runtime_v2(runtime, 3, external) == xnn_status_success,
          "the graph was not set up");
  for (auto _ : state) benchmark::DoNotOptimize(xnn_invoke_runtime(runtime));
  xnn_delete_runtime(runtime);
  xnn_delete_subgraph(graph);
}

void execute(benchmark::State& state) {
  PayloadBuilder p;
  const uint32_t a = p.input({4}), b = p.input({4}), y = p.output({4});
  p.binary(wire::NodeContent::Add, a, b, y);
  p.nodes[0].range = {-1e30f, 1e30f};
  Loaded loaded(p.finish());
  require(loaded.status.ok(), loaded.status.message());
  HeldFloats x({4}, Floats(16)), z({4}, Floats(16)), out({4}, Floats(16));
  std::vector<EValue*> args = {&x.value, &z.value, &out.value};
  for (auto _ : state) require(loaded.run(args).ok(), "the delegate does not run");
}

BENCHMARK(invoke_runtime);
BENCHMARK(execute);

}  // namespace
}  // namespace taper::xnnpack

BENCHMARK_MAIN();
