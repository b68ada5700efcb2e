// Graphs of tests, which write and compare only what stands between the braces.

#pragma once

#include <memory>
#include <string>

#include "exir/ir/graph.h"
#include "exir/ops/builtin.h"

namespace taper::exir {

// The graph "g" with that body, in the syntax of parse_graph().
inline std::unique_ptr<Graph> parse_body(const std::string& body,
                                         const Operators& operators = builtin_operators()) {
  return parse_graph("graph \"g\" {\n" + body + "\n}", operators);
}

// The body of a graph as print() writes it, a statement in each line.
inline std::string print_body(const Graph& graph) {
  std::string text = print(graph);
  text.erase(0, text.find("graph"));
  text.erase(0, text.find('\n') + 1);
  return text.substr(0, text.rfind('}'));
}

}  // namespace taper::exir
