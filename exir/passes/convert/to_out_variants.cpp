#include "exir/passes/convert/to_out_variants.h"

#include <map>
#include <set>
#include <string>

#include "exir/ir/registry.h"
#include "exir/ir/rewrite.h"
#include "exir/ops/declare.h"
#include "exir/ops/refusals.h"
#include "exir/ops/variants.h"

namespace taper::exir {
namespace {

constexpr std::string_view kPython = "python::";

// Operators that run as they are: they return numbers or nothing, or the emitter expands them.
bool stays(const Node& node) {
  return is_refused(node) || node.is("aten::sym_size.int") ||
         node.is("aten::_local_scalar_dense") || node.is("taper::assert") ||
         node.target().substr(0, 17) == "executorch_prim::" ||
         node.target().substr(0, 14) == "higher_order::" ||
         node.target().substr(0, 10) == "delegate::";
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

// Calls of one operator on one line of the user's code for which there is no kernel.
struct Missing {
  int count = 0;
  const Node* first = nullptr;
};
// Keyed by operator, then by line.
using MissingCalls = std::map<std::pair<std::string, std::string>, Missing>;

void note(MissingCalls& missing, const Node& node) {
  const std::string line = node.source ? node.source->newest_frame() : "";
  Missing& entry = missing[{std::string(node.target()), line}];
  if (entry.count++ == 0) entry.first = &node;
}

// The call as text: "aten::foo(float32[2, 3], %n)".
std::string call_text(const Node& node) {
  std::string text = std::string(node.target()) + "(";
  bool first = true;
  for_each_value(node, [&](const Value* value) {
    text += first ? "" : ", ";
    first = false;
    if (value->kind != ValueKind::kTensor) {
      text += "%" + value->name;
      return;
    }
    text += to_string(value->type.dtype);
    for (size_t d = 0; d < value->type.rank(); ++d) {
      text += (d == 0 ? "[" : ", ") + value->type.sizes[d].text();
    }
    text += value->type.rank() == 0 ? "[]" : "]";
  });
  return text + ")";
}

Failure unsupported(const OperatorRegistry& known, const MissingCalls& missing,
                    const std::string& remedy) {
  std::vector<Diagnostic> list;
  std::set<std::string> operators;
  for (const auto& [key, where] : missing) {
    const std::string& target = key.first;
    operators.insert(target);
    const std::string times = where.count == 1 ? "once" : std::to_string(where.count) + " times";
    const bool foreign = known.find(target) == nullptr && target.substr(0, 6) != "aten::" &&
                         target.substr(0, kPython.size()) != kPython;
    list.push_back(
        foreign
            ? diagnose(*where.first, "undeclared-op",
                       target + " (" + times + ") is an operator of a namespace that is not known",
                       "declare it: write the line \"" + suggested_declaration(*where.first) +
                           "\" into a file, pass that with --ops, and hand its kernel to the "
                           "runtime (examples/custom_op)")
            : diagnose(*where.first, "unsupported-op", target + " (" + times + ")", remedy));
    list.back().expected =
        foreign ? "a declaration" : "an operator with a kernel, or a rule that breaks it down";
    const char* reason = foreign || remedy != kNoKernelRemedy ? nullptr : refusal_reason(target);
    if (reason != nullptr) list.back().remedy = reason;
    list.back().actual = call_text(*where.first);
  }
  const std::string summary = std::to_string(operators.size()) +
                              (operators.size() == 1 ? " operator is" : " operators are") +
                              " not supported";
  return Failure(summary, std::move(list));
}

}  // namespace

int to_out_variants(Graph& graph, const HasKernel& has_kernel, const std::string& remedy,
                    Aten aten) {
  int changed = 0;
  MissingCalls missing;
  for (Graph* g : all_graphs(graph)) {
    for (const auto& node : g->nodes) {
      if (stays(*node)) continue;
      if (is_left_to_aten(*node)) {
        call_functional_form(*node, *graph.operators());
        ++changed;
        continue;
      }
      const std::shared_ptr<const Schema> out = kernel_schema(*graph.operators(), *node->schema);
      const bool by_aten = aten == Aten::kYes && why_not_aten(*node, *graph.operators()).empty();
      if (out == nullptr || !(by_aten || has_kernel(out->name, *node))) {
        note(missing, *node);
        continue;
      }
      node->args = arguments_for(*out, *node);
      node->schema = out;
      ++changed;
    }
  }
  if (!missing.empty()) throw unsupported(*graph.operators(), missing, remedy);
  return changed;
}

}  // namespace taper::exir
