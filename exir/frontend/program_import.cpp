// Imports the main graph and binds its signature, which says which input is a parameter and which
// output a mutation.

#include "exir/frontend/program_import.h"

#include <algorithm>
#include <deque>

#include "exir/frontend/argument_import.h"
#include "exir/frontend/graph_import.h"
#include "exir/frontend/guard_import.h"
#include "exir/frontend/scope.h"
#include "exir/frontend/weight_object.h"

namespace taper::exir {
namespace {

constexpr int64_t kSchemaMajor = 8, kNewestMinor = 20;

bool is_symbol_name(std::string_view name) {
  return !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '_';
         });
}

// A size is never negative; an unbacked symbol is read from a tensor and may be any integer.
int64_t lowest_of(std::string_view symbol) { return symbol[0] == 'u' ? INT64_MIN : 0; }

SymRange read_range(std::string_view symbol, Json json) {
  SymRange range{lowest_of(symbol), SymRange::kUnbounded};
  const std::optional<Json> low = json_find(json, "min_val"), high = json_find(json, "max_val");
  if (low && low->is_int64()) range.min = json_int(*low, "min_val");
  if (high && high->is_int64()) range.max = json_int(*high, "max_val");
  if (range.max == SymRange::kUnbounded - 1) range.max = SymRange::kUnbounded;
  if (range.min > range.max) {
    refuse("bad-range", "symbol " + in_quotes(symbol) + " has an empty range");
  }
  return range;
}

class ProgramImporter {
 public:
  ProgramImporter(Container& container, Budget& budget, const Operators& operators,
                  std::vector<std::string>* warnings, std::vector<Diagnostic>* problems)
      : container_(container),
        warnings_(warnings),
        context_(budget),
        root_(container.program->root()),
        module_(json_need(root_, "graph_module")),
        json_(json_need(module_, "graph")),
        graph_(std::make_unique<Graph>(operators)),
        scope_(*graph_, json_, context_) {
    context_.problems = problems;
  }

  std::unique_ptr<Graph> run() {
    read_ranges();
    import_inputs();
    read_guards();
    import_nodes(json_, scope_);
    import_outputs();
    bind_saved();
    read_specs();
    for (const std::string& symbol : context_.symbols) {
      if (symbol[0] != 'z') graph_->ranges.try_emplace(symbol, SymRange{});
    }
    graph_->hints = std::move(context_.hints);
    for (const auto& node : graph_->nodes) {
      for (Value* value : node->outputs) {
        if (value->kind == ValueKind::kTensor) value->holds = {value->name};
      }
    }
    return std::move(graph_);
  }

 private:
  void read_ranges() {
    const std::optional<Json> ranges = json_find(root_, "range_constraints");
    if (!ranges) return;
    for (const auto field : json_object(*ranges, "range_constraints")) {
      context_.budget.take_items(1, "range_constraints");
      if (is_symbol_name(field.key)) {
        graph_->ranges[std::string(field.key)] = read_range(field.key, field.value);
      }
    }
  }

  // --- Inputs
  void import_inputs() {
    const Json signature = json_need(module_, "signature");
    const JsonArray inputs = json_array(json_need(json_, "inputs"), "inputs");
    const JsonArray specs = json_array(json_need(signature, "input_specs"), "input_specs");
    auto spec = specs.begin();
    for (const Json input : inputs) {
      if (spec == specs.end()) break;
      import_one_input(input, json_variant(*spec, "input_spec"));
      ++spec;
    }
    if (json_size(inputs) != json_size(specs)) {
      refuse("bad-signature", "has " + std::to_string(json_size(inputs)) +
                                  " inputs, but its signature lists " +
                                  std::to_string(json_size(specs)));
    }
  }

  void import_one_input(Json input, const JsonVariant& spec) {
    if (spec.key == "user_input" || spec.key == "constant_input") {
      graph_->inputs.push_back(import_input(input, scope_));
      refuse_float8(graph_->inputs.back(), "takes");
    } else if (spec.key == "token") {
      scope_.define_token(tensor_name(input, spec));
    } else if (spec.key == "parameter") {
      declare_saved(input, spec, "parameter_name");
    } else if (spec.key == "buffer") {
      declare_saved(input, spec, "buffer_name");
    } else if (spec.key == "tensor_constant") {
      declare_saved(input, spec, "tensor_constant_name");
    } else {
      refuse("unsupported-input",
             "has an input of the kind " + in_quotes(spec.key) + ", which cannot be compiled");
    }
  }

  void refuse_float8(const Argument& arg, const char* does) const {
    for_each_value(arg, [&](const Value* value) {
      if (context_.float8.count(value) == 0) return;
      refuse("unknown-dtype",
             std::string(does) + " 8-bit floats in " + in_quotes(value->name) +
                 ", which only a program's inside may have",
             {}, "cast it from or to float32 or float16 in the model");
    });
  }

  // The input's name. Throws Failure if the graph and the signature disagree.
  std::string_view tensor_name(Json input, const JsonVariant& spec) {
    const JsonVariant variant = json_variant(input, "input");
    const std::string_view said =
        json_text(json_need(json_need(spec.value, "arg"), "name"), "name");
    if (variant.key != "as_tensor" || json_text(json_need(variant.value, "name"), "name") != said) {
      refuse("bad-signature",
             "the signature names an input " + in_quotes(said) + ", but the graph does not");
    }
    return said;
  }

  void declare_saved(Json input, const JsonVariant& spec, const char* fqn_key) {
    SavedTensor saved;
    saved.name = tensor_name(input, spec);
    saved.fqn = json_text(json_need(spec.value, fqn_key), fqn_key);
    saved.kind = spec.key;
    saved.persistent = spec.key == "parameter";
    if (const std::optional<Json> persistent = json_find(spec.value, "persistent")) {
      saved.persistent = json_bool(*persistent, "persistent");
    }
    saved_.push_back(saved);
    scope_.define_saved(&saved_.back());
  }

  // --- Guards
  // One that cannot be read is told of: what it excludes would give other numbers than PyTorch.
  void read_guards() {
    const std::optional<Json> guards = json_find(root_, "guards_code");
    if (!guards) return;
    const auto input = [&](const std::string& name) -> const Value* {
      for (const Argument& each : graph_->inputs) {
        if (each.is_value() && each.value()->name == name) return each.value();
      }
      return nullptr;
    };
    for (const Json guard : json_array(*guards, "guards_code")) {
      context_.budget.take_items(1, "guards_code");
      try {
        graph_->guards.push_back(parse_guard(json_text(guard, "guards_code"), input));
      } catch (const Failure& failure) {
        warnings_->push_back(std::string(failure.what()) + "; it is not checked");
      }
    }
  }

  // --- Outputs
  void import_outputs() {
    const Json signature = json_need(module_, "signature");
    size_t count = 0;
    for (const Json spec : json_array(json_need(signature, "output_specs"), "output_specs")) {
      import_output(json_variant(spec, "output_spec"));
      ++count;
    }
    if (json_size(json_array(json_need(json_, "outputs"), "outputs")) != count) {
      refuse("bad-signature", "the signature and the graph have different numbers of outputs");
    }
  }

  void import_output(const JsonVariant& spec) {
    if (spec.key == "user_output") {
      graph_->outputs.push_back(read_argument(json_need(spec.value, "arg"), scope_));
      refuse_float8(graph_->outputs.back(), "returns");
    } else if (spec.key == "buffer_mutation") {
      add_mutation(spec.value, state("buffer", text_of(spec.value, "buffer_name")));
    } else if (spec.key == "parameter_mutation") {
      add_mutation(spec.value, state("parameter", text_of(spec.value, "parameter_name")));
    } else if (spec.key == "user_input_mutation") {
      Value* input = scope_.use(text_of(spec.value, "user_input_name"));
      if (input->role != ValueRole::kInput)
        refuse("bad-signature", "mutates a value that is not an input");
      add_mutation(spec.value, input);
    } else if (spec.key != "token") {
      refuse("training-graph",
             "is a program for training (it has an output of the kind " + in_quotes(spec.key) + ")",
             {}, "export the model in eval() mode, without a loss");
    }
  }

  static std::string_view text_of(Json json, const char* key) {
    return json_text(json_need(json, key), key);
  }

  Value* state(std::string_view kind, std::string_view fqn) {
    for (SavedTensor& saved : saved_) {
      if (saved.fqn != fqn || saved.kind != kind) continue;
      Value* value = scope_.use(saved.name);
      value->role = ValueRole::kState;
      return value;
    }
    refuse("bad-signature",
           "mutates " + std::string(kind) + " " + in_quotes(fqn) + ", which is not an input");
  }

  void add_mutation(Json spec, Value* target) {
    Value* source = scope_.use(text_of(json_need(spec, "arg"), "name"));
    const bool same = target->kind == ValueKind::kTensor && source->kind == ValueKind::kTensor &&
                      target->type.dtype == source->type.dtype &&
                      target->type.sizes == source->type.sizes;
    if (!same) {
      refuse("bad-signature", "writes value " + in_quotes(source->name) + " over " +
                                  in_quotes(target->name) + ", which has another type");
    }
    graph_->mutations.push_back({target, source});
  }

  // --- Saved tensors
  void bind_saved() {
    for (const SavedTensor& saved : saved_) {
      if (!saved.value) continue;
      const std::string where = std::string(saved.kind) + " " + in_quotes(saved.fqn);
      try {
        if (bind_object(saved)) continue;
        bind(saved);
      } catch (const Failure& failure) {
        if (failure.diagnostics().empty()) throw;
        const Diagnostic& said = failure.diagnostics()[0];
        refuse(said.id, said.message, said.where.empty() ? where : said.where, said.remedy);
      }
      graph_->constants.push_back(saved.value);
    }
  }

  // Nodes at the beginning compute a weight that is saved as an object. Returns false for others.
  bool bind_object(const SavedTensor& saved) {
    TensorStore& store = container_.weights;
    if (!store.has(saved.fqn) || !store.is_object(saved.fqn)) return false;
    std::unique_ptr<TensorStore> object;
    try {
      object = store.open_object(saved.fqn);
    } catch (const Failure&) {
      return false;  // Refused as what cannot be read.
    }
    bind_inner_tensors(saved, *object);
    bool is_read = false;
    for (const auto& node : graph_->nodes) {
      for_each_value(*node, [&](const Value* value) { is_read = is_read || value == saved.value; });
    }
    if (!is_read) return true;
    const size_t before = graph_->nodes.size();
    if (!define_weight(*graph_, saved.value, *object)) return false;
    std::rotate(graph_->nodes.begin(), graph_->nodes.begin() + static_cast<ptrdiff_t>(before),
                graph_->nodes.end());
    return true;
  }

  // The tensors of an object that nodes read become constants.
  void bind_inner_tensors(const SavedTensor& saved, TensorStore& object) {
    const auto binds = [&](const std::unique_ptr<Node>& node) {
      const bool reads = node->is(kInnerTensor) && node->args.size() == 2 &&
                         node->arg(0).is_value() && node->arg(0).value() == saved.value &&
                         node->arg(1).is<std::string>() && node->outputs.size() == 1;
      if (!reads || !object.has_attribute(node->arg(1).text())) return false;
      Value* inner = node->outputs[0];
      TensorStore::Tensor tensor = object.load(node->arg(1).text());
      const auto code = context_.float8.find(inner);
      if (tensor.type.dtype != inner->type.dtype || tensor.type.sizes != inner->type.sizes ||
          tensor.float8 != (code == context_.float8.end() ? 0 : code->second)) {
        refuse("bad-weights", "holds a tensor of another dtype or shape than the graph states");
      }
      inner->role = ValueRole::kConstant;
      inner->producer = nullptr;
      inner->fqn = std::string(saved.fqn) + "." + node->arg(1).text();
      inner->type.dim_order = std::move(tensor.type.dim_order);
      inner->data = std::move(tensor.data);
      graph_->constants.push_back(inner);
      return true;
    };
    auto& nodes = graph_->nodes;
    nodes.erase(std::remove_if(nodes.begin(), nodes.end(), binds), nodes.end());
  }

  void bind(const SavedTensor& saved) {
    TensorStore* first = &container_.weights;
    TensorStore* second = &container_.constants;
    if (!saved.persistent) std::swap(first, second);
    TensorStore* store = first->has(saved.fqn) ? first : second;
    if (!store->has(saved.fqn)) refuse("missing-weights", "is not in the archive");
    TensorStore::Tensor tensor = store->load(saved.fqn);
    TensorType& type = saved.value->type;
    if (tensor.type.dtype != type.dtype || tensor.type.sizes != type.sizes) {
      refuse("bad-weights", "is saved with another dtype or shape than the graph states");
    }
    type.dim_order = std::move(tensor.type.dim_order);
    saved.value->data = std::move(tensor.data);
  }

  // --- Structure of inputs and outputs
  void read_specs() {
    const std::optional<Json> calls = json_find(module_, "module_call_graph");
    if (!calls) return;
    for (const Json entry : json_array(*calls, "module_call_graph")) {
      const std::optional<Json> signature = json_find(entry, "signature");
      if (!signature || !json_text_or(entry, "fqn", "").empty()) continue;
      graph_->in_spec = std::string(json_text_or(*signature, "in_spec", ""));
      graph_->out_spec = std::string(json_text_or(*signature, "out_spec", ""));
      return;
    }
  }

  Container& container_;
  std::vector<std::string>* warnings_;
  ImportContext context_;
  Json root_, module_, json_;
  std::unique_ptr<Graph> graph_;
  Scope scope_;
  std::deque<SavedTensor> saved_;
};

void check_version(Json root, std::vector<std::string>* warnings) {
  const Json version = json_need(root, "schema_version");
  const int64_t major = json_int(json_need(version, "major"), "major");
  const int64_t minor = json_int(json_need(version, "minor"), "minor");
  const std::string text = std::to_string(major) + "." + std::to_string(minor);
  if (major != kSchemaMajor) {
    refuse("unknown-version",
           "has schema version " + text + "; versions " + std::to_string(kSchemaMajor) +
               ".x (PyTorch 2.6 to 2.15) can be read",
           {}, "export it with a PyTorch in that range");
  }
  if (minor > kNewestMinor) {
    warnings->push_back("schema version " + text + " is newer than " +
                        std::to_string(kSchemaMajor) + "." + std::to_string(kNewestMinor) +
                        ", the newest known; unknown fields are ignored");
  }
}

}  // namespace

std::unique_ptr<Graph> import_program(Container& container, Budget& budget,
                                      const Operators& operators,
                                      std::vector<std::string>* warnings,
                                      std::vector<Diagnostic>* problems) {
  const Json root = container.program->root();
  check_version(root, warnings);
  return ProgramImporter(container, budget, operators, warnings, problems).run();
}

}  // namespace taper::exir
