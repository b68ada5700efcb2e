// Arguments of the commands that compile: models, bounds of symbolic sizes, declared operators.

#pragma once

#include "exir/export.h"
#include "tools/options.h"

namespace taper::tools {

using Methods = std::vector<exir::ExportRequest::Method>;

// The options that every such command has.
std::vector<Option> model_options();

// The methods, bounds and declared operators that the command line specifies, after methods whose
// archives are in memory. Throws UsageError, or InputError for a file that cannot be read.
exir::ExportRequest model_request(const CommandLine& line, const Methods& in_memory = {});

// Parses what --bound takes: {"s77=128", "s12=4"}. Throws UsageError.
exir::SymValues symbol_bounds(const std::vector<std::string>& items);

// The built-in operators and those that --ops declares.
exir::Operators operators_of(const CommandLine& line);

// Prefixes a failure with the name of the model file, unless the failure names it already.
exir::Failure naming_the_file(const exir::ExportRequest& request, const exir::Failure& failure);

}  // namespace taper::tools
