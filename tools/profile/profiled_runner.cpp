#include "tools/profile/profiled_runner.h"

#include "tools/aten_kernels.h"
#include "tools/npy.h"
#include "tools/text/terminal.h"

namespace taper::tools {

std::vector<Option> profiled_run_options() {
  const std::vector<Option> aten = aten_options();
  return {{"m,method", "The method to run; default: forward, or the only one", "NAME"},
          {"i,inputs", "Tensor inputs in order", "A.npy,B.npy"},
          {"t,threads", "Threads for kernels and backends", "N", "1"},
          {"portable-only", "Do not use the kernels optimized for this processor"},
          {"w,external-weights", "The .ptd that belongs to the program", "W.ptd"},
          aten[0],
          aten[1]};
}

std::unique_ptr<ProgramRunner> profiled_runner(const std::string& path, const CommandLine& line,
                                               Recorder& recorder) {
  RunnerOptions options;
  options.path = path;
  options.data_path = line.text("external-weights");
  options.method = line.text("method");
  options.threads = static_cast<uint32_t>(line.integer("threads", 1, 1024));
  options.optimized = !line.given("portable-only");
  options.aten = aten_kernels(aten_options_of(line));
  options.profiler = &recorder;
  options.wrap_threads = [&](const ThreadPool& threads) { return recorder.traced(threads); };
  options.enter = [&](std::string_view phase) { recorder.enter(phase); };
  auto runner = std::make_unique<ProgramRunner>(options);
  print_note(runner->cache_note());
  print_note(runner->device_note());
  const std::vector<std::string> names = line.list("inputs");
  if (line.given("inputs")) {
    runner->set_inputs(read_all(names), names);
  } else {
    runner->set_default_inputs();
  }
  constexpr int kWarmUps = 2;
  for (int i = 0; i < kWarmUps; ++i) runner->execute();
  return runner;
}

}  // namespace taper::tools
