// Measures what recording costs on whole models.
//
//   bench_tracing [FOLDER]     default: build/peers/models (make bench-peers), else test/models/data
//
// Every .pt2 of the folder is compiled for the first backend of this build, and for the kernels
// alone, and runs on one thread: untraced, with the ring of taper/event_tracer.h, and with all that
// `taper profile` records, which includes the steps within delegates. The three take turns, in a
// changing order, so that other load affects all of them alike. Times are those that the processor
// spends on the thread. A figure is the median of what a turn takes longer than the untraced one;
// beside it is how far those of the two halves of the turns are apart, which is noise.

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "exir/export.h"
#include "taper/event_tracer.h"
#include "taper/trace_clock.h"
#include "tools/atomic_file.h"
#include "tools/profile/recorder.h"
#include "tools/program_runner.h"
#include "tools/temporary_file.h"

namespace taper::bench {
namespace {

namespace fs = std::filesystem;
using namespace tools;

constexpr double kSecondsPerModel = 4;
constexpr size_t kFewestTurns = 41, kMostTurns = 10'001;
constexpr size_t kMostEvents = 900'000;  // Fewer than a Recorder keeps.

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// A way to run, and how long its runs took.
struct Way {
  std::function<double()> run;
  std::vector<double> seconds = {};
};

double processor_seconds() {
  struct timespec time {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double timed_run(ProgramRunner& runner, EventTracer* tracer) {
  const double start = processor_seconds();
  runner.execute(tracer);
  return processor_seconds() - start;
}

// "+0.05 % (0.02)": how much longer the runs of `way` take.
std::string cost(const Way& way, const Way& to) {
  std::vector<double> ratios;
  for (size_t i = 0; i < way.seconds.size(); ++i) ratios.push_back(way.seconds[i] / to.seconds[i]);
  const auto middle = ratios.begin() + static_cast<ptrdiff_t>(ratios.size() / 2);
  const double apart = median({ratios.begin(), middle}) - median({middle, ratios.end()});
  char text[64];
  std::snprintf(text, sizeof(text), "%+.2f %% (%.2f)", 100 * (median(ratios) - 1),
                100 * std::fabs(apart));
  return text;
}

void take_turns(std::vector<Way>& ways, size_t most) {
  double once = 0;
  for (const Way& way : ways) {
    way.run();
    once += way.run();
  }
  const auto wanted = static_cast<size_t>(kSecondsPerModel / once);
  const size_t turns = std::min(std::clamp(wanted, kFewestTurns, kMostTurns), most);
  for (size_t turn = 0; turn < turns; ++turn) {
    for (size_t i = 0; i < ways.size(); ++i) {
      Way& way = ways[(turn + i) % ways.size()];
      way.seconds.push_back(way.run());
    }
  }
}

void measure(const fs::path& model, const std::string& backend) {
  const TemporaryFile file((fs::temp_directory_path() / "bench_tracing").string());
  exir::ExportRequest request;
  request.methods.push_back({"forward", model.string()});
  request.lowering.backends = compilers_of(backend);
  const exir::ExportResult result = exir::export_program(request);
  write_file(file.path, result.files.pte.joined());

  RunnerOptions options;
  options.path = file.path;
  options.threads = 1;
  ProgramRunner runner(options);
  Recorder recorder;
  options.profiler = &recorder;
  ProgramRunner profiled(options);
  for (ProgramRunner* each : {&runner, &profiled}) each->set_default_inputs();

  std::vector<TraceRecord> records(result.methods[0].instructions + 1);
  const TraceClock clock;
  TraceRing ring(records, clock.counter());
  std::vector<Way> ways(3);
  ways[0].run = [&] { return timed_run(runner, nullptr); };
  ways[1].run = [&] { return timed_run(runner, &ring); };
  ways[2].run = [&] {
    recorder.start_run();
    return timed_run(profiled, &recorder);
  };
  ways[2].run();
  take_turns(ways, kMostEvents / recorder.runs()[0].size());
  std::printf("| %s | %s | %zu | %.4g | %s | %s |\n", model.stem().c_str(), backend.c_str(),
              result.methods[0].instructions, 1e3 * median(ways[0].seconds),
              cost(ways[1], ways[0]).c_str(), cost(ways[2], ways[0]).c_str());
  std::fflush(stdout);
}

int run(fs::path folder) {
  if (folder.empty()) folder = "build/peers/models";
  if (!fs::is_directory(folder)) folder = TAPER_SOURCE_DIR "/test/models/data";
  std::vector<fs::path> models;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".pt2") models.push_back(entry.path());
  }
  std::sort(models.begin(), models.end());
  std::printf(
      "| model | backend | instructions | ms | ring | all that 'taper profile' records |\n");
  std::printf("|---|---|---|---|---|---|\n");
  std::vector<std::string> backends = {first_backend()};
  if (backends[0] != "portable") backends.push_back("portable");
  for (const std::string& backend : backends) {
    for (const fs::path& model : models) {
      try {
        measure(model, backend);
      } catch (const std::exception& error) {
        std::printf("| %s | %s | | | %s | |\n", model.stem().c_str(), backend.c_str(),
                    error.what());
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace taper::bench

int main(int argc, char** argv) { return taper::bench::run(argc > 1 ? argv[1] : ""); }
