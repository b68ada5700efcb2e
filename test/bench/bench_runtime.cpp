// Measures the runtime's own cost per operator: opening (verifying), loading and dispatching, on a
// program of 1000 additions; and what a tracer adds to dispatching.

#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "kernels_portable/kernel_table.h"
#include "taper/data_loader.h"
#include "taper/event_tracer.h"
#include "taper/method.h"
#include "taper/program.h"
#include "taper/trace_clock.h"
#include "test/support/synthetic_program.h"
#include "tools/profile/recorder.h"

namespace taper::bench {
namespace {

constexpr int kCalls = 1000;

void require(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s: %s\n", to_string(status.error()), status.message());
  std::exit(1);
}

// A kernel that does nothing, so that only dispatch is measured.
Status nothing(KernelContext&, const Tensor&, const Tensor&, Scalar, Tensor&) { return {}; }
constexpr Kernel kNothing = make_kernel<nothing>("aten::add.out");
const Kernel* const kNothings[] = {&kNothing};

// Everything that a loaded method needs.
struct Setup {
  explicit Setup(int32_t elements, KernelTable table)
      : bytes(test::chain_of_adds(kCalls, elements)),
        loader(bytes.data(), bytes.size()),
        program(Program::open(loader)),
        tables{table},
        sizes{elements},
        input_data(elements) {
    require(program.status());
    const MethodMeta meta = *program->method_meta("forward");
    method_block.resize(meta.method_bytes() + 64);
    arena.resize(*meta.memory_planned_buffer_size(0) + 64);
    planned[0] = aligned(arena);
    memory = {aligned(method_block), HierarchicalAllocator(planned), {}};
    options.kernels = tables;
    input = Tensor(ScalarType::kFloat, 1, sizes, order, strides, input_data.data());
  }
  static Span<uint8_t> aligned(std::vector<uint8_t>& block) {
    const size_t skip = (64 - reinterpret_cast<uintptr_t>(block.data()) % 64) % 64;
    return {block.data() + skip, block.size() - 64};
  }

  std::vector<uint8_t> bytes;
  BufferDataLoader loader;
  Result<Program> program;
  KernelTable tables[1];
  std::vector<uint8_t> method_block, arena;
  Span<uint8_t> planned[1];
  MemoryManager memory;
  MethodOptions options;
  int32_t sizes[1], strides[1] = {1};
  uint8_t order[1] = {0};
  std::vector<float> input_data;
  Tensor input;
};

void per_operator(benchmark::State& state) {
  using benchmark::Counter;
  state.counters["s/op"] = Counter(kCalls, Counter::kIsIterationInvariantRate | Counter::kInvert);
}

void open(benchmark::State& state) {
  Setup setup(16, portable::portable_kernels());
  for (auto _ : state) {
    BufferDataLoader loader(setup.bytes.data(), setup.bytes.size());
    Result<Program> program = Program::open(loader);
    require(program.status());
    benchmark::DoNotOptimize(program);
  }
  per_operator(state);
}
BENCHMARK(open);

void load(benchmark::State& state) {
  Setup setup(16, portable::portable_kernels());
  for (auto _ : state) {
    Result<Method> method = Method::load(*setup.program, "forward", setup.memory, setup.options);
    require(method.status());
    benchmark::DoNotOptimize(method);
  }
  per_operator(state);
}
BENCHMARK(load);

void execute(benchmark::State& state, KernelTable table, int32_t elements) {
  Setup setup(elements, table);
  Result<Method> method = Method::load(*setup.program, "forward", setup.memory, setup.options);
  require(method.status());
  require(method->set_input(0, EValue(&setup.input)));
  for (auto _ : state) require(method->execute());
  per_operator(state);
}
BENCHMARK_CAPTURE(execute, dispatch_only, kNothings, 16);
BENCHMARK_CAPTURE(execute, add_16_floats, portable::portable_kernels(), 16);

// What these take beyond execute/dispatch_only is the tracer's.
template <typename Tracer, typename StartRun>
void traced(benchmark::State& state, Tracer& tracer, StartRun start_run) {
  Setup setup(16, kNothings);
  Result<Method> method = Method::load(*setup.program, "forward", setup.memory, setup.options);
  require(method.status());
  require(method->set_input(0, EValue(&setup.input)));
  for (auto _ : state) {
    start_run();
    require(method->execute(tracer));
  }
  per_operator(state);
}

void trace_ring(benchmark::State& state) {
  static TraceRecord records[4096];
  static const TraceClock clock;
  TraceRing ring(records, clock.counter());
  traced(state, ring, [] {});
}
BENCHMARK(trace_ring);

// By the system's clock, where the processor's counter cannot be used.
void trace_ring_steady_clock(benchmark::State& state) {
  static TraceRecord records[4096];
  TraceRing ring(
      records, +[]() -> uint64_t {
        return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
      });
  traced(state, ring, [] {});
}
BENCHMARK(trace_ring_steady_clock);

// What `taper profile` records with, which keeps a million events.
void recorder(benchmark::State& state) {
  tools::Recorder all;
  traced(state, all, [&] { all.start_run(); });
}
BENCHMARK(recorder)->Iterations(900);

}  // namespace
}  // namespace taper::bench

BENCHMARK_MAIN();
