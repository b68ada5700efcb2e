// The entry point of the front end: an exported program on disk becomes a Graph in the ATen
// dialect.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "exir/frontend/blob.h"
#include "exir/ir/graph.h"
#include "exir/ops/builtin.h"

namespace taper::exir {

struct ExportedProgram {
  std::unique_ptr<Graph> graph;
  std::string torch_version;  // The PyTorch that wrote it: "2.13.0+cpu".
  int schema_major = 0, schema_minor = 0;
  std::vector<std::string> verifiers;  // {"TRAINING"} as exported, {"ATEN"} after decomposition.
  std::string container;               // "pt2 archive, raw weights", ...
  std::vector<std::string> models;     // Names of all models in the archive.
  std::vector<std::string> warnings;
};

struct ImportOptions {
  std::string_view model = {};  // Selects one of several models in the archive.
  Operators operators = builtin_operators();
  // Errors in single nodes are appended here, and those nodes are marked as refused (mark_refused
  // in ir/graph.h). Null: they throw.
  std::vector<Diagnostic>* problems = nullptr;
  // The archive, if it is in memory: `path` is then only its name in messages. The graph keeps the
  // owner, and weights stay where they are: nobody may change these bytes while the graph lives.
  Blob file = {};
};

// Reads what torch.export.save of PyTorch 2.6 to 2.15 wrote. Weights stay in the mapped file, which
// the graph keeps open: the file must not be truncated while the graph lives.
//
// Throws Failure for a file that is damaged or of another kind; what() is one line that starts with
// `path`.
ExportedProgram import_pt2(const std::string& path, const ImportOptions& options = {});

// The names of the models in an archive, sorted; `file` as in ImportOptions. Throws Failure as
// import_pt2() does.
std::vector<std::string> model_names(const std::string& path, const Blob& file = {});

}  // namespace taper::exir
