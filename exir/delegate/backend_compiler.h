// The interface of the compiler half of a backend: which nodes it takes, and how a group of them is
// compiled.
//
// A group reaches the device as a Delegate: a payload that only the backend's device half reads,
// and named data that it refers to. Inputs and outputs are contiguous, with dimensions in PyTorch's
// order; layouts inside a payload are up to the backend.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "exir/ir/graph.h"
#include "taper/backend_device.h"

namespace taper::exir {

// Nodes of one graph that run as one delegate call.
struct Part {
  const Graph* graph = nullptr;
  std::vector<const Node*> nodes;  // In order.
  std::vector<Value*>
      inputs;  // Tensors that they read and other nodes produce; constants are not among them.
  std::vector<Value*> outputs;  // Results that other nodes read.
  // Buffers that the program writes and that no other node reads: the delegate keeps them, and what
  // they hold after a call is the source, a result of one of the nodes.
  std::vector<Mutation> states;
  // Whether ExecuTorch's device half runs the call, whose abilities alone count then.
  bool for_executorch = false;
};

// An option that the device half reads: a compile spec of the file.
struct OwnedCompileSpec {
  std::string key;
  std::vector<uint8_t> value;
};

struct Misfit {
  const Node* node;
  std::string why;
};

// Threads: an object serves one export at a time.
class BackendCompiler {
 public:
  // `specs` go into the file beside every payload.
  explicit BackendCompiler(BackendIdentity identity, std::vector<OwnedCompileSpec> specs = {})
      : identity_(identity), specs_(std::move(specs)) {}
  BackendCompiler(const BackendCompiler&) = delete;
  BackendCompiler& operator=(const BackendCompiler&) = delete;
  virtual ~BackendCompiler() = default;

  // The name for --backend, and the delegate id in the file.
  std::string_view name() const { return identity_.name; }
  std::string_view delegate_id() const { return identity_.delegate_id; }
  const std::vector<OwnedCompileSpec>& specs() const { return specs_; }

  // Whether a composite operator is kept whole, since the backend runs it as one. If it then stays
  // outside, it is decomposed later, unless it has a kernel.
  virtual bool keeps_whole(const Node&, const Graph&) const { return false; }

  // Whether float16 nodes that it takes as float32 are widened, with copies around them. Otherwise
  // they are offered as they are.
  virtual bool widens_half() const { return false; }

  // Whether it asks for the elements of constants that are stored as integers (ir/scales.h).
  // Otherwise they are floats before a part that reads them is compiled.
  virtual bool takes_integers() const { return false; }

  // Whether its delegates keep buffers that the program writes. Otherwise such a buffer is an input
  // of a call, and what it holds afterwards an output.
  virtual bool keeps_states() const { return false; }

  // Why the backend does not take a node of the Edge dialect; empty if it does. A Failure that it
  // throws, such as for a number that is known only when the program runs, is a reason, too.
  virtual std::string refusal(const Node& node, const Graph& graph) const = 0;

  // Whether a group is worth a delegate call. If not, it goes to the next backend or stays with the
  // kernels.
  virtual bool pays(const Part&) const { return true; }

  // Nodes that the backend takes in general but not in this group, and why.
  virtual std::vector<Misfit> misfits(const Part&) const { return {}; }

  // The same backend for files that ExecuTorch's device half runs; null: this one, which looks at
  // Part::for_executorch.
  virtual std::shared_ptr<const BackendCompiler> for_executorch() const { return nullptr; }

  // Compiles a group to a payload and its data; the caller fills in the rest of the delegate.
  // Throws Failure if the group cannot be compiled although every node was taken.
  virtual std::shared_ptr<Delegate> compile(const Part& part) const = 0;

 private:
  const BackendIdentity identity_;
  const std::vector<OwnedCompileSpec> specs_;
};

// Backends in order of preference: what one leaves goes to the next.
using BackendCompilers = std::vector<std::shared_ptr<const BackendCompiler>>;

}  // namespace taper::exir
