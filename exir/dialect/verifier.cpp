// Walks the graph and its subgraphs once and collects every broken rule.

#include "exir/dialect/verifier.h"

#include <algorithm>
#include <unordered_set>

#include "exir/dialect/legal.h"
#include "exir/ops/variants.h"
#include "taper/tensor.h"

namespace taper::exir {
namespace {

constexpr size_t kMaxProblems = 50;
constexpr int kMaxNesting = 50;

bool is_number(const Argument& arg) {
  if (arg.is_value()) return arg.value() != nullptr && arg.value()->kind != ValueKind::kTensor;
  return arg.is<int64_t>() || arg.is<double>() || arg.is<bool>();
}

bool is_value_of(const Argument& arg, std::initializer_list<ValueKind> kinds) {
  if (!arg.is_value() || arg.value() == nullptr) return false;
  return std::find(kinds.begin(), kinds.end(), arg.value()->kind) != kinds.end();
}

// True if an argument that is neither a list nor None fits a type.
// Until split_complex, a complex number is a constant that holds its two parts.
bool is_complex_number(const Argument& arg) {
  return arg.is_value() && arg.value()->type.pairs && arg.value()->type.rank() == 1 &&
         arg.value()->role == ValueRole::kConstant;
}

bool fits_item(const Argument& arg, TypeBase base, Dialect dialect) {
  switch (base) {
    case TypeBase::kTensor:
      if (is_value_of(arg, {ValueKind::kTensor})) return true;
      return dialect <= Dialect::kCoreAten && is_number(arg);
    case TypeBase::kScalar:
      return is_number(arg) || is_complex_number(arg);
    case TypeBase::kInt:
      return arg.is<int64_t>() || arg.is<bool>() ||
             is_value_of(arg, {ValueKind::kInt, ValueKind::kBool});
    case TypeBase::kFloat:
      return is_number(arg);
    case TypeBase::kBool:
      return arg.is<bool>() || arg.is<int64_t>() ||
             is_value_of(arg, {ValueKind::kBool, ValueKind::kInt});
    case TypeBase::kString:
      return arg.is<std::string>();
    case TypeBase::kScalarType:
      return arg.is<ScalarType>();
    case TypeBase::kLayout:
      return arg.is<Layout>();
    case TypeBase::kDevice:
      return arg.is<Device>();
    case TypeBase::kMemoryFormat:
      return arg.is<MemoryFormat>();
    case TypeBase::kGenerator:
      return false;
    case TypeBase::kGraph:
      return arg.is<std::shared_ptr<Graph>>();
    case TypeBase::kAny:
      return true;
  }
  return false;
}

bool fits(const Argument& arg, const ArgType& type, Dialect dialect) {
  if (arg.is_none()) return type.optional || (type.base == TypeBase::kAny && !type.list);
  if (!type.list) return fits_item(arg, type.base, dialect);
  if (!arg.is_list()) return false;
  return std::all_of(arg.list().begin(), arg.list().end(), [&](const Argument& item) {
    if (item.is_none()) return type.optional_item || type.base == TypeBase::kAny;
    return fits_item(item, type.base, dialect);
  });
}

bool is_out_slot(const SchemaArg& arg) { return arg.written() && arg.keyword_only; }

class Verifier {
 public:
  Verifier(Dialect dialect, const LegalCalls& legal) : dialect_(dialect), legal_(legal) {}

  void run(const Graph& graph) {
    operators_ = graph.operators();
    check_graph(graph);
    if (problems_.empty()) return;
    std::string summary = "the graph is not legal in the " + std::string(to_string(dialect_)) +
                          " dialect: " + problems_[0].message;
    if (problems_.size() > 1) {
      summary += " (and " + std::to_string(problems_.size() - 1) + " more)";
    }
    throw Failure(summary, std::move(problems_));
  }

 private:
  struct Scope {
    std::unordered_set<const Value*> defined;
    std::unordered_set<std::string_view> names;
  };

  void problem(std::string message, const char* id = "bad-graph", std::string remedy = {}) {
    if (problems_.size() >= kMaxProblems) return;
    Diagnostic out;
    out.id = id;
    out.message = std::move(message);
    out.remedy = std::move(remedy);
    if (node_ != nullptr) {
      out.where = node_->name;
      if (node_->source) out.source = node_->source->newest_frame();
    }
    problems_.push_back(std::move(out));
  }

  void check_graph(const Graph& graph) {
    if (++depth_ > kMaxNesting) {
      problem("graphs are nested too deeply");
      return;
    }
    Scope scope;
    for (const Argument& input : graph.inputs) check_input(scope, input);
    for (const Value* constant : graph.constants) check_constant(scope, constant);
    for (const auto& node : graph.nodes) check_node(scope, *node);
    node_ = nullptr;
    for (const Argument& output : graph.outputs) check_uses(scope, output, "an output");
    check_mutations(scope, graph);
    --depth_;
  }

  void check_input(Scope& scope, const Argument& input) {
    if (!input.is_value()) {
      if (input.is_list() || input.is<std::shared_ptr<Graph>>()) problem("an input is a list");
      return;
    }
    const Value* value = input.value();
    if (!define(scope, value)) return;
    if (value->role != ValueRole::kInput)
      problem("the input %" + value->name + " has another role");
  }

  void check_constant(Scope& scope, const Value* value) {
    if (!define(scope, value)) return;
    const bool role = value->role == ValueRole::kConstant || value->role == ValueRole::kState;
    if (!role) problem("the constant %" + value->name + " has another role");
    if (value->kind != ValueKind::kTensor)
      return problem("the constant %" + value->name + " is not a tensor");
    if (!value->type.is_static()) {
      return problem("the sizes of the constant %" + value->name + " are not known");
    }
    size_t bytes = element_size(value->type.dtype);
    for (const Sym& size : value->type.sizes) {
      if (__builtin_mul_overflow(bytes, static_cast<size_t>(size.as_int()), &bytes)) {
        return problem("the constant %" + value->name + " is too large");
      }
    }
    const bool has_data = value->data.data != nullptr || value->scales != nullptr;
    if (value->data.bytes != bytes || (bytes != 0 && !has_data)) {
      problem("the constant %" + value->name + " holds " + std::to_string(value->data.bytes) +
              " bytes where its type needs " + std::to_string(bytes));
    }
  }

  bool define(Scope& scope, const Value* value) {
    if (value == nullptr) {
      problem("a value is missing");
      return false;
    }
    if (!scope.defined.insert(value).second) {
      problem("%" + value->name + " is defined twice");
      return false;
    }
    if (!scope.names.insert(value->name).second) {
      problem("two values are called %" + value->name);
    }
    if (value->kind == ValueKind::kTensor) check_type(*value);
    return true;
  }

  void check_type(const Value& value) {
    const TensorType& type = value.type;
    if (!is_valid(type.dtype)) problem("%" + value.name + " has no element type");
    if (type.rank() > kMaxRank) {
      problem("%" + value.name + " has " + std::to_string(type.rank()) + " dimensions, at most " +
                  std::to_string(kMaxRank) + " are possible",
              "too-many-dimensions");
    }
    for (const Sym& size : type.sizes) {
      if (size.is_int() && size.as_int() < 0) problem("%" + value.name + " has a negative size");
    }
    std::vector<uint8_t> order = type.dim_order;
    std::sort(order.begin(), order.end());
    if (order != contiguous_order(type.rank())) {
      problem("the dim order of %" + value.name + " is not a permutation of its dimensions");
    }
  }

  void check_node(Scope& scope, const Node& node) {
    node_ = &node;
    if (node.schema == nullptr) return problem("a node has no operator");
    check_arguments(scope, node);
    check_bodies(node);
    check_results(scope, node);
    std::string remedy;
    const std::string why = illegal_because(node, *operators_, dialect_, legal_, &remedy);
    if (!why.empty()) problem(why, "illegal-operator", remedy);
  }

  void check_arguments(const Scope& scope, const Node& node) {
    const std::vector<SchemaArg>& wanted = node.schema->args;
    size_t count = wanted.size();
    if (dialect_ == Dialect::kBackend) {
      while (count > node.args.size() && is_out_slot(wanted[count - 1])) --count;
    }
    if (node.args.size() != count) {
      return problem(node.schema->name + " takes " + std::to_string(count) + " arguments and has " +
                     std::to_string(node.args.size()));
    }
    for (size_t i = 0; i < count; ++i) {
      const std::string what = "argument \"" + wanted[i].name + "\" of " + node.schema->name;
      if (!check_uses(scope, node.args[i], what)) continue;
      if (!fits(node.args[i], wanted[i].type, dialect_)) problem(what + " has the wrong type");
    }
  }

  bool check_uses(const Scope& scope, const Argument& arg, const std::string& what) {
    bool good = true;
    for_each_value(arg, [&](const Value* value) {
      if (value != nullptr && scope.defined.count(value) != 0) return;
      good = false;
      problem(what + (value == nullptr
                          ? " is missing"
                          : " uses %" + value->name + ", which is not defined before"));
    });
    return good;
  }

  void check_results(Scope& scope, const Node& node) {
    for (const Value* output : node.outputs) {
      if (!define(scope, output)) continue;
      if (output->role != ValueRole::kResult || output->producer != &node) {
        problem("%" + output->name + " does not point to the node that produces it");
      }
    }
    const std::vector<SchemaReturn>& returns = node.schema->returns;
    const auto is_open = [](const SchemaReturn& item) {
      return item.type.list || item.type.base == TypeBase::kAny;
    };
    const bool open = std::any_of(returns.begin(), returns.end(), is_open);
    const bool lists = returns.empty() && node.schema->mutates();  // Tensor(a!)[] out -> ()
    const bool writes = dialect_ == Dialect::kBackend && !written_results(node).empty();
    if (!open && !lists && !writes && node.outputs.size() != returns.size()) {
      return problem(node.schema->name + " returns " + std::to_string(returns.size()) +
                     " values and has " + std::to_string(node.outputs.size()));
    }
    for (size_t i = 0; !open && i < std::min(returns.size(), node.outputs.size()); ++i) {
      const bool tensor = returns[i].type.base == TypeBase::kTensor;
      if (tensor != (node.outputs[i]->kind == ValueKind::kTensor)) {
        problem("result " + std::to_string(i) + " of " + node.schema->name + " has the wrong kind");
      }
    }
  }

  // Checks the numbers of inputs and outputs of a body of control flow.
  void check_body(const Node& node, const Argument& body, size_t inputs, size_t outputs) {
    const auto* graph = std::get_if<std::shared_ptr<Graph>>(&body.v);
    if (graph == nullptr || *graph == nullptr) return;
    if ((*graph)->inputs.size() != inputs) {
      problem("the body \"" + (*graph)->name + "\" of " + node.schema->name + " takes " +
              std::to_string((*graph)->inputs.size()) + " inputs and gets " +
              std::to_string(inputs));
    }
    if ((*graph)->outputs.size() != outputs) {
      problem("the body \"" + (*graph)->name + "\" of " + node.schema->name + " returns " +
              std::to_string((*graph)->outputs.size()) + " values where " +
              std::to_string(outputs) + " are expected");
    }
  }

  static size_t length(const Argument& list) { return list.is_list() ? list.list().size() : 0; }

  void check_bodies(const Node& node) {
    const std::vector<Argument>& args = node.args;
    if (args.size() == node.schema->args.size()) {
      const size_t results = node.outputs.size();
      if (node.is("higher_order::cond")) {
        check_body(node, args[1], length(args[3]), results);
        check_body(node, args[2], length(args[3]), results);
      } else if (node.is("higher_order::while_loop")) {
        check_body(node, args[0], length(args[2]) + length(args[3]), 1);
        check_body(node, args[1], length(args[2]) + length(args[3]), length(args[2]));
      } else if (node.is("higher_order::scan")) {
        check_body(node, args[0], length(args[1]) + length(args[2]) + length(args[3]), results);
      } else if (node.is("higher_order::map_impl")) {
        check_body(node, args[0], length(args[1]) + length(args[2]), results);
      }
    }
    for (const Argument& arg : args) {
      if (const auto* graph = std::get_if<std::shared_ptr<Graph>>(&arg.v)) {
        if (*graph == nullptr) {
          problem("a body of " + node.schema->name + " is missing");
          continue;
        }
        check_graph(**graph);
        node_ = &node;
      }
    }
  }

  void check_mutations(const Scope& scope, const Graph& graph) {
    std::unordered_set<const Value*> targets;
    for (const Mutation& mutation : graph.mutations) {
      if (!check_uses(scope, mutation.target, "a mutation")) continue;
      if (!check_uses(scope, mutation.source, "a mutation")) continue;
      const Value &to = *mutation.target, &from = *mutation.source;
      if (to.role != ValueRole::kState && to.role != ValueRole::kInput) {
        problem("%" + to.name + " is mutated but is neither a state nor an input");
      }
      if (!targets.insert(&to).second) problem("%" + to.name + " is mutated twice");
      if (to.kind != from.kind || to.type.dtype != from.type.dtype ||
          to.type.sizes != from.type.sizes) {
        problem("%" + to.name + " is mutated to %" + from.name + ", which has another type");
      }
    }
  }

  Dialect dialect_;
  const LegalCalls& legal_;
  Operators operators_;
  std::vector<Diagnostic> problems_;
  const Node* node_ = nullptr;
  int depth_ = 0;
};

}  // namespace

const char* to_string(Dialect dialect) {
  switch (dialect) {
    case Dialect::kAten:
      return "ATen";
    case Dialect::kCoreAten:
      return "Core ATen";
    case Dialect::kEdge:
      return "Edge";
    case Dialect::kBackend:
      return "Backend";
  }
  return "";
}

void verify(const Graph& graph, Dialect dialect, const LegalCalls& also_legal) {
  Verifier(dialect, also_legal).run(graph);
}

}  // namespace taper::exir
