// Groups of nodes that a backend takes become delegate calls.
//
//     before   %a = aten::convolution(%x, ...)         after   %b = delegate::call(0, [%x])
//              %b = aten::relu(%a)
//
// One call is better than many. A node's level is how often the way to it leaves the backend and
// comes back; all nodes of a level form one group, since no way from one to another leads outside.
// Groups that do not pay are given up, which may let others grow together.
//
// Runs      in Edge, last of the passes that see values.
// Keeps     types of all values; the order of nodes that draw random numbers.
// Cost      one walk per group that is given up.

#pragma once

#include <functional>
#include <string>

#include "exir/delegate/backend_compiler.h"

namespace taper::exir {

// Told of every node that stays outside, and why.
using NoteOutside = std::function<void(const Node& node, const std::string& why)>;

// Which groups become calls.
enum class Groups { kThatPay, kAll };

struct PartitionOptions {
  Groups groups = Groups::kThatPay;
  bool for_executorch = false;  // As Part has it.
};

// Returns the number of nodes that went into delegates. Bodies of control flow stay outside.
int partition(Graph& graph, const BackendCompiler& backend, const PartitionOptions& options,
              const NoteOutside& outside);

}  // namespace taper::exir
