#include "tools/commands/precision.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>

#include "tools/compare.h"
#include "tools/program_runner.h"

namespace taper::tools {
namespace {

// Sets every input of float32 to numbers of the normal distribution.
void set_normal(ProgramRunner& runner) {
  runner.set_ones();
  std::mt19937 random(1);
  size_t k = 0;  // Of tensors.
  for (size_t i = 0; i < runner.meta().num_inputs(); ++i) {
    if (runner.meta().input_tag(i).value() != Tag::kTensor) continue;
    const TensorInfo info = runner.meta().input_tensor_meta(i).value();
    size_t count = 1;
    for (const int32_t size : info.sizes()) count *= static_cast<size_t>(size);
    if (info.scalar_type() == ScalarType::kFloat) {
      std::normal_distribution<float> normal;
      std::vector<float> values(count);
      for (float& value : values) value = normal(random);
      runner.overwrite_input(k,
                             {reinterpret_cast<const char*>(values.data()), count * sizeof(float)});
    }
    ++k;
  }
}

std::vector<Output> run(const RunnerOptions& options, const std::vector<std::string>& inputs) {
  ProgramRunner runner(options);
  if (inputs.empty()) {
    set_normal(runner);
  } else {
    runner.set_inputs(read_all(inputs), inputs);
  }
  runner.execute();
  return runner.outputs();
}

OutputChange change_of(size_t output, const NpyArray& exact, const NpyArray& rounded) {
  const ArrayDifference difference = difference_of(rounded, exact);
  OutputChange change;
  change.output = output;
  change.largest = difference.largest == 0 ? 0 : difference.largest / difference.scale;
  change.decibels = difference.decibels;
  return change;
}

}  // namespace

std::vector<OutputChange> changes_by_rounding(const std::string& path, const std::string& data_path,
                                              const std::string& method,
                                              const std::vector<std::string>& inputs) {
  RunnerOptions options;
  options.path = path;
  options.data_path = data_path;
  options.method = method;
  options.numbers = Numbers::kExact;
  const std::vector<Output> exact = run(options, inputs);
  options.numbers = Numbers::kRounded;
  const std::vector<Output> rounded = run(options, inputs);
  std::vector<OutputChange> changes;
  for (size_t i = 0; i < exact.size(); ++i) {
    const NpyArray &a = exact[i].array, &b = rounded[i].array;
    if (!exact[i].is_tensor || !is_floating(part_type(a.dtype))) continue;
    OutputChange change = {i, std::numeric_limits<double>::infinity(), 0};
    if (a.shape == b.shape) change = change_of(i, a, b);
    changes.push_back(change);
  }
  return changes;
}

std::string text_of(const OutputChange& change) {
  char text[128];
  std::snprintf(text, sizeof(text), "output %zu changes by %.2g of its largest value, SNR %.1f dB",
                change.output, change.largest, change.decibels);
  return text;
}

}  // namespace taper::tools
