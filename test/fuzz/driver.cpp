// taper_fuzz: mutates seed files with deterministic random numbers and exercises every mutant.
//
//   taper_fuzz --kind pte --runs 200000 [--first N] [--seconds S] [--seed FILE]... [--keep PATH]
//   taper_fuzz --kind pte --write-seeds DIR
//
// Mutant N is always the same file, so `--first N --runs 1` reproduces a failure, and --keep writes
// the mutant to a file. Crash handlers find the number of the current mutant in a global. A mutant
// that takes longer than 20 seconds counts as hung. --write-seeds writes the files that are
// mutated.

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "test/fuzz/kinds.h"

namespace taper::fuzz {
namespace {

constexpr unsigned kHungSeconds = 20;

struct Options {
  const Kind* kind = find_kind("pte");
  std::string keep, seeds_to;
  uint64_t first = 0, runs = 1000, seconds = 0;
  std::vector<std::string> seeds;
};

volatile uint64_t current_mutant = 0;
const char* current_kind = "";

void report(const char* what) {
  char text[160];
  const int n =
      std::snprintf(text, sizeof(text), "taper_fuzz: %s: --kind %s --first %llu --runs 1\n", what,
                    current_kind, static_cast<unsigned long long>(current_mutant));
  if (::write(2, text, static_cast<size_t>(n)) < 0) _exit(3);
}

void on_alarm(int) {
  report("hung");
  std::abort();
}

int usage(const char* problem) {
  std::fprintf(stderr,
               "taper_fuzz: %s\nusage: taper_fuzz [--kind %s] [--runs N] [--first N] [--seconds S] "
               "[--seed FILE]... [--keep PATH] [--write-seeds DIR]\n",
               problem, kind_names().c_str());
  return 2;
}

bool parse(int argc, char** argv, Options* options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    const char* value = argv[i + 1];
    if (flag == "--kind")
      options->kind = find_kind(value);
    else if (flag == "--keep")
      options->keep = value;
    else if (flag == "--write-seeds")
      options->seeds_to = value;
    else if (flag == "--seed")
      options->seeds.push_back(value);
    else if (flag == "--first")
      options->first = std::strtoull(value, nullptr, 10);
    else if (flag == "--runs")
      options->runs = std::strtoull(value, nullptr, 10);
    else if (flag == "--seconds")
      options->seconds = std::strtoull(value, nullptr, 10);
    else
      return false;
  }
  return argc % 2 == 1 && options->kind != nullptr;
}

std::vector<std::string> load_seeds(const Options& options) {
  std::vector<std::string> seeds;
  for (const std::string& path : options.seeds) {
    std::ifstream in(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  if (!seeds.empty()) return seeds;
  return options.kind->seeds();
}

std::string mutant_of(const std::vector<std::string>& seeds, const Kind& kind, uint64_t number) {
  Random random(number * 2 + kind.salt);
  const std::string& seed = seeds[random.below(seeds.size())];
  return kind.mutate(seed, random);
}

int write_seeds(const Options& options) {
  const std::vector<std::string> seeds = load_seeds(options);
  for (size_t i = 0; i < seeds.size(); ++i) {
    const std::string path =
        options.seeds_to + "/" + options.kind->name + "_seed_" + std::to_string(i);
    if (!(std::ofstream(path, std::ios::binary) << seeds[i]).flush()) {
      return usage(("cannot write " + path).c_str());
    }
  }
  return 0;
}

int run(const Options& options) {
  const Kind& kind = *options.kind;
  const std::vector<std::string> seeds = load_seeds(options);
  if (seeds.empty()) return usage("no seeds");
  for (size_t i = 0; i < seeds.size(); ++i) {
    if (kind.exercise(seeds[i])) continue;
    return usage(("seed " + std::to_string(i) + " is not accepted").c_str());
  }
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  uint64_t done = 0, accepted = 0;
  for (; options.runs == 0 || done < options.runs; ++done) {
    if (options.seconds != 0 && elapsed() >= static_cast<double>(options.seconds)) break;
    if (options.runs == 0 && options.seconds == 0) break;
    current_mutant = options.first + done;
    const std::string mutant = mutant_of(seeds, kind, current_mutant);
    if (!options.keep.empty()) std::ofstream(options.keep, std::ios::binary) << mutant;
    ::alarm(kHungSeconds);
    accepted += kind.exercise(mutant);
    ::alarm(0);
  }
  std::printf(
      "taper_fuzz: %s: %llu mutants of %zu seeds, %llu accepted, %.0f s, nothing reported\n",
      kind.name, static_cast<unsigned long long>(done), seeds.size(),
      static_cast<unsigned long long>(accepted), elapsed());
  return 0;
}

}  // namespace
}  // namespace taper::fuzz

// Options of the sanitizers: allocations beyond 64 MB and leaks are findings.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "max_allocation_size_mb=64:detect_leaks=1:abort_on_error=0";
}

#if defined(__SANITIZE_ADDRESS__)
extern "C" void __sanitizer_set_death_callback(void (*callback)());
#endif

int main(int argc, char** argv) {
  using namespace taper::fuzz;
  Options options;
  if (!parse(argc, argv, &options)) return usage("cannot read the command line");
  current_kind = options.kind->name;
  ::signal(SIGALRM, on_alarm);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback([] { report("failed"); });
#endif
  return options.seeds_to.empty() ? run(options) : write_seeds(options);
}
