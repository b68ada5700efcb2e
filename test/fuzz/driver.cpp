// taper_fuzz: mutates seed files with deterministic random numbers and exercises every mutant.
//
//   taper_fuzz --kind pte|pt2|bpte|etdp --runs 200000 [--first N] [--seconds S] [--seed FILE]... [--keep PATH]
//
// Mutant N is always the same file, so `--first N --runs 1` reproduces a failure, and --keep writes
// the mutant to a file. Crash handlers find the number of the current mutant in a global. A mutant
// that takes longer than 20 seconds counts as hung.

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

#include "test/fuzz/exercise.h"
#include "test/fuzz/mutate.h"
#include "test/fuzz/seeds.h"

namespace taper::fuzz {
namespace {

constexpr unsigned kHungSeconds = 20;

// A kind of file. The salt makes mutants of different kinds different; it must not change.
struct Kind {
  const char* name;
  uint64_t salt;
  std::vector<std::string> (*seeds)();
  std::string (*mutate)(const std::string&, Random&);
  bool (*exercise)(std::string_view);
};

template <std::string (*kMutate)(std::string, Random&)>
std::string mutate_copy(const std::string& file, Random& random) {
  return kMutate(file, random);
}

constexpr Kind kKinds[] = {
    {"pte", 0, pte_seeds, mutate_copy<mutate_pte>, exercise_pte},
    {"pt2", 1, pt2_seeds, mutate_pt2, exercise_pt2},
    {"bpte", 0, bpte_seeds, mutate_copy<mutate_bytes>, exercise_bpte},
    {"etdp", 0, etdp_seeds, mutate_copy<mutate_etdp>, exercise_etdp},
};

struct Options {
  const Kind* kind = &kKinds[0];
  std::string keep;
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
  std::fprintf(
      stderr,
      "taper_fuzz: %s\nusage: taper_fuzz [--kind pte|pt2|bpte|etdp] [--runs N] [--first N] "
      "[--seconds S] [--seed FILE]... [--keep PATH]\n",
      problem);
  return 2;
}

// Null if there is none.
const Kind* find_kind(const std::string& name) {
  for (const Kind& kind : kKinds) {
    if (name == kind.name) return &kind;
  }
  return nullptr;
}

bool parse(int argc, char** argv, Options* options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string flag = argv[i];
    const char* value = argv[i + 1];
    if (flag == "--kind")
      options->kind = find_kind(value);
    else if (flag == "--keep")
      options->keep = value;
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
  return run(options);
}
