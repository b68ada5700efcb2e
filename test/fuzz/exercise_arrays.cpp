// Exercises files of arrays: read, used as calibration samples, and written again.

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "exir/ir/graph.h"
#include "exir/ops/builtin.h"
#include "test/fuzz/exercise.h"
#include "test/fuzz/scratch_file.h"
#include "tools/error.h"
#include "tools/npy.h"
#include "tools/quantize/samples.h"
#include "tools/tensor_bytes.h"

namespace taper::fuzz {
namespace {

// Inputs that most arrays of the seeds fit, as they are or stacked.
std::unique_ptr<exir::Graph> graph_with(const std::string& inputs) {
  return exir::parse_graph("graph \"g\" {\n" + inputs + "  return %x\n}");
}

// What is written of an array is what was read.
void check_array(const tools::NpyArray& array) {
  const size_t element = element_size(array.dtype);
  constexpr size_t kMostRead = 1000;
  const size_t count = std::min(array.data.size() / element, kMostRead);
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += tools::element_at(array.dtype, array.data, i);
  volatile double used = sum;
  static_cast<void>(used);
  const std::string again = tools::npy_bytes(array.dtype, array.shape, array.data);
  const tools::NpyArray read = tools::parse_npy(again, "again");
  if (read.dtype != array.dtype || read.shape != array.shape || read.data != array.data) {
    std::abort();
  }
}

void use_as_samples(const std::string& path, const exir::Graph& graph) {
  try {
    static_cast<void>(tools::read_samples(path, graph));
  } catch (const tools::InputError&) {  // They are not what the graph takes.
  }
}

}  // namespace

bool exercise_npy(std::string_view file) {
  // An allocation of its own, so that a sanitizer detects any access past the end.
  const std::vector<char> bytes(file.begin(), file.end());
  try {
    check_array(tools::parse_npy({bytes.data(), bytes.size()}, "mutant"));
  } catch (const tools::InputError&) {
    return false;
  }
  static const auto graph = graph_with("  input %x: float32[s0, s1]\n");
  const ScratchFile scratch("taper_fuzz", file, ".npy");
  use_as_samples(scratch.path(), *graph);
  return true;
}

bool exercise_npz(std::string_view file) {
  const ScratchFile scratch("taper_fuzz", file, ".npz");
  try {
    for (const tools::NamedArray& each : tools::read_npz(scratch.path(), "arrays")) {
      check_array(each.array);
    }
  } catch (const tools::InputError&) {
    return false;
  }
  static const auto graph = graph_with("  input %x: float32[s0, 3]\n  input %y: int64[s0]\n");
  use_as_samples(scratch.path(), *graph);
  return true;
}

}  // namespace taper::fuzz
