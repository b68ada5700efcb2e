// A vmap is a range of nodes: splits that take a sample out of a tensor, nodes that compute with
// it, and joins that stack the results. The nodes in between become the body of a map_impl.

#include "exir/passes/functional/lower_vmap.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "exir/ir/rewrite.h"
#include "exir/ops/infer.h"

namespace taper::exir {
namespace {

constexpr char kPrefix[] = "python::torch._functorch.predispatch.";

bool is_call(const Node& node, std::string_view name) {
  const std::string_view target = node.target();
  constexpr size_t kLength = sizeof kPrefix - 1;
  return target.substr(0, kLength) == kPrefix && target.substr(kLength) == name;
}
bool is_split(const Node& node) { return is_call(node, "_add_batch_dim"); }
bool is_join(const Node& node) { return is_call(node, "_remove_batch_dim"); }

[[noreturn]] void fail(const Node& node, const std::string& why) {
  Diagnostic out = diagnose(node, "unsupported-vmap", "torch.vmap in training IR: " + why,
                            "call run_decompositions() on the exported program before saving it");
  const std::string summary = out.message;
  throw Failure(summary, {std::move(out)});
}

// The nodes of an innermost vmap, from the call that begins it to the one that ends it.
struct Range {
  size_t begin;
  size_t end;
};
std::optional<Range> innermost(const Graph& graph) {
  std::optional<size_t> begin;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = *graph.nodes[i];
    if (is_call(node, "_vmap_increment_nesting")) begin = i;
    if (!is_call(node, "_vmap_decrement_nesting")) continue;
    if (!begin) fail(node, "a vmap ends that has not begun");
    return Range{*begin, i};
  }
  return std::nullopt;
}

class Loop {
 public:
  Loop(const Graph& graph, Range range)
      : ranges_(graph.ranges),
        begin_(graph.nodes[range.begin].get()),
        end_(graph.nodes[range.end].get()) {
    for (size_t i = range.begin + 1; i < range.end; ++i) sort(*graph.nodes[i]);
  }

  // Rewrites a node of the graph: those that moved into the body are removed, joins are replaced by
  // results of the map, which is emitted before the first of them. False for nodes that stay.
  bool visit(Node& node, Rewriter& rewriter) {
    if (&node == begin_ || &node == end_) return true;
    if (splits_.count(&node) != 0 || body_nodes_.count(&node) != 0) return true;
    if (joins_.count(&node) == 0) return false;
    if (results_.empty()) write(rewriter);
    rewriter.replace(node.outputs[0], joined(node, rewriter));
    return true;
  }

 private:
  // Nodes that depend on a sample go into the body.
  void sort(const Node& node) {
    bool per_sample = false;
    for_each_value(node, [&](Value* value) {
      per_sample |= samples_.count(value) != 0;
      if (value->type.pairs) fail(node, "complex numbers");
    });
    if (node.schema->mutates()) fail(node, "its function writes in place");
    if (is_join(node)) return sort_join(node, per_sample);
    if (is_split(node)) {
      splits_.insert(&node);
      order_.push_back(&node);
    } else if (per_sample) {
      if (!joins_.empty()) fail(node, "its function computes with samples after a result");
      body_nodes_.insert(&node);
      body_.push_back(&node);
    } else {
      return;
    }
    for (Value* value : node.outputs) samples_.insert(value);
  }

  void sort_join(const Node& node, bool per_sample) {
    joins_.insert(&node);
    Value* value = node.args.at(0).value();
    if (value->kind != ValueKind::kTensor) fail(node, "its function returns a size");
    if (per_sample) return last_.push_back(value);
    for (const Sym& size : node.outputs[0]->type.sizes) {
      if (!size.is_int())
        fail(node, "a result does not depend on the samples, whose number is symbolic");
    }
  }

  // `x` permuted so that its dimension `from` becomes dimension `to`.
  static Value* moved(Value* x, int64_t from, int64_t to, Rewriter& rewriter) {
    const auto rank = static_cast<int64_t>(x->type.rank());
    std::vector<int64_t> dims;
    for (int64_t d = 0; d < rank; ++d) {
      if (d != from) dims.push_back(d);
    }
    dims.insert(dims.begin() + to, from);
    if (std::is_sorted(dims.begin(), dims.end())) return x;
    std::vector<Sym> sizes;
    for (const int64_t d : dims) sizes.push_back(x->type.sizes[static_cast<size_t>(d)]);
    return rewriter.emit("aten::permute", {x, int_list(dims)},
                         {TensorType(x->type.dtype, sizes)})[0];
  }

  // The tensor that a split takes samples of, with the dimension of the samples first.
  static Value* whole(const Node& split, Rewriter& rewriter) {
    Value* x = rewriter.resolve(split.args.at(0)).value();
    const int64_t dim = wrap_dim(split.args.at(1).to_int(), static_cast<int64_t>(x->type.rank()));
    return moved(x, dim, 0, rewriter);
  }

  Value* body_input(const Value& like, Graph& body) {
    Value* input = body.new_value(like.name, like.kind);
    input->type =
        like.kind == ValueKind::kTensor ? TensorType(like.type.dtype, like.type.sizes) : like.type;
    input->type.pairs = like.type.pairs;
    input->sym = like.sym;
    input->role = ValueRole::kInput;
    body.inputs.push_back(input);
    return input;
  }

  // Values from outside that the body uses become additional inputs of it.
  void take_from_outside(const Argument& arg, Graph& body) {
    for_each_value(arg, [&](Value* value) {
      if (samples_.count(value) != 0 || map_.count(value) != 0) return;
      map_[value] = body_input(*value, body);
      outside_.push_back(value);
    });
  }

  Argument mapped(const Argument& arg) const {
    if (arg.is_value()) return map_.at(arg.value());
    if (!arg.is_list()) return arg;
    Argument::List items;
    for (const Argument& item : arg.list()) items.push_back(mapped(item));
    return items;
  }

  void copy(const Node& node, Rewriter& rewriter) {
    std::vector<Argument> args;
    for (const Argument& arg : node.args) args.push_back(mapped(arg));
    Node* twin = rewriter.emit_node(node.schema, args);
    twin->name = node.name;
    twin->source = node.source;
    for (const Value* output : node.outputs) {
      Value* value = rewriter.graph().new_value(output->name, output->kind);
      value->type = output->type;
      value->sym = output->sym;
      value->producer = twin;
      twin->outputs.push_back(value);
      map_[output] = value;
    }
  }

  // Emits the map, in front of the first join.
  void write(Rewriter& rewriter) {
    if (order_.empty() || last_.empty()) return;
    auto body = std::make_shared<Graph>(rewriter.graph().operators());
    body->name = "sample";
    Argument::List over, additional;
    for (const Node* split : order_) {
      over.push_back(whole(*split, rewriter));
      map_[split->outputs[0]] = body_input(*split->outputs[0], *body);
    }
    for (const Node* node : body_) {
      for (const Argument& arg : node->args) take_from_outside(arg, *body);
    }
    for (Value* value : outside_) additional.push_back(rewriter.resolve(value));
    rewrite(
        *body, [](Node&, Rewriter&) { return false; },
        [&](Rewriter& inner) {
          for (const Node* node : body_) copy(*node, inner);
          for (const Value* value : last_) body->outputs.push_back(returned(value, inner));
        });
    body->ranges = ranges_;
    const Sym count = over.at(0).value()->type.sizes.at(0);
    Node* node = rewriter.emit_node("higher_order::map_impl", {body, over, additional});
    for (const Value* value : last_) {
      std::vector<Sym> sizes = {count};
      sizes.insert(sizes.end(), value->type.sizes.begin(), value->type.sizes.end());
      Value* stacked =
          rewriter.graph().new_tensor(value->name, TensorType(value->type.dtype, sizes));
      stacked->producer = node;
      node->outputs.push_back(stacked);
      results_[value] = stacked;
    }
  }

  // The value that the body returns: a copy of a sample, or of a value that is returned already.
  Value* returned(const Value* value, Rewriter& inner) {
    Value* mine = map_.at(value);
    if (mine->role == ValueRole::kResult && returned_.insert(mine).second) return mine;
    return inner.emit("aten::clone", {mine}, {mine->type})[0];
  }

  // The result of a join, with the dimension of the samples where the program wants it; a value
  // that does not depend on the samples is repeated.
  Value* joined(const Node& join, Rewriter& rewriter) {
    Value* value = join.args.at(0).value();
    const TensorType& type = join.outputs[0]->type;
    const int64_t dim = wrap_dim(join.args.at(3).to_int(), static_cast<int64_t>(type.rank()));
    const auto found = results_.find(value);
    if (found != results_.end()) return moved(found->second, 0, dim, rewriter);
    Value* one = rewriter.resolve(value).value();
    std::vector<Sym> sizes = one->type.sizes;
    sizes.insert(sizes.begin() + dim, Sym(1));
    one = rewriter.emit("aten::unsqueeze", {one, dim}, {TensorType(type.dtype, sizes)})[0];
    std::vector<int64_t> target(sizes.size(), -1);
    target[static_cast<size_t>(dim)] = type.sizes[static_cast<size_t>(dim)].as_int();
    return rewriter.emit("aten::expand", {one, int_list(target)}, {type})[0];
  }

  const SymRanges& ranges_;
  const Node *begin_, *end_;
  std::unordered_set<const Node*> splits_, joins_, body_nodes_;
  std::vector<const Node*> order_, body_;     // Splits, and the nodes of the body, in order.
  std::unordered_set<const Value*> samples_;  // Values that depend on a sample.
  std::vector<const Value*> last_;            // Those of them that are joined.
  std::vector<Value*> outside_;
  std::unordered_map<const Value*, Value*> map_;  // From values of the graph to those of the body.
  std::unordered_map<const Value*, Value*> results_;  // From values in `last_` to stacked results.
  std::unordered_set<const Value*> returned_;
};

int loops_of(Graph& graph) {
  int count = 0;
  while (const std::optional<Range> range = innermost(graph)) {
    Loop loop(graph, *range);
    rewrite(graph, [&](Node& node, Rewriter& rewriter) { return loop.visit(node, rewriter); });
    ++count;
  }
  return count;
}

}  // namespace

int lower_vmap(Graph& graph) {
  int count = 0;
  for (Graph* each : all_graphs(graph)) count += loops_of(*each);
  return count;
}

}  // namespace taper::exir
