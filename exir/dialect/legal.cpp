#include "exir/dialect/legal.h"

#include <algorithm>
#include <unordered_set>

#include "exir/ops/registry.h"

namespace taper::exir {
namespace {

bool in_namespace(const Node& node, std::string_view ns) {
  return node.target().substr(0, ns.size()) == ns && node.target().substr(ns.size(), 2) == "::";
}

// Operators that read sizes and scalars of tensors; they have no out variant.
bool reads_scalar(std::string_view target) {
  static const std::unordered_set<std::string_view> names = {
      "aten::sym_size.int", "aten::sym_stride.int", "aten::sym_numel", "aten::sym_storage_offset",
      "aten::_local_scalar_dense"};
  return names.count(target) != 0;
}

// Operators whose tensor operands have one dtype once promotion is explicit.
bool wants_one_dtype(std::string_view target) {
  static const std::unordered_set<std::string_view> names = {
      "aten::add.Tensor", "aten::sub.Tensor", "aten::mul.Tensor", "aten::div.Tensor",
      "aten::eq.Tensor",  "aten::ne.Tensor",  "aten::lt.Tensor",  "aten::le.Tensor",
      "aten::gt.Tensor",  "aten::ge.Tensor",  "aten::maximum",    "aten::minimum",
      "aten::cat",        "aten::mm",         "aten::bmm",        "aten::addmm"};
  return names.count(target) != 0;
}

std::string quoted(std::string_view target) { return std::string(target); }

std::string core_aten(const Node& node, std::string* remedy) {
  if (node.schema->mutates()) return quoted(node.target()) + " writes an argument";
  if (!in_namespace(node, "aten") || op_facts(node.target()).core) return {};
  *remedy = "decompose it, or let a backend keep it whole";
  return quoted(node.target()) + " is not in the Core ATen set";
}

std::string one_dtype(const Node& node) {
  const Value* first = nullptr;
  std::string problem;
  for_each_value(node, [&](const Value* value) {
    if (value->kind != ValueKind::kTensor) return;
    if (first == nullptr) first = value;
    if (value->type.dtype != first->type.dtype && problem.empty()) {
      problem = quoted(node.target()) + " has operands of " + to_string(first->type.dtype) +
                " and " + to_string(value->type.dtype);
    }
  });
  return problem;
}

std::string edge(const Node& node, std::string* remedy) {
  if (in_namespace(node, "python") || in_namespace(node, "higher_order")) return {};
  if (reads_scalar(node.target())) return {};
  if (node.schema->mutates()) return quoted(node.target()) + " writes an argument";
  if (node.schema->returns_alias()) {
    *remedy = "use its _copy form";
    return quoted(node.target()) + " is a view";
  }
  if (in_namespace(node, "aten") && out_variant(node.target()) == nullptr) {
    *remedy = "decompose it into operators that have one";
    return quoted(node.target()) + " has no out variant";
  }
  return wants_one_dtype(node.target()) ? one_dtype(node) : "";
}

std::string backend(const Node& node) {
  for (const char* ns : {"executorch_prim", "higher_order", "delegate"}) {
    if (in_namespace(node, ns)) return {};
  }
  if (reads_scalar(node.target()) || node.schema->mutates()) return {};
  return quoted(node.target()) + " is no call of a kernel";
}

}  // namespace

std::string illegal_because(const Node& node, Dialect dialect, const LegalOps& also_legal,
                            std::string* remedy) {
  if (is_refused(node) || (also_legal && also_legal(node.target()))) return {};
  switch (dialect) {
    case Dialect::kAten:
      return {};
    case Dialect::kCoreAten:
      return core_aten(node, remedy);
    case Dialect::kEdge:
      return edge(node, remedy);
    case Dialect::kBackend:
      return backend(node);
  }
  return {};
}

}  // namespace taper::exir
