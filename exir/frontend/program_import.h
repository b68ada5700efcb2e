// Imports a whole program: its main graph with signature, saved tensors and symbol ranges.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exir/frontend/container.h"
#include "exir/ir/graph.h"

namespace taper::exir {

// Appends to `warnings` what is unusual but harmless. Throws Failure; with `problems`, errors in
// single nodes are appended there instead, and those nodes are marked as refused (mark_refused).
std::unique_ptr<Graph> import_program(Container& container, Budget& budget,
                                      const Operators& operators,
                                      std::vector<std::string>* warnings,
                                      std::vector<Diagnostic>* problems);

}  // namespace taper::exir
