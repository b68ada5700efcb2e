// Measures the time and memory of `taper export`, in a fresh process each time, as users run it.
//
//   bench_export [FOLDER]     default: build/models (make models), else test/models/data
//
// Wall time is the median of 9 runs of the whole command, start to exit; memory is the peak
// resident set, which includes the pages of the mapped .pt2.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/text/terminal.h"

namespace taper::bench {
namespace {

namespace fs = std::filesystem;
constexpr int kRuns = 9;

struct Figures {
  double seconds = 0;
  double peak_bytes = 0;
};

// Returns false if the command fails.
bool export_once(const std::string& taper, const std::string& model, Figures* figures) {
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, 1);
    ::dup2(null, 2);
    ::execl(taper.c_str(), "taper", "export", model.c_str(), "-o", "build/bench.pte", nullptr);
    ::_exit(127);
  }
  int status = 0;
  struct rusage usage {};
  if (child < 0 || ::wait4(child, &status, 0, &usage) != child) return false;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  *figures = {passed.count(), static_cast<double>(usage.ru_maxrss) * 1024};
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void measure(const std::string& taper, const fs::path& model) {
  std::vector<double> seconds;
  Figures figures;
  for (int i = 0; i < kRuns; ++i) {
    if (!export_once(taper, model.string(), &figures)) {
      std::printf("%-28s cannot be exported\n", model.stem().c_str());
      return;
    }
    seconds.push_back(figures.seconds);
  }
  std::sort(seconds.begin(), seconds.end());
  const auto size = static_cast<double>(fs::file_size(model));
  std::printf("%-28s %10s %12s %12s  %4.2f x file\n", model.stem().c_str(),
              tools::bytes_text(size).c_str(), tools::time_text(seconds[kRuns / 2]).c_str(),
              tools::bytes_text(figures.peak_bytes).c_str(), figures.peak_bytes / size);
}

int run(int argc, char** argv) {
  // scripts/bench.sh passes options of Google Benchmark, which this program ignores.
  std::string folder = argc > 1 && argv[1][0] != '-' ? argv[1] : "";
  if (folder.empty()) folder = fs::exists("build/models") ? "build/models" : "test/models/data";
  const std::string taper = (fs::path(argv[0]).parent_path() / "taper").string();
  std::vector<fs::path> models;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".pt2") models.push_back(entry.path());
  }
  std::sort(models.begin(), models.end());
  std::printf("%-28s %10s %12s %12s\n", "model", "file", "export", "peak memory");
  for (const fs::path& model : models) measure(taper, model);
  return 0;
}

}  // namespace
}  // namespace taper::bench

int main(int argc, char** argv) { return taper::bench::run(argc, argv); }
