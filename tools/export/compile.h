// What `taper export` and the compiler's C API (taper/compiler.h) have in common: one table of
// options, one parser, one way to compile.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "exir/delegate/compiler_descriptor.h"
#include "exir/export.h"
#include "tools/model_arguments.h"
#include "tools/options.h"

namespace taper::tools {

struct CompileOptions {
  exir::ExportRequest request;
  uint64_t budget = UINT64_MAX;                        // --memory-budget
  exir::Numerals numerals = exir::Numerals::kFloat32;  // --precision
  bool full_delegation = false;
};

// The options that decide how programs are compiled; those that say which are model_options().
std::vector<Option> compile_options();

// Reads both. `in_memory` are programs besides the files that the line names. Throws UsageError, or
// InputError for a file that cannot be read.
CompileOptions compile_options_of(const CommandLine& line, const Methods& in_memory = {});

// The passes that an option names. Throws a UsageError for one that does not exist; "all" exists if
// `allow_all` says so.
std::vector<std::string> passes_of(const CommandLine& line, const std::string& option,
                                   bool allow_all);

// Throws exir::Failure with the problems of the programs, or if the result needs more memory than
// the budget allows.
exir::ExportResult compile(const CompileOptions& options);

}  // namespace taper::tools
