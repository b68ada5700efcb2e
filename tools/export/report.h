// What was made of a program: where each node runs and why, and the memory plan.

#pragma once

#include <string>

#include "exir/export.h"
#include "tools/text/json_writer.h"

namespace taper::tools {

// The text of `taper export --report` for a method, whose lowered graph is `graph`: a line per
// node, then counts.
std::string report_text(const exir::ExportedMethod& method, const exir::Graph& graph,
                        const exir::BackendCompilers& backends);

// "2 nodes need PyTorch's operators (taper run --aten): aten::foo.functional1 x 2"; empty if none
// does.
std::string aten_text(const exir::ExportedMethod& method);

// "forward: 52 instructions, 12.3 KB planned ...".
std::string summary_text(const exir::ExportedMethod& method);

// Adds an object with name, instructions, memory, nodes and text.
void add_method(JsonWriter& json, const exir::ExportedMethod& method, const exir::Graph& graph,
                const exir::BackendCompilers& backends);

}  // namespace taper::tools
