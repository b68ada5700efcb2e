// How the quantiser runs programs: the command hands in a function that compiles a graph for the
// kernels and backends of this machine.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

// One input of one sample: elements in row-major order.
struct SampleTensor {
  ScalarType dtype = ScalarType::kFloat;
  std::vector<int64_t> sizes;
  std::string bytes;
};
// One for each tensor that the program takes, in order.
using Sample = std::vector<SampleTensor>;

// How long a run takes, in seconds: on the whole, and by the names of nodes. Medians.
struct RunTimes {
  double whole = 0;
  std::map<std::string, double> nodes;
};

// A program that is ready to run. Functions throw Failure, or what the command's own code throws.
class LoadedProgram {
 public:
  virtual ~LoadedProgram() = default;
  virtual void run(const Sample& sample) = 0;
  // An output of the last run, by its place in Graph::outputs.
  virtual SampleTensor output(size_t place) = 0;
  // Runs a sample again and again.
  virtual RunTimes times(const Sample& sample) = 0;
};

// Compiles and loads the graph, which is changed.
using Engine = std::function<std::unique_ptr<LoadedProgram>(Graph& graph)>;

}  // namespace taper::exir
