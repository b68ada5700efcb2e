// The front end's door: an exported program on disk becomes a Graph in the ATen dialect.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

struct ExportedProgram {
  std::unique_ptr<Graph> graph;
  std::string torch_version;  // Of the writer: "2.13.0+cpu".
  int schema_major = 0, schema_minor = 0;
  std::vector<std::string> verifiers;  // {"TRAINING"} as exported, {"ATEN"} after decomposition.
  std::string container;               // "pt2 archive, raw weights", ...
  std::vector<std::string> models;     // All that the archive holds.
  std::vector<std::string> warnings;
};

// Reads what torch.export.save of PyTorch 2.6 to 2.14 wrote. `model` names one of several in the
// archive. Weights stay in the mapped file, which the graph keeps open: it must not be cut short
// while the graph lives.
//
// Throws Failure, its what() one line that starts with `path`, for every file that is something
// else or is damaged.
// With `problems`, what is wrong with single nodes goes there instead, and those nodes are refused
// (ir/graph.h, mark_refused).
ExportedProgram import_pt2(const std::string& path, std::string_view model = "",
                           std::vector<Diagnostic>* problems = nullptr);

}  // namespace taper::exir
