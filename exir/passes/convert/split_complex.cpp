// Applies the rules for complex numbers to every call that touches them, then drops the marks.

#include "exir/passes/convert/split_complex.h"

#include <algorithm>
#include <map>

#include "exir/decompose/complex.h"
#include "exir/ir/registry.h"
#include "exir/ir/rewrite.h"
#include "exir/passes/simplify/keep_assertions.h"

namespace taper::exir {
namespace {

bool has_pairs(const Argument& arg) {
  bool found = false;
  for_each_value(arg, [&](const Value* value) { found |= value->type.pairs; });
  return found;
}

bool touches(const Node& node) {
  for (const Argument& arg : node.args) {
    if (has_pairs(arg)) return true;
  }
  for (const Value* out : node.outputs) {
    if (out->type.pairs) return true;
  }
  // Fourier transforms of real tensors may give real tensors, or pairs that are not marked as
  // complex.
  return is_fourier(node.target());
}

bool is_higher_order(const Node& node) { return node.target().starts_with("higher_order::"); }
// Calls that compute nothing from the numbers.
bool is_check(const Node& node) { return node.outputs.empty() || asks_for_layout(node); }
// canonical_layout's copies, which name the order of all dimensions, that of the parts among them.
bool is_copy(const Node& node) { return node.is("dim_order_ops::_clone_dim_order"); }

ScalarType complex_type(ScalarType part) {
  switch (part) {
    case ScalarType::kHalf:
      return ScalarType::kComplexHalf;
    case ScalarType::kDouble:
      return ScalarType::kComplexDouble;
    default:
      return ScalarType::kComplexFloat;
  }
}

// The complex type of pairs.
TensorType whole_type(const Value& pairs) {
  TensorType type = pairs.type;
  if (type.dim_order.back() + 1u != type.rank()) {
    throw Failure("the parts of the complex %" + pairs.name + " do not lie side by side");
  }
  type.dtype = complex_type(type.dtype);
  type.sizes.pop_back();
  type.dim_order.pop_back();
  type.pairs = false;
  return type;
}

class Splitter {
 public:
  explicit Splitter(Aten aten) : aten_(aten) {}

  int run(Graph& graph) {
    return rewrite_sized(graph, [&](Node& node, Rewriter& rewriter, SizeTable& sizes) {
      return touches(node) && !is_higher_order(node) && !is_check(node) && !is_copy(node) &&
             replace(node, rewriter, sizes);
    });
  }

  std::vector<Diagnostic> problems;

 private:
  bool replace(Node& node, Rewriter& rewriter, SizeTable& sizes) {
    const Decomposition* entry = find_complex_rule(node.target());
    if (entry == nullptr) {
      return leave_or_refuse(node, rewriter,
                             std::string(node.target()) + " is not supported on complex numbers");
    }
    try {
      Builder builder(node, rewriter, sizes);
      entry->rule(builder);
      return true;
    } catch (const Failure& failure) {
      return leave_or_refuse(node, rewriter, failure.what());
    }
  }

  bool leave_or_refuse(Node& node, Rewriter& rewriter, const std::string& message) {
    const OperatorRegistry& operators = *rewriter.graph().operators();
    if (aten_ == Aten::kYes && why_not_aten(node, operators).empty()) {
      leave(node, rewriter);
      return true;
    }
    problems.push_back(diagnose(node, "complex-numbers", message));
    problems.back().remedy = "compute with real tensors: torch.view_as_real(x)";
    mark_refused(node);
    return false;
  }

  // A number as a 0-d tensor.
  static Argument as_tensor(const Argument& number, Rewriter& rewriter) {
    const bool is_value = number.is_value();
    if (number.is_none() || (is_value && number.value()->kind == ValueKind::kTensor)) return number;
    const bool is_float =
        is_value ? number.value()->kind == ValueKind::kFloat : number.is<double>();
    const bool is_bool = is_value ? number.value()->kind == ValueKind::kBool : number.is<bool>();
    const ScalarType dtype = is_float  ? ScalarType::kDouble
                             : is_bool ? ScalarType::kBool
                                       : ScalarType::kLong;
    return rewriter.emit("aten::scalar_tensor", {number, dtype}, {TensorType(dtype, {})})[0];
  }

  // PyTorch's operator takes and gives complex tensors; copies of them are pairs.
  static void leave(Node& node, Rewriter& rewriter) {
    const auto joined = [&](Argument& arg) {
      if (!arg.is_value() || !arg.value()->type.pairs) return;
      arg = rewriter.emit("aten::view_as_complex_copy", {arg}, {whole_type(*arg.value())})[0];
    };
    const bool gives_complex = node.outputs[0]->type.pairs;
    for (Argument& arg : node.args) {
      joined(arg);
      // The front end reads the dtype of complex numbers as that of their parts, too.
      if (arg.is<ScalarType>() && gives_complex) arg = complex_type(std::get<ScalarType>(arg.v));
      if (!arg.is_list()) continue;
      for (Argument& item : arg.list()) joined(item);
    }
    if (takes_numbers_as_tensors(node)) {
      for (size_t i = 0; i < node.args.size(); ++i) {
        if (node.schema->args[i].type.base != TypeBase::kScalar) continue;
        node.args[i] = as_tensor(node.args[i], rewriter);
      }
    }
    leave_to_aten(node, *rewriter.graph().operators());
    Node* call = rewriter.emit_node(node.schema, node.args);
    for (Value* out : node.outputs) {
      const bool pairs = out->type.pairs;
      Value* result = rewriter.graph().new_tensor(out->name, pairs ? whole_type(*out) : out->type);
      result->producer = call;
      call->outputs.push_back(result);
      if (!pairs) rewriter.replace(out, result);
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Value* out = node.outputs[i];
      if (!out->type.pairs) continue;
      const Argument whole = call->outputs[i];
      rewriter.replace(out, rewriter.emit("aten::view_as_real_copy", {whole}, {out->type})[0]);
    }
  }

  const Aten aten_;
};

// Inputs and outputs stay complex: a copy stands between each and the pairs that the program
// computes with.
class Border {
 public:
  explicit Border(Graph& graph) : graph_(graph) {}

  void convert() {
    for (Argument& input : graph_.inputs) {
      if (has_pairs(input)) input = read(input.value());
    }
    std::rotate(graph_.nodes.begin(), graph_.nodes.end() - reads_, graph_.nodes.end());
    for (Argument& output : graph_.outputs) {
      if (has_pairs(output)) output = write(output.value());
    }
    for (Mutation& mutation : graph_.mutations) {
      const auto input = inputs_.find(mutation.target);
      if (input != inputs_.end()) mutation = {input->second, write(mutation.source)};
    }
  }

 private:
  Value* whole_of(const Value& pairs) { return graph_.new_tensor(pairs.name, whole_type(pairs)); }

  Value* read(Value* pairs) {
    Value* whole = whole_of(*pairs);
    whole->role = ValueRole::kInput;
    std::swap(whole->name, pairs->name);  // Messages name the input as the user does.
    pairs->role = ValueRole::kResult;
    add("aten::view_as_real_copy", whole, pairs);
    ++reads_;
    inputs_[pairs] = whole;
    return whole;
  }

  Value* write(Value* pairs) {
    Value*& whole = outputs_[pairs];
    if (whole != nullptr) return whole;
    whole = whole_of(*pairs);
    add("aten::view_as_complex_copy", pairs, whole);
    return whole;
  }

  void add(std::string_view target, Value* from, Value* to) {
    Node* node = graph_.append(graph_.operators()->find(target), {from});
    node->name = from->name;
    node->outputs = {to};
    to->producer = node;
  }

  Graph& graph_;
  std::map<const Value*, Value*> inputs_, outputs_;
  std::ptrdiff_t reads_ = 0;
};

void clear_marks(Graph& graph) {
  const auto clear = [](const Argument& arg) {
    for_each_value(arg, [](Value* value) { value->type.pairs = false; });
  };
  for (const Argument& arg : graph.inputs) clear(arg);
  for (Value* value : graph.constants) value->type.pairs = false;
  for (const auto& node : graph.nodes) {
    for (Value* out : node->outputs) out->type.pairs = false;
  }
}

}  // namespace

int split_complex(Graph& graph, Aten aten) {
  Splitter splitter(aten);
  int total = 0;
  const std::vector<Graph*> graphs = all_graphs(graph);
  for (Graph* each : graphs) total += splitter.run(*each);
  Border(graph).convert();
  for (Graph* each : graphs) clear_marks(*each);
  if (!splitter.problems.empty()) {
    const std::string summary = splitter.problems[0].message;
    throw Failure(summary, std::move(splitter.problems));
  }
  return total;
}

}  // namespace taper::exir
