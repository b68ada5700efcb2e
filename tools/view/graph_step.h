// A graph of the compiler as a step of what `taper view` shows.

#pragma once

#include "exir/ir/graph.h"
#include "tools/view/document.h"

namespace taper::tools {

// Bodies of control flow become boxes within it.
ViewStep graph_step(const exir::Graph& graph, ViewDocument& document);

// "float32 (s0, 3)", "int = s0".
std::string view_type(const exir::Value& value);

// "encoder.layers.0" as its parts.
std::vector<std::string> boxes_of_module(std::string_view module);

}  // namespace taper::tools
