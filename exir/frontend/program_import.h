// The whole program: its main graph with signature, saved tensors and symbol ranges.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exir/frontend/container.h"
#include "exir/ir/graph.h"

namespace taper::exir {

// Appends to `warnings` what is odd but harmless. Throws Failure; with `problems` what is wrong
// with single nodes goes there, and the nodes are refused (mark_refused).
std::unique_ptr<Graph> import_program(Container& container, Budget& budget,
                                      std::vector<std::string>* warnings,
                                      std::vector<Diagnostic>* problems);

}  // namespace taper::exir
