// Tells for each node where it runs, as text in columns and as JSON.

#include "tools/export/report.h"

#include <map>

#include "tools/problems.h"
#include "tools/text/plan_text.h"

namespace taper::tools {
namespace {

std::string padded(std::string text, size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

// Whose kernel runs a node that no backend took.
const char* kernels_of(const exir::Node& node, const exir::ExportedMethod& method) {
  return method.by_aten.count(std::string(node.target())) != 0 ? "aten" : "portable";
}

// "portable  reason  line of the user's source".
std::string why_outside(const exir::Node& node, const exir::ExportedMethod& method) {
  const auto why = method.delegation.outside.find(&node);
  const std::string source = node.source ? node.source->newest_frame() : "";
  return kernels_of(node, method) + std::string("  ") +
         (why == method.delegation.outside.end() ? "" : why->second + "  ") + source;
}

// The texts in columns of 24 and 40, indented.
std::string line_of(const std::string& name, std::string_view target, const std::string& where) {
  return "  " + padded(name, 24) + " " + padded(std::string(target), 40) + " " + where + "\n";
}

// "9 nodes: 6 int8, 2 float32", where a backend says in what it computes.
std::string nodes_text(const exir::Delegation::Call& call) {
  std::string text = std::to_string(call.nodes.size()) + " nodes";
  std::map<std::string, size_t> counts;
  for (const exir::Delegation::Member& member : call.nodes) {
    const std::string what = member.computed_in.substr(0, member.computed_in.find(':'));
    if (!what.empty()) ++counts[what];
  }
  const char* separator = ": ";
  for (const auto& [what, count] : counts) {
    text += separator + std::to_string(count) + " " + what;
    separator = ", ";
  }
  return text;
}

// The call and its nodes, with what they are computed in, and the reasons why preferred backends
// did not take them.
std::string delegate_text(const exir::Node& node, const exir::Delegation::Call& call) {
  std::string text = line_of(node.name, node.target(), call.backend + "  " + nodes_text(call));
  for (const exir::Delegation::Member& member : call.nodes) {
    text += "    " + padded(member.name, 24) + " " + member.target;
    for (const std::string& more : {member.computed_in, member.refusals}) {
      if (!more.empty()) text += "  " + more;
    }
    text += "\n";
  }
  return text;
}

// "52 nodes in 1 call of NAME, " for each backend.
std::string delegated_text(const exir::Delegation& delegation,
                           const exir::BackendCompilers& backends) {
  std::string text;
  for (const auto& backend : backends) {
    size_t nodes = 0, calls = 0;
    for (const exir::Delegation::Call& call : delegation.calls) {
      if (call.backend != backend->name()) continue;
      nodes += call.nodes.size();
      ++calls;
    }
    text += std::to_string(nodes) + " nodes in " + std::to_string(calls) +
            (calls == 1 ? " call of " : " calls of ") + std::string(backend->name()) + ", ";
  }
  return text;
}

// A node that a backend computes within a call, or a kernel.
void add_node(JsonWriter& json, const std::string& name, std::string_view op,
              const std::string& backend, const std::string& why) {
  json.open('{').key("name").text(name).key("op").text(op).key("backend").text(backend);
  json.key("why").text(why).close('}');
}

void add_nodes(JsonWriter& json, const exir::ExportedMethod& method, const exir::Graph& graph) {
  json.open('[');
  for (const auto& node : graph.nodes) {
    if (!node->is("delegate::call")) {
      const auto why = method.delegation.outside.find(node.get());
      add_node(json, node->name, node->target(), kernels_of(*node, method),
               why == method.delegation.outside.end() ? "" : why->second);
      continue;
    }
    const exir::Delegation::Call& call =
        method.delegation.calls.at(static_cast<size_t>(node->arg(0).to_int()));
    for (const exir::Delegation::Member& member : call.nodes) {
      add_node(json, member.name, member.target, call.backend, member.refusals);
    }
  }
  json.close(']');
}

}  // namespace

std::string report_text(const exir::ExportedMethod& method, const exir::Graph& graph,
                        const exir::BackendCompilers& backends) {
  std::string text =
      "method " + method.name + ": " + std::to_string(method.instructions) + " instructions\n";
  const std::vector<exir::Delegation::Call>& calls = method.delegation.calls;
  std::map<std::string, size_t> counts;
  size_t by_aten = 0;
  for (const auto& node : graph.nodes) {
    ++counts[std::string(node->target())];
    by_aten += method.by_aten.count(std::string(node->target()));
    if (node->is("delegate::call")) {
      text += delegate_text(*node, calls.at(static_cast<size_t>(node->arg(0).to_int())));
    } else {
      text += line_of(node->name, node->target(), why_outside(*node, method));
    }
  }
  if (backends.empty()) {
    text += "  " + std::to_string(graph.nodes.size()) + " nodes, " + std::to_string(counts.size()) +
            " operators; " + (by_aten == 0 ? "all" : std::to_string(graph.nodes.size() - by_aten)) +
            " run on portable: no other backend was given\n";
  } else {
    text += "  " + delegated_text(method.delegation, backends) +
            std::to_string(graph.nodes.size() - calls.size() - by_aten) + " on portable\n";
  }
  if (by_aten != 0) text += "  " + std::to_string(by_aten) + " by PyTorch's operators\n";
  for (const std::string& name : method.delegation.widened) {
    text += "  " + name +
            " is stored as floats, wider than in the program: there is no form of its elements and "
            "scales\n";
  }
  for (const std::string& name : method.delegation.in_bytes) {
    text += "  " + name +
            " has 8 bits for each integer, though 4 would do: there is no packed form of it\n";
  }
  for (const auto& [name, count] : counts) {
    const std::string number = std::to_string(count);
    text += "    " + std::string(number.size() < 6 ? 6 - number.size() : 0, ' ') + number + "  " +
            name + "\n";
  }
  return text;
}

std::string aten_text(const exir::ExportedMethod& method) {
  size_t nodes = 0;
  std::string names;
  for (const auto& [name, count] : method.by_aten) {
    names += (nodes == 0 ? "" : ", ") + name + (count == 1 ? "" : " x " + std::to_string(count));
    nodes += count;
  }
  if (nodes == 0) return {};
  return std::to_string(nodes) + (nodes == 1 ? " node needs" : " nodes need") +
         " PyTorch's operators (taper run --aten): " + names;
}

std::string summary_text(const exir::ExportedMethod& method) {
  return method.name + ": " + std::to_string(method.instructions) + " instructions, " +
         plan_text(method.plan);
}

void add_method(JsonWriter& json, const exir::ExportedMethod& method, const exir::Graph& graph,
                const exir::BackendCompilers& backends) {
  const auto number = [](uint64_t n) { return static_cast<int64_t>(n); };
  json.open('{').key("name").text(method.name);
  json.key("instructions").number(number(method.instructions));
  json.key("memory").open('{');
  json.key("planned_bytes").number(number(method.plan.arena_bytes));
  json.key("lower_bound_bytes").number(number(method.plan.lower_bound));
  json.key("unshared_bytes").number(number(method.plan.naive_bytes));
  json.close('}').key("nodes");
  add_nodes(json, method, graph);
  json.key("text").text(report_text(method, graph, backends) + summary_text(method) + "\n");
  json.close('}');
}

}  // namespace taper::tools
