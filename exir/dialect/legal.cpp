// The rules for operators, one function per dialect.

#include "exir/dialect/legal.h"

#include <algorithm>
#include <unordered_set>

#include "exir/ir/registry.h"
#include "exir/ops/aten_calls.h"
#include "exir/ops/facts.h"
#include "exir/ops/variants.h"

namespace taper::exir {
namespace {

bool in_namespace(const Node& node, std::string_view ns) {
  return node.target().substr(0, ns.size()) == ns && node.target().substr(ns.size(), 2) == "::";
}

// Operators that read sizes and scalars of tensors, and assertions; they have no out variant.
bool has_no_out(const Node& node) {
  return node.is("aten::sym_size.int") || node.is("aten::_local_scalar_dense") ||
         node.is("taper::assert");
}

const LegalCalls kNothingElse = [](const Node&) { return false; };

// Why a node is not legal, and a remedy.
struct Objection {
  std::string why;
  std::string remedy = {};
};

// Scalar arithmetic, control flow and delegate calls are not computed by kernels, and what is left
// to PyTorch's operators not by ours.
bool needs_no_kernel(const Node& node) {
  return in_namespace(node, "python") || in_namespace(node, "higher_order") ||
         in_namespace(node, "delegate") || has_no_out(node) || is_left_to_aten(node);
}

std::string one_dtype(const Node& node) {
  const Value* first = nullptr;
  std::string problem;
  for_each_value(node, [&](const Value* value) {
    if (value->kind != ValueKind::kTensor) return;
    if (first == nullptr) first = value;
    if (value->type.dtype != first->type.dtype && problem.empty()) {
      problem = std::string(node.target()) + " has operands of " + to_string(first->type.dtype) +
                " and " + to_string(value->type.dtype);
    }
  });
  return problem;
}

// A view is legal if its copying form is, by which to_edge replaces it.
bool is_copied_view(const Node& node, const OperatorRegistry& operators) {
  return node.schema->returns_alias() && operators.out_variant(copy_twin(node.target())) != nullptr;
}

Objection core_aten(const Node& node, const OperatorRegistry& operators,
                    const LegalCalls& also_legal) {
  const std::string target(node.target());
  if (node.schema->mutates()) return {target + " writes an argument"};
  if (needs_no_kernel(node) || operators.tags(target).core) return {};
  if (is_copied_view(node, operators) || also_legal(node)) return {};
  return {target + " is not in the Core ATen set", "decompose it, or let a backend keep it whole"};
}

Objection edge(const Node& node, const OperatorRegistry& operators, const LegalCalls& also_legal) {
  const std::string target(node.target());
  if (node.schema->mutates()) return {target + " writes an argument"};
  if (is_copied_view(node, operators)) return {target + " is a view", "use its _copy form"};
  if (!needs_no_kernel(node) && operators.out_variant(target) == nullptr && !also_legal(node)) {
    return {target + " has no out variant", "decompose it into operators that have one"};
  }
  if (facts_of(target).is(kPromotes | kOneDtype)) return {one_dtype(node)};
  return {};
}

Objection backend(const Node& node) {
  const bool call = in_namespace(node, "executorch_prim") || in_namespace(node, "higher_order") ||
                    in_namespace(node, "delegate") || has_no_out(node) || node.schema->mutates();
  if (call) return {};
  return {std::string(node.target()) + " is not a kernel call"};
}

Objection objection(const Node& node, const OperatorRegistry& operators, Dialect dialect,
                    const LegalCalls& also_legal) {
  switch (dialect) {
    case Dialect::kAten:
      return {};
    case Dialect::kCoreAten:
      return core_aten(node, operators, also_legal);
    case Dialect::kEdge:
      return edge(node, operators, also_legal);
    case Dialect::kBackend:
      return backend(node);
  }
  return {};
}

}  // namespace

std::string illegal_because(const Node& node, const OperatorRegistry& operators, Dialect dialect,
                            const LegalCalls& also_legal, std::string* remedy) {
  if (is_refused(node)) return {};
  Objection found = objection(node, operators, dialect, also_legal ? also_legal : kNothingElse);
  *remedy = std::move(found.remedy);
  return std::move(found.why);
}

}  // namespace taper::exir
