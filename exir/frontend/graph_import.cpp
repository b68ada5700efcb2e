// Imports the nodes of a graph in order.
//
// A node whose operator is not registered gets a schema that is derived from the arguments in the
// file. A later stage refuses it, unless the user supplies a kernel for it.

#include "exir/frontend/graph_import.h"

#include <algorithm>

#include "exir/frontend/argument_import.h"
#include "exir/ir/registry.h"
#include "exir/ops/float8.h"
#include "exir/ops/import_target.h"
#include "exir/ops/prims.h"

namespace taper::exir {
namespace {

constexpr int kDeepestGraph = 16;
constexpr size_t kMostProblems = 200;  // The next one ends the import.
constexpr std::string_view kHigherOrder = "higher_order::";

std::string_view name_of(Json json) { return json_text(json_need(json, "name"), "name"); }

[[noreturn]] void refuse_float8(const std::string& why) {
  refuse("unknown-dtype", "has an 8-bit float, which can be stored, moved and cast; here " + why,
         {}, "convert it to float32 or float16 where it is used");
}

bool is_cast(std::string_view target) {
  constexpr std::string_view kCasts[] = {"aten::_to_copy", "aten::to.device",
                                         "aten::to.dtype", "aten::to.dtype_layout",
                                         "aten::to.other", "aten::type_as"};
  return std::find(std::begin(kCasts), std::end(kCasts), target) != std::end(kCasts);
}

// Operators that read the numbers of 8-bit floats: they get them as float32.
bool reads_float8(std::string_view target) {
  return is_cast(target) || target == "aten::_scaled_mm" || target == "torchao::dequantize_mx";
}

// An argument as the file gives it.
struct Given {
  std::string_view name;  // Empty: positional.
  Json json;
};

class NodeImporter {
 public:
  NodeImporter(Json json, Scope& scope) : json_(json), scope_(scope) {}

  void run() {
    target_ = import_target(json_text(json_need(json_, "target"), "target"));
    for (const Json input : json_array(json_need(json_, "inputs"), "inputs")) {
      given_.push_back({json_text_or(input, "name", ""), json_need(input, "arg")});
    }
    for (const Json output : json_array(json_need(json_, "outputs"), "outputs")) {
      outputs_.push_back(output);
    }
    if (target_ == "higher_order::with_effects") unwrap_effects();
    if (const std::string_view twin = aten_twin(target_); !twin.empty()) call_twin(twin);
    std::shared_ptr<const Schema> schema = scope_.graph().operators()->find(target_);
    known_ = schema != nullptr;
    if (known_ && (has_no_result(*schema) || restates_float8())) return;
    if (target_ == "higher_order::scan") drop_scan_direction();
    std::vector<Argument> args;
    if (known_) {
      args = bind(*schema);
      if (reads_float8(target_)) decode_float8(args);
    } else {
      schema = make_schema(&args);
    }
    node_ = scope_.graph().append(std::move(schema), std::move(args));
    node_->source = scope_.context().source(json_);
    for (const Json& output : outputs_) define_output(output, *node_);
    if (known_) check_outputs(*node_);
    if (known_ && is_cast(target_)) encode_float8(*node_);
    check_float8(*node_);
    node_->name = node_name();
    refuse_unknown(*node_);
  }

  Diagnostic located(const Failure& failure) const {
    Diagnostic out{"bad-node", failure.what(), {}, {}, {}};
    if (!failure.diagnostics().empty()) out = failure.diagnostics()[0];
    out.message = (target_.empty() ? "" : target_ + ": ") + out.message;
    out.where = node_name();
    out.source = source_line();
    return out;
  }

  std::string source_line() const {
    const std::shared_ptr<const Source> source = scope_.context().source(json_);
    return source ? source->newest_frame() : "";
  }

  // Called when run() has thrown: leaves a refused node that defines the results, so that the nodes
  // that use them can still be imported.
  void stand_in() {
    if (target_.empty()) target_ = "unknown::operator";
    if (node_ == nullptr) {
      auto schema = std::make_shared<Schema>();
      schema->name = target_;
      for (const Json& output : outputs_) schema->returns.push_back({return_type(output), {}, {}});
      node_ = scope_.graph().append(std::move(schema), {});
      node_->source = scope_.context().source(json_);
    }
    node_->name = node_name();
    for (size_t i = node_->outputs.size(); i < outputs_.size(); ++i) {
      define_output(outputs_[i], *node_);
    }
    mark_refused(*node_);
  }

  // "node 'add' (aten::add.Tensor)"
  std::string where() const {
    const std::string name = node_name();
    return "node " + in_quotes(name) +
           (target_.empty() || name == target_ ? "" : " (" + target_ + ")");
  }

 private:
  // A value of unknown type has been reported already: nodes that use or define one are refused
  // without a diagnostic of their own.
  void refuse_unknown(Node& node) const {
    const auto& unknown = scope_.context().unknown;
    if (unknown.empty()) return;
    bool found = false;
    const auto look = [&](const Value* value) { found = found || unknown.count(value) != 0; };
    for_each_value(node, look);
    for (const Value* output : node.outputs) look(output);
    if (found) mark_refused(node);
  }

  // Whether it asserts that a value is an 8-bit float, which the table of types says, too.
  bool restates_float8() const {
    if (target_ != "aten::_assert_tensor_metadata" || given_.empty()) return false;
    const std::optional<Json> tensor = json_find(given_[0].json, "as_tensor");
    return tensor && scope_.context().float8.count(scope_.use(name_of(*tensor))) != 0;
  }

  // 0 if the value is no 8-bit float.
  int64_t float8_code(const Value* value) const {
    const auto& float8 = scope_.context().float8;
    const auto found = float8.find(value);
    return found == float8.end() ? 0 : found->second;
  }

  void decode_float8(std::vector<Argument>& args) {
    for (Argument& arg : args) {
      const int64_t code = arg.is_value() ? float8_code(arg.value()) : 0;
      if (code == 0) continue;
      Graph& graph = scope_.graph();
      Node* node = graph.append(graph.operators()->find("taper::decode_float8"), {arg, code});
      node->source = scope_.context().source(json_);
      node->name = arg.value()->name + "_decoded";
      TensorType type = arg.value()->type;
      type.dtype = ScalarType::kFloat;
      Value* numbers = graph.new_tensor(node->name, std::move(type));
      add_output(*node, numbers);
      arg = numbers;
    }
  }

  // A cast whose result is an 8-bit float becomes the operator that rounds to those.
  void encode_float8(Node& node) const {
    const int64_t code = node.outputs.size() == 1 ? float8_code(node.outputs[0]) : 0;
    if (code == 0) return;
    node.schema = scope_.graph().operators()->find("taper::encode_float8");
    node.args = {node.args[0], code};
  }

  // What remains moves codes, and those of one format alone.
  void check_float8(const Node& node) const {
    const auto& float8 = scope_.context().float8;
    if (float8.empty() || node.is("taper::encode_float8") || target_ == "aten::view.dtype" ||
        target_ == kInnerTensor || target_.starts_with(kHigherOrder) || makes_zeros(node)) {
      return;
    }
    bool mixes = false, has_any = false;
    int64_t code = 0;
    const auto look = [&](const Value* value) {
      const int64_t each = float8_code(value);
      has_any = has_any || each != 0;
      mixes = mixes || (each == 0 ? is_floating(value->type.dtype) : code != 0 && code != each);
      if (each != 0) code = each;
    };
    for_each_value(node, look);
    for (const Value* output : node.outputs) look(output);
    const bool moves = only_moves_elements(target_) || reads_sizes(target_);
    if (!has_any || (moves && !mixes)) return;
    refuse_float8("numbers are computed from it");
  }

  // The code of 0 is 0.
  static bool makes_zeros(const Node& node) {
    constexpr std::string_view kMakers[] = {
        "aten::zeros",      "aten::zeros_like", "aten::new_zeros", "aten::empty.memory_format",
        "aten::empty_like", "aten::new_empty",  "aten::full",      "aten::full_like",
        "aten::new_full"};
    if (std::find(std::begin(kMakers), std::end(kMakers), node.target()) == std::end(kMakers)) {
      return false;
    }
    if (node.schema->find("fill_value") < 0) return true;
    const Argument& value = node.arg("fill_value");
    return !value.is_value() && value.to_double() == 0;
  }

  static bool reads_sizes(std::string_view target) {
    return target.starts_with("aten::sym_") || target.starts_with("aten::_assert");
  }

  std::string node_name() const {
    const std::string_view given = json_text_or(json_, "name", "");
    if (!given.empty()) return std::string(given);
    for (const Json& output : outputs_) {
      const std::optional<Json> tensor = json_find(output, "as_tensor");
      if (tensor) return std::string(json_text_or(*tensor, "name", target_));
    }
    return target_;
  }

  // with_effects(token, op, args...) -> (token, results...) orders calls with side effects. Here
  // the order of the nodes does that, so the tokens are dropped.
  void unwrap_effects() {
    if (given_.size() < 2 || outputs_.empty())
      refuse("bad-json", "with_effects lacks its operator");
    const JsonVariant op = json_variant(given_[1].json, "operator");
    target_ = import_target(json_text(op.value, "operator"));
    given_.erase(given_.begin(), given_.begin() + 2);
    const std::optional<Json> token = json_find(outputs_[0], "as_tensor");
    if (!token) refuse("bad-json", "with_effects does not return a token");
    scope_.define_token(name_of(*token));
    outputs_.erase(outputs_.begin());
  }

  // An operator of prims becomes ATen's, which knows no gradients and has other names for some
  // arguments: those are known by their places.
  void call_twin(std::string_view twin) {
    target_ = twin;
    const std::shared_ptr<const Schema> schema = scope_.graph().operators()->find(target_);
    given_.erase(std::remove_if(given_.begin(), given_.end(),
                                [](const Given& each) { return each.name == "requires_grad"; }),
                 given_.end());
    for (size_t i = 0; schema != nullptr && i < given_.size(); ++i) {
      Given& each = given_[i];
      if (each.name == "output_dtype") each.name = "dtype";
      const bool is_other = !each.name.empty() && schema->find(each.name) < 0;
      if (is_other && i < schema->args.size()) each.name = schema->args[i].name;
    }
  }

  // PyTorch 2.6 passes dim and reverse before the last list; later versions always scan forward
  // over dimension 0.
  void drop_scan_direction() {
    if (given_.size() != 6) return;
    const Argument dim = read_argument(given_[3].json, scope_);
    const Argument reverse = read_argument(given_[4].json, scope_);
    if (dim.to_int() != 0 || reverse.to_bool()) {
      refuse("unsupported-argument",
             "a scan over a dimension other than 0, or backwards, cannot be "
             "compiled",
             {}, "export with PyTorch 2.9 or later");
    }
    given_.erase(given_.begin() + 3, given_.begin() + 5);
  }

  std::vector<Argument> bind(const Schema& schema) {
    std::vector<Argument> args(schema.args.size());
    std::vector<bool> bound(schema.args.size(), false);
    for (size_t i = 0, next = 0; i < given_.size(); ++i) {
      const Given& given = given_[i];
      // Python's functions name their parameters differently from our schemas.
      const bool in_order = given.name.empty() || schema.name.starts_with("python::");
      const int found = in_order ? -1 : schema.find(given.name);
      if (!in_order && found < 0) {
        refuse("unknown-argument", "has no argument " + in_quotes(given.name));
      }
      size_t slot = in_order ? next++ : static_cast<size_t>(found);
      if (slot >= args.size() && takes_rest(schema)) slot = args.size() - 1;
      if (slot >= args.size()) refuse("unknown-argument", "has more arguments than its schema");
      Argument value = read_argument(given.json, scope_);
      const bool spread = slot + 1 == args.size() && takes_rest(schema) && !value.is_list();
      if (spread) {
        if (!bound[slot]) args[slot] = Argument::List();
        args[slot].list().push_back(std::move(value));
      } else {
        if (bound[slot])
          refuse("unknown-argument", in_quotes(schema.args[slot].name) + " is given twice");
        args[slot] = std::move(value);
      }
      bound[slot] = true;
    }
    fill_in(schema, bound, &args);
    return args;
  }

  // The last argument of a higher-order operator is variadic: it takes all remaining arguments.
  static bool takes_rest(const Schema& schema) {
    return schema.name.starts_with(kHigherOrder) && !schema.args.empty() &&
           schema.args.back().type.list;
  }

  void fill_in(const Schema& schema, const std::vector<bool>& bound, std::vector<Argument>* args) {
    for (size_t i = 0; i < args->size(); ++i) {
      const SchemaArg& declared = schema.args[i];
      if (bound[i]) {
        coerce((*args)[i], declared.type, declared.name);
      } else if (declared.has_default) {
        (*args)[i] = default_argument(declared);
      } else if (takes_rest(schema) && i + 1 == args->size()) {
        (*args)[i] = Argument::List();
      } else if (!declared.type.optional) {
        refuse("missing-argument", "argument " + in_quotes(declared.name) + " is missing");
      }
    }
  }

  std::shared_ptr<const Schema> make_schema(std::vector<Argument>* args) {
    auto schema = std::make_shared<Schema>();
    schema->name = target_;
    for (const Given& given : given_) {
      SchemaArg arg;
      arg.name =
          given.name.empty() ? "arg" + std::to_string(args->size()) : std::string(given.name);
      arg.type = list_type(json_variant(given.json, "argument").key);
      args->push_back(read_argument(given.json, scope_));
      schema->args.push_back(std::move(arg));
    }
    for (const Json& output : outputs_) schema->returns.push_back({return_type(output), {}, {}});
    return schema;
  }

  // What the file says of a list, which may be empty; of anything else the value says it.
  static ArgType list_type(std::string_view kind) {
    if (kind == "as_ints" || kind == "as_sym_ints") return {TypeBase::kInt, false, true};
    if (kind == "as_floats") return {TypeBase::kFloat, false, true};
    if (kind == "as_bools") return {TypeBase::kBool, false, true};
    if (kind == "as_tensors") return {TypeBase::kTensor, false, true};
    if (kind == "as_optional_tensors") return {TypeBase::kTensor, false, true, true};
    return {};
  }

  static ArgType return_type(Json output) {
    const std::string_view kind = json_variant(output, "output").key;
    ArgType type;
    type.list = kind == "as_tensors" || kind == "as_optional_tensors";
    if (kind == "as_tensor" || kind == "as_none" || type.list) type.base = TypeBase::kTensor;
    if (kind == "as_sym_int" || kind == "as_int") type.base = TypeBase::kInt;
    if (kind == "as_sym_float" || kind == "as_float") type.base = TypeBase::kFloat;
    if (kind == "as_sym_bool" || kind == "as_bool") type.base = TypeBase::kBool;
    return type;
  }

  // promote_types and can_cast return a dtype or a bool, which the exporter has evaluated already:
  // the file states no result, so no node can use it.
  bool has_no_result(const Schema& schema) const {
    if (schema.returns.size() != 1 || outputs_.size() != 1) return false;
    const ArgType& type = schema.returns[0].type;
    return !type.list && type.base != TypeBase::kTensor && type.base != TypeBase::kAny &&
           json_variant(outputs_[0], "output").key == "as_none";
  }

  // --- Results
  void add_output(Node& node, Value* value) {
    value->producer = &node;
    node.outputs.push_back(value);
  }

  void define_output(Json output, Node& node) {
    const auto [kind, json] = json_variant(output, "output");
    if (kind == "as_tensor") {
      add_output(node, scope_.define(name_of(json), ValueKind::kTensor));
    } else if (kind == "as_tensors") {
      for (const Json item : json_array(json, kind)) {
        add_output(node, scope_.define(name_of(item), ValueKind::kTensor));
      }
    } else if (kind == "as_optional_tensors") {
      for (const Json item : json_array(json, kind)) define_output(item, node);
    } else if (kind == "as_none") {
      add_output(node, scope_.define_unnamed(ValueKind::kTensor, Sym(0)));
    } else if (kind == "as_sym_int" || kind == "as_sym_float" || kind == "as_sym_bool") {
      define_symbolic(json_variant(json, kind), value_kind(kind), node);
    } else if (kind == "as_int" || kind == "as_float" || kind == "as_bool") {
      define_symbolic({kind, json}, value_kind(kind), node);
    } else {
      refuse("unsupported-output",
             "a result of the kind " + in_quotes(kind) + " cannot be compiled");
    }
  }

  static ValueKind value_kind(std::string_view kind) {
    if (kind.ends_with("int")) return ValueKind::kInt;
    return kind.ends_with("float") ? ValueKind::kFloat : ValueKind::kBool;
  }

  void define_symbolic(const JsonVariant& variant, ValueKind kind, Node& node) {
    if (variant.key == "as_name") {
      add_output(node, scope_.define(json_text(variant.value, "as_name"), kind));
      return;
    }
    const Sym known = kind == ValueKind::kInt ? Sym(json_int(variant.value, "result"))
                      : kind == ValueKind::kBool
                          ? Sym(json_bool(variant.value, "result") ? 1 : 0)
                          : Sym::from_float(json_double(variant.value, "result"));
    add_output(node, scope_.define_unnamed(kind, known));
  }

  void check_outputs(const Node& node) const {
    const std::vector<SchemaReturn>& returns = node.schema->returns;
    const bool has_list = std::any_of(returns.begin(), returns.end(),
                                      [](const SchemaReturn& r) { return r.type.list; });
    if (!has_list && node.outputs.size() != returns.size()) {
      refuse("bad-results", "has " + std::to_string(node.outputs.size()) +
                                " results, its operator " + std::to_string(returns.size()));
    }
  }

  Json json_;
  Scope& scope_;
  std::string target_;
  std::vector<Given> given_;
  std::vector<Json> outputs_;
  bool known_ = false;
  Node* node_ = nullptr;
};

// Adds the node and its source line to the failure, unless it names a node of a subgraph already.
[[noreturn]] void refuse_at(const NodeImporter& importer, Json node, const Failure& failure,
                            ImportContext& context) {
  const bool plain = failure.diagnostics().empty();
  const Diagnostic said =
      plain ? Diagnostic{"bad-node", failure.what(), {}, {}, {}} : failure.diagnostics()[0];
  if (said.where.starts_with("node ")) throw failure;
  const std::shared_ptr<const Source> source = context.source(node);
  refuse(said.id, said.message, importer.where(), said.remedy,
         source ? source->newest_frame() : std::string());
}

}  // namespace

void import_nodes(Json json, Scope& scope) {
  for (const Json node : json_array(json_need(json, "nodes"), "nodes")) {
    scope.context().budget.take_items(4, "nodes");
    NodeImporter importer(node, scope);
    std::vector<Diagnostic>* problems = scope.context().problems;
    const size_t before = problems == nullptr ? 0 : problems->size();
    try {
      importer.run();
    } catch (const Failure& failure) {
      if (problems == nullptr || problems->size() >= kMostProblems) {
        refuse_at(importer, node, failure, scope.context());
      }
      problems->push_back(importer.located(failure));
      importer.stand_in();
    }
    for (size_t i = before; problems != nullptr && i < problems->size(); ++i) {
      if ((*problems)[i].source.empty()) (*problems)[i].source = importer.source_line();
    }
  }
}

Argument import_input(Json argument, Scope& scope) {
  const JsonVariant variant = json_variant(argument, "input");
  Value* value = nullptr;
  if (variant.key == "as_tensor") {
    value = scope.define(name_of(variant.value), ValueKind::kTensor);
  } else if (variant.key.starts_with("as_sym_")) {
    const JsonVariant inner = json_variant(variant.value, "input");
    if (inner.key != "as_name") return read_argument(argument, scope);
    const ValueKind kind = variant.key == "as_sym_int"     ? ValueKind::kInt
                           : variant.key == "as_sym_float" ? ValueKind::kFloat
                                                           : ValueKind::kBool;
    value = scope.define(json_text(inner.value, "as_name"), kind);
  } else {
    return read_argument(argument, scope);
  }
  value->role = ValueRole::kInput;
  return value;
}

std::shared_ptr<Graph> import_subgraph(Json json, std::string_view name, Scope& outer) {
  ImportContext& context = outer.context();
  if (context.depth >= kDeepestGraph) refuse("too-deep", "has graphs nested too deeply");
  ++context.depth;
  auto graph = std::make_shared<Graph>(outer.graph().operators());
  graph->name = std::string(name);
  Scope scope(*graph, json, context);
  for (const Json input : json_array(json_need(json, "inputs"), "inputs")) {
    graph->inputs.push_back(import_input(input, scope));
  }
  import_nodes(json, scope);
  for (const Json output : json_array(json_need(json, "outputs"), "outputs")) {
    graph->outputs.push_back(read_argument(output, scope));
  }
  --context.depth;
  return graph;
}

}  // namespace taper::exir
