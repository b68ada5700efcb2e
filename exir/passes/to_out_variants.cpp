#include "exir/passes/to_out_variants.h"

#include <map>
#include <string>

#include "exir/ir/rewrite.h"
#include "exir/ops/registry.h"

namespace taper::exir {
namespace {

constexpr std::string_view kPython = "python::";

// Operators that run as they are: they return numbers, or the emitter expands them.
bool stays(const Node& node) {
  return node.is("aten::sym_size.int") || node.is("aten::_local_scalar_dense") ||
         node.target().substr(0, 17) == "executorch_prim::" ||
         node.target().substr(0, 14) == "higher_order::" ||
         node.target().substr(0, 10) == "delegate::";
}

std::shared_ptr<const Schema> kernel_schema(const Node& node) {
  const std::string_view target = node.target();
  if (target.substr(0, kPython.size()) == kPython) {
    std::string prim = "executorch_prim::" + std::string(target.substr(kPython.size()));
    if (prim.find('.') == std::string::npos) prim += ".Scalar";
    return find_schema(prim);
  }
  return out_variant(target);
}

std::vector<Argument> arguments_for(const Schema& out, const Node& node) {
  std::vector<Argument> args;
  for (size_t i = 0; i < out.args.size(); ++i) {
    if (is_out_argument(out.args[i])) continue;
    const int from = node.schema->find(out.args[i].name);
    const bool prim = out.name.substr(0, 17) == "executorch_prim::";
    if (from >= 0 || prim) {
      args.push_back(node.args.at(prim ? i : static_cast<size_t>(from)));
    } else {
      args.push_back(default_argument(out.args[i]));
    }
  }
  return args;
}

// One kind of operator that cannot run, and where it occurs.
struct Missing {
  int count = 0;
  const Node* first = nullptr;
};

Failure unsupported(const std::map<std::string, Missing>& missing) {
  std::vector<Diagnostic> list;
  for (const auto& [target, where] : missing) {
    const std::string times = where.count == 1 ? "once" : std::to_string(where.count) + " times";
    list.push_back(
        {"unsupported-op", target + " (" + times + ")", where.first->name,
         where.first->source ? where.first->source->newest_frame() : "",
         "no kernel or decomposition for it yet: rewrite that line with other operators, "
         "or call run_decompositions() on the exported program before saving it"});
  }
  const std::string summary = std::to_string(list.size()) +
                              (list.size() == 1 ? " operator is" : " operators are") +
                              " not supported";
  return Failure(summary, std::move(list));
}

}  // namespace

bool is_out_argument(const SchemaArg& arg) { return arg.written() && arg.keyword_only; }

int to_out_variants(Graph& graph, const HasKernel& has_kernel) {
  int changed = 0;
  std::map<std::string, Missing> missing;
  for (Graph* g : all_graphs(graph)) {
    for (const auto& node : g->nodes) {
      if (stays(*node)) continue;
      const std::shared_ptr<const Schema> out = kernel_schema(*node);
      if (out == nullptr || !has_kernel(out->name)) {
        Missing& entry = missing[std::string(node->target())];
        if (entry.count++ == 0) entry.first = node.get();
        continue;
      }
      node->args = arguments_for(*out, *node);
      node->schema = out;
      ++changed;
    }
  }
  if (!missing.empty()) throw unsupported(missing);
  return changed;
}

}  // namespace taper::exir
