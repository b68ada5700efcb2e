// The compiler in one call: exported programs in, program files out.
//
//   ExportResult result = export_program({{{"forward", "model.pt2"}}});
//   result.files.pte.pieces();   // what belongs into model.pte

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exir/emit/program_file.h"
#include "exir/frontend/import.h"
#include "exir/lower.h"
#include "exir/memory/placement.h"
#include "exir/memory/storage.h"
#include "exir/ops/builtin.h"

namespace taper::exir {

struct ExportRequest {
  struct Method {
    std::string name;        // "forward"
    std::string path;        // of a .pt2
    std::string model = {};  // of an archive with several; empty: the only one
    Blob file = {};          // the archive, if it is in memory: `path` is then only its name
  };
  std::vector<Method> methods;
  // What the programs may call; those of declare_operators() (ops/declare.h), if any are declared.
  Operators operators = builtin_operators();
  bool weights_outside = false;
  DebugLevel debug = DebugLevel::kNone;
  // Upper bounds of symbolic sizes by name, in place of the programs' own. Each must be of a symbol
  // of at least one method.
  SymValues bounds;
  // A symbolic size without an upper bound is a problem, not a warning.
  bool bounds_required = false;
  // The memories among which tensors are divided, the fastest first; empty: there is only one.
  std::vector<MemoryBuffer> memories;
  // Where inputs and outputs lie.
  IoMemory io = IoMemory::kPlanned;
  LowerOptions lowering;
};

struct ExportedMethod {
  std::string name;
  MemoryPlan plan;  // For its sizes and lower bound.
  std::vector<PassReport> passes;
  size_t instructions = 0;
  std::vector<std::string> warnings;
  Delegation delegation;  // What the backends took, and why not the rest.
  // With LowerOptions::aten: the kernels that nothing here has, and how often each is called.
  std::map<std::string, size_t> by_aten;
};

struct ExportResult {
  ProgramFiles files;  // Points into the archives, which `programs` keeps open.
  std::vector<ExportedMethod> methods;
  std::vector<ExportedProgram> programs;
};

// Schedules a lowered graph, plans its memory, and checks the plan. `graph`, which is changed, must
// outlive the result. Throws Failure if a size has no upper bound.
PlannedMethod plan_method(const std::string& name, Graph& graph,
                          const std::vector<MemoryBuffer>& memories = {},
                          IoMemory io = IoMemory::kPlanned);

// Throws Failure with the problems of all stages and methods; the text names the method if there
// are several.
ExportResult export_program(const ExportRequest& request);

}  // namespace taper::exir
