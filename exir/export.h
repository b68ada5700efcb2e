// The compiler in one call: exported programs in, program files out.
//
//   ExportResult result = export_program({{{"forward", "model.pt2"}}});
//   result.files.pte.pieces();   // what belongs into model.pte

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "exir/emit/program_file.h"
#include "exir/frontend/import.h"
#include "exir/lower.h"
#include "exir/memory/placement.h"

namespace taper::exir {

struct ExportRequest {
  struct Method {
    std::string name;  // "forward"
    std::string path;  // of a .pt2
  };
  std::vector<Method> methods;
  bool weights_outside = false;
  // Upper bounds of symbolic sizes by name, in place of the program's own.
  SymValues bounds;
  // A symbolic size without an upper bound is a problem, not a warning.
  bool bounds_required = false;
  // The memories that tensors are divided among, the fastest first; none: all lie in one.
  std::vector<MemoryBuffer> memories;
  LowerOptions lowering;
};

struct ExportedMethod {
  std::string name;
  MemoryPlan plan;  // Without offsets worth reading.
  std::vector<PassReport> passes;
  size_t instructions = 0;
  std::vector<std::string> warnings;
  // Of nodes that a backend was asked for and did not take: why.
  std::unordered_map<const Node*, std::string> outside;
};

struct ExportResult {
  ProgramFiles files;  // Points into the archives, which `programs` keeps open.
  std::vector<ExportedMethod> methods;
  std::vector<ExportedProgram> programs;
};

// Throws Failure with the problems of all stages and methods; the text names the method if there
// are several.
ExportResult export_program(const ExportRequest& request);

}  // namespace taper::exir
