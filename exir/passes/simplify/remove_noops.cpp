// A movement of data whose result has the type of its argument is replaced by the argument; views
// of views and permutations of permutations are merged first, so that more of them are no-ops. An
// operator that broadcasts its operands needs no expansion of one of them.

#include "exir/passes/simplify/remove_noops.h"

#include <algorithm>
#include <string_view>

#include "exir/ir/rewrite.h"
#include "exir/ops/facts.h"
#include "exir/ops/infer.h"
#include "exir/passes/simplify/copy_guard.h"

namespace taper::exir {
namespace {

// Operators whose result, if it has the type of the argument, has the same contents.
bool is_plain_movement(std::string_view target) {
  return facts_of(target).is(kPassive | kReshapes | kMoves);
}

bool is_view(std::string_view target) {
  return target == "aten::view" || target == "aten::view_copy";
}

bool is_expansion(std::string_view target) {
  return target == "aten::expand" || target == "aten::expand_copy";
}

bool is_cast(std::string_view target) {
  return target == "aten::_to_copy" || target == "dim_order_ops::_to_dim_order_copy";
}

bool is_permute(std::string_view target) {
  return target == "aten::permute" || target == "aten::permute_copy";
}

bool all_literal(const Argument& list) {
  return std::all_of(list.list().begin(), list.list().end(),
                     [](const Argument& item) { return item.is_int(); });
}

// A pad that crops on one side as much as it adds on the other keeps the sizes but moves the
// contents.
bool pads_nothing(const Node& node) {
  if (!node.is("aten::constant_pad_nd")) return true;
  return all_literal(node.args[1]) &&
         std::all_of(node.args[1].list().begin(), node.args[1].list().end(),
                     [](const Argument& item) { return item.to_int() == 0; });
}

std::vector<int64_t> wrapped_dims(const Node& node) {
  std::vector<int64_t> dims = to_ints(node.args[1]);
  for (int64_t& d : dims) d += d < 0 ? static_cast<int64_t>(dims.size()) : 0;
  return dims;
}

bool is_sorted_from_zero(const std::vector<int64_t>& dims) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

bool is_empty(const Value* value) {
  const auto& sizes = value->type.sizes;
  return std::any_of(sizes.begin(), sizes.end(),
                     [](const Sym& size) { return size.is_int() && size.as_int() == 0; });
}

class Cleaner {
 public:
  Cleaner(const Graph& graph, bool is_body) : guard_(graph, is_body) {}

  int run(Graph& graph) {
    rewrite(graph, [&](Node& node, Rewriter& rewriter) {
      const bool gone = !node.outputs.empty() && visit(node, rewriter);
      if (!gone) guard_.note(node);
      changed_ += gone;
      return gone;
    });
    return changed_;
  }

 private:
  bool visit(Node& node, Rewriter& rewriter) {
    if (node.is("aten::cat")) return visit_cat(node, rewriter);
    if (node.args.empty() || !node.args[0].is_value()) return false;
    if (facts_of(node.target()).is(kPromotes)) skip_expansions(node);
    if (is_permute(node.target())) return visit_permute(node, rewriter);
    if (is_plain_movement(node.target()) && pads_nothing(node)) {
      if (forward(node, node.args[0].value(), rewriter)) return true;
    }
    if (is_view(node.target())) skip_inner_view(node);
    if (is_cast(node.target())) skip_inner_cast(node);
    return false;
  }

  // Replaces the node's result by `from`, if types and CopyGuard allow that.
  bool forward(const Node& node, Value* from, Rewriter& rewriter) {
    Value* result = node.outputs[0];
    if (from->kind != ValueKind::kTensor || !(from->type == result->type)) return false;
    if (!guard_.removable(from, result)) return false;
    rewriter.replace(result, from);
    return true;
  }

  // A view of a view becomes a view of the inner one's argument.
  void skip_inner_view(Node& node) {
    const Node* inner = node.args[0].value()->producer;
    if (inner == nullptr || inner->target() != node.target()) return;
    Value* base = inner->args[0].value();
    if (!base->type.is_contiguous()) return;
    node.args[0] = base;
    ++changed_;
  }

  // A bool has its value in every dtype, so that none is needed on its way to another.
  void skip_inner_cast(Node& node) {
    const Value* cast = node.args[0].value();
    const Node* inner = cast->producer;
    if (inner == nullptr || inner->target() != node.target()) return;
    Value* base = inner->args[0].value();
    if (base->type.dtype != ScalarType::kBool || !base->type.is_contiguous() ||
        !cast->type.is_contiguous() || !guard_.removable(base, cast)) {
      return;
    }
    node.args[0] = base;
    ++changed_;
  }

  // Reads what was expanded, if the other operand has the sizes of the result anyway.
  void skip_expansions(Node& node) {
    for (const size_t i : {0, 1}) {
      if (!node.args.at(i).is_value() || !node.args.at(1 - i).is_value()) return;
      const Value *expanded = node.args[i].value(), *other = node.args[1 - i].value();
      const Node* inner = expanded->producer;
      if (inner == nullptr || !is_expansion(inner->target()) || other->kind != ValueKind::kTensor) {
        continue;
      }
      Value* base = inner->args[0].value();
      if (broadcast(base->type.sizes, other->type.sizes) != node.outputs[0]->type.sizes) continue;
      if (!guard_.removable(base, expanded)) continue;
      node.args[i] = base;
      ++changed_;
    }
  }

  bool visit_permute(Node& node, Rewriter& rewriter) {
    if (!all_literal(node.args[1])) return false;
    std::vector<int64_t> dims = wrapped_dims(node);
    Value* from = node.args[0].value();
    const Node* inner = from->producer;
    if (inner != nullptr && inner->target() == node.target() && all_literal(inner->args[1])) {
      const std::vector<int64_t> first = wrapped_dims(*inner);
      if (first.size() != dims.size()) return false;
      for (int64_t& d : dims) d = first.at(static_cast<size_t>(d));
      node.args[0] = from = inner->args[0].value();
      node.args[1] = int_list(dims);
      ++changed_;
    }
    return is_sorted_from_zero(dims) && forward(node, from, rewriter);
  }

  bool visit_cat(Node& node, Rewriter& rewriter) {
    Argument::List kept;
    for (const Argument& item : node.args[0].list()) {
      if (!item.is_value() || !is_empty(item.value())) kept.push_back(item);
    }
    if (kept.empty() || !kept[0].is_value()) return false;
    if (kept.size() == 1 && forward(node, kept[0].value(), rewriter)) return true;
    if (kept.size() != node.args[0].list().size()) {
      node.args[0] = std::move(kept);
      ++changed_;
    }
    return false;
  }

  CopyGuard guard_;
  int changed_ = 0;
};

}  // namespace

int remove_noops(Graph& graph) {
  int total = 0;
  for (Graph* each : all_graphs(graph)) {
    const int changed = Cleaner(*each, each != &graph).run(*each);
    if (changed != 0) erase_dead(*each);
    total += changed;
  }
  return total;
}

}  // namespace taper::exir
