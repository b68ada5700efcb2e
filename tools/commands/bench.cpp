// taper bench: measures how long opening, loading and running take, and the memory used.

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "tools/commands.h"
#include "tools/error.h"
#include "tools/memory/resident_memory.h"
#include "tools/npy.h"
#include "tools/options.h"
#include "tools/program_runner.h"
#include "tools/text/json_writer.h"
#include "tools/text/terminal.h"

namespace taper::tools {
namespace {

CommandLine describe() {
  return {
      "taper bench",
      "Times a .pte: open, load, first run, steady state.\n\n"
      "Runs for at least --seconds and at least 5 times after a warm-up. Without --inputs every\n"
      "tensor is full of ones.\n",
      "FILE.pte [OPTIONS]",
      {{"Bench",
        {{"m,method", "The method to run; default: forward, or the only one", "NAME"},
         {"i,inputs", "Tensor inputs in order", "A.npy,B.npy"},
         {"n,iterations", "Run exactly N times instead", "N"},
         {"seconds", "Run for at least this long", "S", "1"},
         {"t,threads", "Threads for kernels and backends", "N", "1"},
         {"portable-only", "Do not use the kernels optimized for this processor"},
         {"warmup", "Runs before the measurement starts", "N", "2"},
         {"cache",
          "Save what backends prepare (packed weights, compiled shaders) beside FILE.pte, and use "
          "it; an existing file of packed weights is used without this, too"},
         {"no-mmap",
          "Read the files into memory instead of mapping them: they may change meanwhile"},
         {"w,external-weights", "The .ptd that belongs to the program", "W.ptd"},
         {"json", "Print JSON: seconds and bytes"}}}}};
}

struct Figures {
  double open = 0, load = 0, first = 0;
  double cpu = 0;            // Mean CPU time of a run, over all threads of the process.
  std::vector<double> runs;  // Sorted.
  uint64_t planned_bytes = 0, method_bytes = 0;
  uint64_t idle_bytes = 0, peak_bytes = 0;  // Resident memory before opening, and at the peak.

  double at(double fraction) const {
    return runs[static_cast<size_t>(fraction * static_cast<double>(runs.size() - 1))];
  }
};

Figures measure(ProgramRunner& runner, uint64_t warmup, uint64_t iterations, double seconds) {
  Figures figures;
  figures.open = runner.open_seconds();
  figures.load = runner.load_seconds();
  figures.first = runner.execute();
  for (uint64_t i = 0; i < warmup; ++i) runner.execute();
  double total = 0;
  const auto enough = [&] {
    if (iterations != 0) return figures.runs.size() >= iterations;
    return figures.runs.size() >= 5 && total >= seconds;
  };
  const std::clock_t start = std::clock();
  while (!enough()) {
    figures.runs.push_back(runner.execute());
    total += figures.runs.back();
  }
  figures.cpu = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC /
                static_cast<double>(figures.runs.size());
  std::sort(figures.runs.begin(), figures.runs.end());
  figures.method_bytes = runner.meta().method_bytes();
  for (size_t i = 0; i < runner.meta().num_memory_planned_buffers(); ++i) {
    figures.planned_bytes += runner.meta().memory_planned_buffer_size(i).value();
  }
  return figures;
}

void print_json(const Figures& figures) {
  JsonWriter json;
  json.open('{').key("open_s").number(figures.open).key("load_s").number(figures.load);
  json.key("first_s").number(figures.first);
  json.key("runs").number(static_cast<int64_t>(figures.runs.size()));
  json.key("min_s").number(figures.at(0)).key("median_s").number(figures.at(0.5));
  json.key("p90_s").number(figures.at(0.9)).key("max_s").number(figures.at(1));
  json.key("cpu_s").number(figures.cpu);
  json.key("planned_bytes").number(static_cast<int64_t>(figures.planned_bytes));
  json.key("method_bytes").number(static_cast<int64_t>(figures.method_bytes));
  json.key("idle_resident_bytes").number(static_cast<int64_t>(figures.idle_bytes));
  json.key("peak_resident_bytes").number(static_cast<int64_t>(figures.peak_bytes));
  json.close('}');
  std::printf("%s\n", json.str().c_str());
}

void print_text(const Figures& figures) {
  const auto line = [](const char* name, const std::string& value) {
    std::printf("%-12s %s\n", name, value.c_str());
  };
  line("open", time_text(figures.open) + "  (verify the file)");
  line("load", time_text(figures.load) + "  (bind kernels, lay out memory)");
  line("first run", time_text(figures.first));
  line("steady", "min " + time_text(figures.at(0)) + ", median " + time_text(figures.at(0.5)) +
                     ", p90 " + time_text(figures.at(0.9)) + "  (" +
                     std::to_string(figures.runs.size()) + " runs)");
  line("CPU time", time_text(figures.cpu) + " per run, over all threads");
  line("memory", bytes_text(static_cast<double>(figures.planned_bytes)) + " planned, " +
                     bytes_text(static_cast<double>(figures.method_bytes)) + " method block");
  if (figures.peak_bytes == 0) return;
  line("resident", bytes_text(static_cast<double>(figures.peak_bytes)) + " at the peak, " +
                       bytes_text(static_cast<double>(figures.idle_bytes)) + " before opening");
}

}  // namespace

int bench_command(int argc, char** argv) {
  CommandLine line = describe();
  if (!line.parse(argc, argv)) return 0;
  const uint64_t iterations =
      line.given("iterations") ? line.integer("iterations", 1, 100'000'000) : 0;
  const uint64_t warmup = line.integer("warmup", 0, 1'000'000);
  const double seconds = line.number("seconds", 0, 86400);
  const auto threads = static_cast<uint32_t>(line.integer("threads", 1, 1024));
  const uint64_t idle_bytes = resident_memory().now_bytes;
  RunnerOptions options = {line.file(), line.text("external-weights"), line.text("method"),
                           threads,     !line.given("portable-only"),  line.given("cache")};
  options.map_files = !line.given("no-mmap");
  ProgramRunner runner(options);
  print_note(runner.cache_note());
  print_note(runner.device_note());
  const std::vector<std::string> names = line.list("inputs");
  if (line.given("inputs")) {
    runner.set_inputs(read_all(names), names);
  } else {
    runner.set_default_inputs();
  }
  Figures figures = measure(runner, warmup, iterations, seconds);
  figures.idle_bytes = idle_bytes;
  figures.peak_bytes = resident_memory().peak_bytes;
  if (line.given("json")) {
    print_json(figures);
  } else {
    print_text(figures);
  }
  return 0;
}

}  // namespace taper::tools
