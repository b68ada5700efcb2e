// What the compiler half of a backend implements: which nodes it takes, and what a group of them
// becomes.
//
// The group reaches the device as a Delegate: bytes that only the backend's device half reads, and
// data that it will ask for by name.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exir/ir/graph.h"

namespace taper::exir {

// Nodes of one graph that run as one delegate call.
struct Part {
  const Graph* graph = nullptr;
  std::vector<const Node*> nodes;  // In order.
  std::vector<Value*>
      inputs;  // Tensors that they read and others make; constants are not among them.
  std::vector<Value*> outputs;  // Results that others read.
  // Whether ExecuTorch's device half runs the call, so that only its habits count.
  bool for_executorch = false;
};

struct Misfit {
  const Node* node;
  std::string why;
};

class BackendCompiler {
 public:
  virtual ~BackendCompiler() = default;

  // As --backend says it.
  virtual std::string_view name() const = 0;

  // Whether a composite operator is not broken down, since the backend runs it whole. What then
  // stays outside is broken down late, unless it has a kernel.
  virtual bool keeps_whole(const Node& node, const Graph& graph) const = 0;

  // Why the backend does not take a node of the Edge dialect; empty if it does.
  virtual std::string refusal(const Node& node, const Graph& graph) const = 0;

  // Whether a group is worth a call of its own. One that is not stays with the kernels.
  virtual bool pays(const Part& part) const = 0;

  // The nodes that the backend takes, but not in this group, and why.
  virtual std::vector<Misfit> misfits(const Part&) const { return {}; }

  // Throws Failure if the group cannot be compiled although every node was taken.
  virtual std::shared_ptr<const Delegate> compile(const Part& part) const = 0;
};

}  // namespace taper::exir
