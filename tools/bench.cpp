// taper bench: how long opening, loading and running take, and how much memory.

#include <algorithm>
#include <cstdio>

#include "tools/commands.h"
#include "tools/error.h"
#include "tools/json_writer.h"
#include "tools/npy.h"
#include "tools/options.h"
#include "tools/program_runner.h"
#include "tools/terminal.h"

namespace taper::tools {
namespace {

cxxopts::Options describe() {
  cxxopts::Options o("taper bench",
                     "Times a .pte on one thread: open, load, first run, steady state.\n\n"
                     "Runs for at least --seconds and at least 5 times after a warm-up. Inputs are\n"
                     "ones unless given.\n");
  o.custom_help("FILE.pte [OPTIONS]");
  o.positional_help("");
  o.add_options("Bench")
      ("m,method", "The method to run (default: forward, or the only one)",
       cxxopts::value<std::string>()->default_value(""), "NAME")
      ("i,inputs", "Tensor inputs in order", cxxopts::value<std::string>()->default_value(""),
       "A.npy,B.npy")
      ("n,iterations", "Run exactly N times instead",
       cxxopts::value<uint64_t>()->default_value("0"), "N")
      ("seconds", "Run at least so long", cxxopts::value<double>()->default_value("1"), "S")
      ("warmup", "Runs before the clock starts", cxxopts::value<uint64_t>()->default_value("2"),
       "N")
      ("w,external-weights", "The .ptd that belongs to the program",
       cxxopts::value<std::string>()->default_value(""), "W.ptd")
      ("json", "Print JSON: seconds and bytes");
  o.add_options("Other")("h,help", "Print this text");
  o.add_options("Hidden")("file", "", cxxopts::value<std::vector<std::string>>());
  o.parse_positional({"file"});
  return o;
}

struct Figures {
  double open = 0, load = 0, first = 0;
  std::vector<double> runs;  // Sorted.
  uint64_t planned_bytes = 0, method_bytes = 0;

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
  while (!enough()) {
    figures.runs.push_back(runner.execute());
    total += figures.runs.back();
  }
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
  json.key("planned_bytes").number(static_cast<int64_t>(figures.planned_bytes));
  json.key("method_bytes").number(static_cast<int64_t>(figures.method_bytes)).close('}');
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
  line("memory", bytes_text(static_cast<double>(figures.planned_bytes)) + " planned, " +
                     bytes_text(static_cast<double>(figures.method_bytes)) + " method block");
}

}  // namespace

int bench_command(int argc, char** argv) {
  cxxopts::Options described = describe();
  const auto parsed = parse_options(described, {"Bench", "Other"}, argc, argv);
  if (!parsed) return 0;
  const cxxopts::ParseResult& given = *parsed;
  ProgramRunner runner({one_file(given, "file"), given["external-weights"].as<std::string>(),
                        given["method"].as<std::string>()});
  const std::vector<std::string> names = split_list(given["inputs"].as<std::string>());
  if (names.empty()) {
    runner.set_ones();
  } else {
    std::vector<NpyArray> arrays;
    for (const std::string& name : names) arrays.push_back(read_npy(name));
    runner.set_inputs(arrays, names);
  }
  const double seconds = given["seconds"].as<double>();
  if (!(seconds >= 0 && seconds <= 86400)) throw UsageError("--seconds must be 0 to 86400");
  const Figures figures = measure(runner, given["warmup"].as<uint64_t>(),
                                  given["iterations"].as<uint64_t>(), seconds);
  given.count("json") ? print_json(figures) : print_text(figures);
  return 0;
}

}  // namespace taper::tools
