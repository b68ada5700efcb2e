// An exported program of which every tensor can be seen: by the exporter's names, in the order of
// execution, computed by the portable kernels or by a backend.
//
// The program is compiled anew for each run, with the wanted tensors as its outputs. Tensors that
// are given become inputs for those that read them: with the values of another program given, each
// node shows what it makes of that program's values, and its error is its own.

#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "exir/ops/builtin.h"
#include "tools/npy.h"
#include "tools/quantize/graph_engine.h"

namespace taper::tools {

struct ReferenceOptions {
  std::string path;
  std::string model;  // Of an archive with several.
  exir::Operators operators = exir::builtin_operators();
  bool exact = false;  // Computes float32 in float64.
  // The largest sizes of the tensor inputs, which bound symbolic sizes.
  std::vector<std::vector<int64_t>> input_sizes;
  exir::SymValues bounds;  // Those of other symbols.
};

// A result of a node.
struct ReferenceTensor {
  std::vector<std::string> names;  // At least one.
  std::string op, module, line;    // As Origin has them (exir/emit/debug_info.h).
  ScalarType dtype = ScalarType::kFloat;
  bool is_random = false;     // Two runs may differ.
  bool reads_inputs = false;  // Of the program, in the same way.
  std::vector<size_t> reads;  // The tensors that its node reads, through values without names.
};

// Whether a tensor of dtype `given` can take the place of one of `dtype`.
bool can_replace(ScalarType given, ScalarType dtype);

struct ReferenceRun {
  const std::vector<NpyArray>& inputs;  // Of the program, as many as it takes.
  std::vector<size_t> wanted;
  std::map<size_t, const NpyArray*> given = {};
  // What runs it: a backend, as for --backend, or the portable kernels.
  std::string backend = "portable";
};

// What a tensor is computed from: tensors that are seen, and unseen ones in between.
struct Cone {
  std::set<size_t> from, between;
  bool reads_inputs = false;
};

class Reference {
 public:
  // Throws what the compiler throws.
  explicit Reference(ReferenceOptions options);

  const std::vector<ReferenceTensor>& tensors() const { return tensors_; }
  // The tensor that each output is; negative for one that no node computes.
  const std::vector<int64_t>& outputs() const { return outputs_; }

  // `seen` is not negative for tensors that are seen.
  Cone cone_of(size_t tensor, const std::vector<int64_t>& seen) const;

  // The wanted tensors, in the order in which they are asked for. Throws what the compiler throws,
  // and InputError if it does not run.
  std::vector<NpyArray> run(const ReferenceRun& run) const;

 private:
  std::unique_ptr<exir::Graph> fresh() const;

  ReferenceOptions options_;
  std::vector<ReferenceTensor> tensors_;
  std::vector<int64_t> outputs_;
};

// With other elements of the same count; floating-point numbers are rounded to nearest.
NpyArray converted(const NpyArray& array, ScalarType dtype);

}  // namespace taper::tools
