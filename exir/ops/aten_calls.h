// Calls that are left to PyTorch's own operators, for a runtime that has them (aten/README.md).
//
// A call without a kernel here, of which the program states the types of all results, can be left
// to them: its operator becomes "by_aten::aten::foo", which no pass knows and none looks into. In
// the end it is a call of the operator's functional form, whose results are out arguments:
//
//   %y = aten::foo(%x, 2)           stated in the file
//   %y = by_aten::aten::foo(%x, 2)  from when it is known that nothing here computes it
//   %y = aten::foo.functional2(%x, 2)
//
// The name says how many arguments there are, and that none is written: an operator that nobody has
// declared is found only if the program states all of them, or none that has a default. If one of
// its results is a list, there is one out argument: the list of all result tensors. If one of its
// numbers is complex, all are 0-d tensors, and the name ends in "_of_tensors". No kernel
// of a program has such a name, so an operator that has a kernel can be called in this way for
// dtypes that the kernel does not take.

#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "exir/ir/graph.h"

namespace taper::exir {

// Whether calls are left to them; layers in training mode then do what they do in PyTorch.
enum class Aten : bool { kNo, kYes };

// Why a call, refused or not, cannot be left to PyTorch's operators; empty if it can.
std::string why_not_aten(const Node& node, const OperatorRegistry& operators);

// REQUIRES: why_not_aten() is empty.
void leave_to_aten(Node& node, const OperatorRegistry& operators);
bool is_left_to_aten(const Node& node);

// Whether some number of the call is complex, which programs hold as a tensor: all its numbers are
// to be 0-d tensors then.
bool takes_numbers_as_tensors(const Node& node);

// Makes a call that was left to PyTorch's operators one of the functional form.
void call_functional_form(Node& node, const OperatorRegistry& operators);

// The kernel calls of a lowered graph that only PyTorch's operators, or the application, can have
// kernels for: how often each is called.
std::map<std::string, size_t> calls_of_aten(Graph& graph);

}  // namespace taper::exir
