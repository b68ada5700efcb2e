// Groups of nodes that backends take become delegate calls.
//
//     before   %a = aten::convolution(%x, ...)         after   %b = delegate::call(0, [%x])
//              %b = aten::relu(%a)
//
// Fewer calls are better. The level of a node is how often a path to it leaves the backend and
// comes back; all nodes of a level form one group, since no path between them leads outside. Groups
// that do not pay are given up, which may let others merge. With several backends, each is offered
// what those before it left.
//
// Runs      in Edge, after all passes that change values.
// Keeps     types of all values; the order of nodes that draw random numbers.
// Cost      one walk per group that is given up.

#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "exir/delegate/backend_compiler.h"

namespace taper::exir {

// Which nodes backends took, for reports. The reason why one was not taken is "it is an integer",
// or with several backends "first: it is an integer; second: there is no kernel".
struct Delegation {
  struct Member {
    std::string name, target;  // The node's.
    std::string refusals;      // Why backends of higher preference did not take it.
    std::string computed_in;   // As Delegate has it.
  };
  struct Call {
    std::string backend;  // Its name.
    std::vector<Member> nodes;
  };
  std::vector<Call> calls;  // Indexed by delegate::call.
  std::unordered_map<const Node*, std::string> outside;
  // The names of large constants that the program stores in fewer bits, and the file as floats;
  // and of those whose integers fit in 2 or 4 bits, and have a byte each in the file.
  std::vector<std::string> widened, in_bytes;
};

// Which groups become calls.
enum class Groups { kThatPay, kAll };

struct PartitionOptions {
  Groups groups = Groups::kThatPay;
  bool for_executorch = false;  // As Part has it.
};

// backend.refusal(), for which a number that is known only when the program runs is a reason, too.
std::string refusal_of(const BackendCompiler& backend, const Node& node, const Graph& graph);

// Returns the number of nodes that went into delegates. Bodies of control flow stay outside.
// `report`, which may be null, is of one graph.
int partition(Graph& graph, const BackendCompilers& backends, const PartitionOptions& options,
              Delegation* report = nullptr);

}  // namespace taper::exir
