// Compiles graphs and runs them in this process, with the kernels and backends of this build.

#pragma once

#include <optional>
#include <string>

#include "exir/dialect/verifier.h"
#include "exir/quantize/engine.h"
#include "taper/module.h"

namespace taper::tools {

struct EngineOptions {
  std::string backend;                     // As for --backend: "portable" is kernels only.
  uint32_t threads = 0;                    // 0: one per fast core, at most four.
  bool optimized = true;                   // False: portable kernels only.
  std::optional<exir::Dialect> from = {};  // As LowerOptions has it.
  exir::SymValues bounds = {};             // As ExportRequest has them.
  uint64_t max_memory_bytes = UINT64_MAX;  // As ModuleOptions has them.
  uint64_t max_instructions = ModuleOptions().max_instructions;
  bool timed = false;  // Programs tell of the times of nodes, and are a little slower.
};

exir::Engine graph_engine(const EngineOptions& options);

}  // namespace taper::tools
