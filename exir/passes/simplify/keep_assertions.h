// Writes what a program states of its inputs as instructions, which refuse inputs that break it.
//
//     before   range s0 = [4, 100]                  after   %n: int(s0) = aten::sym_size.int(%x, 0)
//              guard "ne(s0, 7)"                            %a: bool(..) = python::ge(%n, 4)
//              input %x: float32[s0]                        taper::assert(%a, "exported for ...")
//              aten::_assert_scalar(%p, "...")              %b: bool(..) = python::ne(%n, 7)
//                                                           taper::assert(%b, "exported for ...")
//                                                           taper::assert(%p, "...")
//
// Runs      before prepare_for_inference, which drops the assertions of PyTorch.
// Does      first of all come the conditions on sizes: dimensions of a dynamic input that are fixed
//           or a function of others, lower bounds that PyTorch checks, and guards. The method holds
//           fixed shapes and upper bounds by itself. Then assertions on data, where they stand.
// Leaves    out what the ranges imply that are checked, literals that are true, and what is said of
//           offsets in memory, which the compiler chooses.
// Cost      one walk.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

// Returns the number of assertions written. Adds a text to `warnings`, if not null, for each guard
// that no sizes of inputs determine.
int keep_assertions(Graph& graph, std::vector<std::string>* warnings = nullptr);

// Whether the call asks how a tensor lies in memory.
bool asks_for_layout(const Node& node);

// Whether calls of the operator become assertions, unless they say nothing.
bool becomes_assertion(std::string_view target);

// For a runtime without taper::assert: removes the assertions again. Returns how many there were.
int drop_assertions(Graph& graph);

}  // namespace taper::exir
