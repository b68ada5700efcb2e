// What the commands that compile take: models, bounds of symbolic sizes, declared operators.

#pragma once

#include "exir/export.h"
#include "tools/options.h"

namespace taper::tools {

// Options that every such command has.
std::vector<Option> model_options();

// The methods, bounds, declared operators and lowering options that the command line asks for.
// Throws UsageError, or InputError for a file that cannot be read.
exir::ExportRequest model_request(const CommandLine& line);

// The operators of the compiler and those that --ops declares.
exir::Operators operators_of(const CommandLine& line);

// "model.pt2" of a failure that does not name it.
exir::Failure naming_the_file(const exir::ExportRequest& request, const exir::Failure& failure);

}  // namespace taper::tools
