// What the nodes within a delegate read and make, from the graph of the compiler before backends
// took them. A program does not say it: its delegates are calls with a payload.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "exir/ir/graph.h"
#include "tools/view/document.h"

namespace taper::tools {

class DelegateInside {
 public:
  // Of no graph: nothing is known.
  DelegateInside() = default;
  // `graph` is the lowered graph of the method whose steps `document` has. Both must outlive this.
  DelegateInside(const exir::Graph& graph, const ViewDocument& document);

  // How many arguments of a delegate's call are inputs; nothing if that is not known.
  std::optional<size_t> input_count(const std::string& delegate) const;
  // Gives node `index` of a delegate its arguments and results. What passes the border of the
  // delegate becomes the values of its call.
  void connect(const ViewCall& delegate, size_t index, ViewCall& part) const;

 private:
  struct Inside {
    std::vector<std::string> values;           // The first result of each node.
    size_t count = 0;                          // Of the inputs of its call.
    std::map<size_t, size_t> inputs, results;  // Values of its call by their place there.
  };

  const ViewDocument* document_ = nullptr;
  std::map<std::string, size_t> calls_;    // By the name of their first result.
  std::map<std::string, Inside> insides_;  // By the name of the delegate's call.
};

}  // namespace taper::tools
