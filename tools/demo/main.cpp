// The program that `make demo` runs. It compiles a trained classifier of handwritten digits for the
// first backend of this build and for the portable kernels, runs it on every test image, and
// compares the results with PyTorch's.
//
//   taper_demo [FOLDER]      FOLDER contains digits.pt2 and the digits_*.npy files; default: demo

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>

#include "exir/export.h"
#include "tools/atomic_file.h"
#include "tools/backends.h"
#include "tools/compare.h"
#include "tools/error.h"
#include "tools/program_runner.h"
#include "tools/text/plan_text.h"
#include "tools/text/terminal.h"

namespace taper::tools {
namespace {

constexpr double kTolerance = 1e-4;

void line(const char* name, const std::string& value) {
  std::printf("%s  %s\n", coloured(stdout, Colour::kBold, std::string(name)).c_str(),
              value.c_str());
}

struct Digits {
  NpyArray images, labels, logits;

  explicit Digits(const std::string& folder)
      : images(read_npy(folder + "/digits_images.npy")),
        labels(read_npy(folder + "/digits_labels.npy")),
        logits(read_npy(folder + "/digits_logits.npy")) {
    const bool fits = images.dtype == ScalarType::kFloat && images.shape.size() == 4 &&
                      logits.dtype == ScalarType::kFloat && logits.shape.size() == 2 &&
                      labels.shape == std::vector<int64_t>{images.shape[0]} &&
                      logits.shape[0] == images.shape[0] && images.shape[0] > 0;
    if (!fits) throw InputError("the dtypes or shapes of the demo's arrays are inconsistent");
  }
  size_t count() const { return static_cast<size_t>(images.shape[0]); }
  size_t classes() const { return static_cast<size_t>(logits.shape[1]); }
  std::string_view image(size_t i) const {
    const size_t bytes = images.data.size() / count();
    return std::string_view(images.data).substr(i * bytes, bytes);
  }
  int label(size_t i) const { return static_cast<int>(element_at(labels.dtype, labels.data, i)); }
};

int best(std::string_view logits) {
  int result = 0;
  for (size_t i = 1; i < logits.size() / sizeof(float); ++i) {
    const double value = element_at(ScalarType::kFloat, logits, i);
    if (value > element_at(ScalarType::kFloat, logits, static_cast<size_t>(result))) {
      result = static_cast<int>(i);
    }
  }
  return result;
}

// Draws images side by side, two characters per pixel, with the program's answer below each.
void draw(const Digits& digits, const std::vector<size_t>& chosen,
          const std::vector<int>& answers) {
  constexpr char kShades[] = " .:-=+*#%@";
  const auto height = static_cast<size_t>(digits.images.shape[2]);
  const auto width = static_cast<size_t>(digits.images.shape[3]);
  for (size_t row = 0; row < height; ++row) {
    std::string text = "  ";
    for (const size_t i : chosen) {
      for (size_t column = 0; column < width; ++column) {
        const double pixel = element_at(ScalarType::kFloat, digits.image(i), row * width + column);
        text.append(2, kShades[static_cast<int>(std::clamp(pixel, 0.0, 1.0) * 9)]);
      }
      text += "    ";
    }
    std::printf("%s\n", text.c_str());
  }
  std::string text = "  ";
  for (const size_t i : chosen) {
    std::string caption =
        "says " + std::to_string(answers[i]) + ", is " + std::to_string(digits.label(i));
    caption.resize(std::max(caption.size(), 2 * width + 4), ' ');
    text += caption;
  }
  std::printf("%s\n\n", text.c_str());
}

std::string percent(size_t part, size_t whole) {
  char text[64];
  std::snprintf(text, sizeof(text), "%.2f %% (%zu of %zu)",
                100.0 * static_cast<double>(part) / static_cast<double>(whole), part, whole);
  return text;
}

struct Results {
  NpyArray logits;
  std::vector<int> answers;
  size_t right = 0, right_in_pytorch = 0;
  double seconds = 0;
};

// Runs every image, one at a time.
Results evaluate(ProgramRunner& runner, const Digits& digits) {
  Results results;
  results.logits = {ScalarType::kFloat, digits.logits.shape, ""};
  const size_t row = digits.classes() * sizeof(float);
  runner.set_ones();
  Progress progress("running", digits.count());
  for (size_t i = 0; i < digits.count(); ++i) {
    runner.overwrite_input(0, digits.image(i));
    results.seconds += runner.execute();
    const std::string logits = runner.outputs().at(0).array.data;
    if (logits.size() != row) throw InputError("the classifier's output has the wrong size");
    results.logits.data += logits;
    results.answers.push_back(best(logits));
    results.right += results.answers.back() == digits.label(i);
    const std::string_view stored = std::string_view(digits.logits.data).substr(i * row, row);
    results.right_in_pytorch += best(stored) == digits.label(i);
    progress.step();
  }
  return results;
}

// One program and the results of running it.
struct Build {
  exir::ExportResult compiled;
  double export_seconds = 0;
  Results results;
  Comparison comparison;
};

// `backend` is a backend's name, or "portable" for Taper's own kernels.
Build build_and_run(const Digits& digits, const std::string& folder, const std::string& target,
                    const std::string& backend) {
  Build build;
  const auto start = std::chrono::steady_clock::now();
  exir::ExportRequest request;
  request.methods = {{"forward", folder + "/digits.pt2"}};
  request.lowering.backends = compilers_of(backend);
  build.compiled = exir::export_program(request);
  build.export_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  OutputFiles out;
  out.add(target, build.compiled.files.pte.pieces());
  out.commit();
  RunnerOptions options;
  options.path = target;
  options.method = "forward";
  options.threads = 1;
  ProgramRunner runner(options);
  build.results = evaluate(runner, digits);
  build.comparison = compare(build.results.logits, digits.logits, kTolerance);
  return build;
}

std::string speed_text(const Build& build, const Digits& digits) {
  return time_text(build.results.seconds / static_cast<double>(digits.count()));
}

int run(const std::string& folder) {
  const Digits digits(folder);
  const std::string target = "build/digits.pte", portable_target = "build/digits_portable.pte";
  const bool is_fast = !backend_devices().empty();  // Whether a backend is available.
  const std::string backend = is_fast ? backend_devices()[0]->identity.name : "portable";
  const Build fast = build_and_run(digits, folder, target, backend);
  const Build portable =
      is_fast ? build_and_run(digits, folder, portable_target, "portable") : Build();
  const size_t n = digits.count();
  draw(digits, {0, n / 3, 2 * n / 3}, fast.results.answers);
  line("accuracy", percent(fast.results.right, n) + ", in PyTorch " +
                       percent(fast.results.right_in_pytorch, n));
  line("logits  ", fast.comparison.text + " (against PyTorch's)");
  line("export  ", time_text(fast.export_seconds) + ", no Python");
  line("file    ", target + ", " + bytes_text(static_cast<double>(fast.compiled.files.pte.size())));
  const Build& planned = is_fast ? portable : fast;
  line("memory  ", plan_text(planned.compiled.methods.at(0).plan) + ", without a backend");
  if (is_fast) {
    line("speed   ", speed_text(fast, digits) + " per image with " + backend + ", " +
                         speed_text(portable, digits) + " without, one thread");
  } else {
    line("speed   ", speed_text(fast, digits) +
                         " per image, one thread, on Taper's own kernels: this build has no "
                         "backend; scripts/deps.sh backends builds them in a few minutes");
  }
  if (fast.comparison.equal && (!is_fast || portable.comparison.equal)) return 0;
  throw InputError("the numbers differ from PyTorch's");
}

}  // namespace
}  // namespace taper::tools

int main(int argc, char** argv) {
  try {
    return taper::tools::run(argc > 1 ? argv[1] : "demo");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "taper_demo: error: %s\n", error.what());
    return 1;
  }
}
