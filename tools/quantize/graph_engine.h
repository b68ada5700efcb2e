// Compiles graphs and runs them in this process, with the kernels and backends of this build.

#pragma once

#include <string>

#include "exir/quantize/engine.h"

namespace taper::tools {

struct EngineOptions {
  std::string backend;   // As for --backend; empty: kernels only.
  uint32_t threads = 0;  // 0: one per fast core, at most four.
};

exir::Engine graph_engine(const EngineOptions& options);

}  // namespace taper::tools
