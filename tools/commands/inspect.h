// The readers behind `taper inspect`.

#pragma once

#include <string>

#include "exir/ir/graph.h"
#include "tools/pte_summary.h"

namespace taper::tools {

// Verifies the program as the runtime does, then reads its tables. Throws InputError.
PteSummary inspect_pte(const std::string& path);

// Prints the contents of an exported program; `model` names one of several in the archive. Throws
// what the front end throws.
int inspect_pt2(const std::string& path, const std::string& model, bool as_json);

// Prints the program lowered to a dialect: "aten", "core", "edge" or "backend". Throws UsageError
// for any other name, and what the compiler throws.
int inspect_dialect(const std::string& path, const std::string& model, const std::string& dialect,
                    const exir::Operators& operators);

}  // namespace taper::tools
