// Walks the original's nodes and the graph's nodes side by side: both are in order of execution,
// and the names of results tell which are the same.

#include "exir/writer/program_text.h"

#include <map>
#include <set>
#include <unordered_set>

#include "exir/frontend/refuse.h"
#include "exir/ops/float8.h"
#include "exir/writer/json_text.h"
#include "exir/writer/node_text.h"

namespace taper::exir {
namespace {

// The one member of {"as_tensor": ...}.
JsonMember variant_of(std::string_view text) {
  const std::vector<JsonMember> members = json_members(text);
  if (members.size() != 1) refuse("bad-json", "an argument has not one kind");
  return members[0];
}

std::string name_in(std::string_view object) { return json_unquote(json_required(object, "name")); }

std::string with_member(std::string_view object, std::string_view key, const std::string& value) {
  std::vector<JsonMember> members = json_members(object);
  for (JsonMember& member : members) {
    if (member.key == key) member.value = value;
  }
  return object_text(members);
}

// The names of the tensors in an argument's text.
void collect_names(std::string_view text, std::vector<std::string>* names) {
  const JsonMember variant = variant_of(text);
  if (variant.key == "as_tensor") {
    names->push_back(name_in(variant.value));
  } else if (variant.key == "as_tensors") {
    for (const std::string_view item : json_items(variant.value)) names->push_back(name_in(item));
  } else if (variant.key == "as_optional_tensor") {
    collect_names(variant.value, names);
  } else if (variant.key == "as_optional_tensors") {
    for (const std::string_view item : json_items(variant.value)) collect_names(item, names);
  }
}

std::vector<std::string> names_in(const Argument& arg) {
  std::vector<std::string> names;
  for_each_value(arg, [&](const Value* value) {
    const bool literal = value->role == ValueRole::kConstant && value->fqn.empty();
    if (value->kind == ValueKind::kTensor && !literal) names.push_back(value->name);
  });
  return names;
}

// The name of a node's first named result; empty if it has none.
std::string result_of(std::string_view node) {
  for (const std::string_view output : json_items(json_required(node, "outputs"))) {
    const JsonMember variant = variant_of(output);
    std::vector<std::string> names;
    if (variant.key.starts_with("as_sym_")) {
      const JsonMember symbol = variant_of(variant.value);
      if (symbol.key == "as_name") return json_unquote(symbol.value);
    } else {
      collect_names(output, &names);
    }
    if (!names.empty()) return names[0];
  }
  return {};
}

class Changer {
 public:
  Changer(std::string_view original, const Graph& imported, const Graph& graph)
      : original_(original),
        graph_(graph),
        module_(json_required(original, "graph_module")),
        body_(json_required(module_, "graph")),
        signature_(json_required(module_, "signature")) {
    for (const Value* constant : imported.constants) imported_constants_.insert(constant->name);
    // Also results that have no name in the file.
    for (const auto& node : imported.nodes) {
      for (const Value* output : node->outputs) {
        original_results_.insert(output->name);
        imported_[output->name] = node.get();
        if (output->kind == ValueKind::kTensor) originals_.push_back(output);
      }
    }
  }

  ProgramText run() {
    find_values();
    read_originals();
    change_inputs();
    change_nodes();
    change_outputs();
    std::vector<JsonMember> body = json_members(body_);
    const std::string tensors = tensor_values();
    for (JsonMember& member : body) {
      if (member.key == "inputs") member.value = inputs_;
      if (member.key == "nodes") member.value = nodes_;
      if (member.key == "outputs") member.value = outputs_;
      if (member.key == "tensor_values") member.value = tensors;
    }
    const std::string signature = with_member(with_member(signature_, "input_specs", input_specs_),
                                              "output_specs", output_specs_);
    const std::string module =
        with_member(with_member(module_, "graph", object_text(body)), "signature", signature);
    out_.text = with_member(original_, "graph_module", module);
    return std::move(out_);
  }

 private:
  // --- What there is
  void find_values() {
    const auto use = [&](const Value* value) { used_.insert(value); };
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      for_each_value(*graph_.nodes[i], use);
      for (const Value* output : graph_.nodes[i]->outputs) producers_[output->name] = i;
    }
    for (const Argument& output : graph_.outputs) for_each_value(output, use);
    for (const Mutation& mutation : graph_.mutations) {
      use(mutation.source);
      use(mutation.target);
    }
    for (const Value* value : graph_.constants) constants_[value->name] = value;
  }

  void read_originals() {
    for (const JsonMember& member : json_members(json_required(body_, "tensor_values"))) {
      metas_[member.key] = std::string(member.value);
    }
    for (const std::string_view node : json_items(json_required(body_, "nodes"))) {
      for (const std::string_view input : json_items(json_required(node, "inputs"))) {
        std::vector<std::string> names;
        collect_names(json_required(input, "arg"), &names);
        file_reads_.insert(names.begin(), names.end());
      }
      const std::string result = result_of(node);
      if (result.empty()) continue;
      if (const std::string_view metadata = json_member(node, "metadata"); !metadata.empty()) {
        metadata_[result] = metadata;
      }
    }
  }

  // --- Inputs
  void change_inputs() {
    const std::vector<std::string_view> inputs = json_items(json_required(body_, "inputs"));
    const std::vector<std::string_view> specs =
        json_items(json_required(signature_, "input_specs"));
    std::vector<std::string> kept, kept_specs;
    size_t end_of_buffers = 0;
    for (size_t i = 0; i < inputs.size() && i < specs.size(); ++i) {
      const JsonMember spec = variant_of(specs[i]);
      if (!keep_input(spec)) continue;
      kept.emplace_back(inputs[i]);
      kept_specs.emplace_back(specs[i]);
      if (spec.key == "parameter" || spec.key == "buffer") end_of_buffers = kept.size();
    }
    for (const Value* value : graph_.constants) {
      if (original_inputs_.count(value->name) != 0 || used_.count(value) == 0) continue;
      if (value->fqn.empty()) continue;  // A number within an argument.
      add_buffer(*value, kept, kept_specs, end_of_buffers++);
    }
    inputs_ = list_text(kept);
    input_specs_ = list_text(kept_specs);
  }

  bool keep_input(const JsonMember& spec) {
    const char* fqn_key = spec.key == "parameter"         ? "parameter_name"
                          : spec.key == "buffer"          ? "buffer_name"
                          : spec.key == "tensor_constant" ? "tensor_constant_name"
                                                          : nullptr;
    if (fqn_key == nullptr) return true;
    const std::string name = name_in(json_required(spec.value, "arg"));
    original_inputs_.insert(name);
    const auto found = constants_.find(name);
    if (imported_constants_.count(name) == 0 && file_reads_.count(name) != 0) {
      refuse("unsupported-weights",
             "has the weight " + in_quotes(json_unquote(json_required(spec.value, fqn_key))) +
                 ", an object that cannot be written",
             {}, "call run_decompositions() on the exported program before saving it");
    }
    if (found == constants_.end() || used_.count(found->second) == 0) {
      metas_.erase(name);
      return false;
    }
    SavedWeight saved;
    saved.value = found->second;
    saved.fqn = json_unquote(json_required(spec.value, fqn_key));
    saved.parameter = spec.key == "parameter";
    saved.with_weights = saved.parameter || json_member(spec.value, "persistent") == "true";
    const auto code = std::stoll(std::string(json_required(metas_.at(name), "dtype")));
    if (find_float8(code) != nullptr) saved.float8 = code;
    fqns_.insert(saved.fqn);
    out_.saved.push_back(saved);
    return true;
  }

  void add_buffer(const Value& value, std::vector<std::string>& inputs,
                  std::vector<std::string>& specs, size_t at) {
    if (!fqns_.insert(value.fqn).second) {
      refuse("name-taken", "has a tensor named " + in_quotes(value.fqn) + " already");
    }
    const std::string name = object_text({{"name", json_quote(value.name)}});
    const std::string fqn = json_quote(value.fqn);
    const std::string spec =
        object_text({{"arg", name}, {"buffer_name", fqn}, {"persistent", "true"}});
    inputs.insert(inputs.begin() + static_cast<ptrdiff_t>(at), object_text({{"as_tensor", name}}));
    specs.insert(specs.begin() + static_cast<ptrdiff_t>(at), object_text({{"buffer", spec}}));
    metas_[value.name] = tensor_meta_text(value.type);
    out_.saved.push_back({&value, value.fqn, false, true});
  }

  // --- Nodes
  void change_nodes() {
    std::vector<std::string> nodes;
    size_t next = 0;
    const auto add_new_up_to = [&](size_t end) {
      for (; next < end; ++next) {
        const Node& node = *graph_.nodes[next];
        if (!node.outputs.empty() && original_results_.count(node.outputs[0]->name) == 0) {
          nodes.push_back(new_node(node));
        }
      }
    };
    for (const std::string_view text : json_items(json_required(body_, "nodes"))) {
      const std::string result = result_of(text);
      const auto found = producers_.find(result);
      if (found == producers_.end()) {
        // Kept if the graph never had it: an operator on effects, or without results.
        if (original_results_.count(result) == 0) nodes.emplace_back(text);
        continue;
      }
      add_new_up_to(found->second);
      nodes.push_back(changed_node(text, *graph_.nodes[found->second], *imported_.at(result)));
    }
    add_new_up_to(graph_.nodes.size());
    nodes_ = list_text(nodes);
  }

  // The node's argument that the file gives under that name or at that place; null if unknown.
  static const Argument* argument_of(const Node& node, const std::string& name, size_t place,
                                     bool is_list) {
    const Schema& schema = *node.schema;
    if (const int found = schema.find(name); !name.empty() && found >= 0) {
      return &node.args[static_cast<size_t>(found)];
    }
    if (place + 1 < node.args.size()) return &node.args[place];
    if (node.args.empty()) return nullptr;
    const Argument& last = node.args.back();
    const size_t item = place + 1 - node.args.size();
    if (last.is_list() && !is_list && schema.name.starts_with("higher_order::")) {
      return item < last.list().size() ? &last.list()[item] : nullptr;
    }
    return item == 0 ? &last : nullptr;
  }

  // `was` is the node as the front end read it, which may call another operator than the file does.
  std::string changed_node(std::string_view text, const Node& node, const Node& was) const {
    std::vector<std::string> inputs;
    std::set<std::string> given;
    bool changed = false;
    const auto texts = json_items(json_required(text, "inputs"));
    for (size_t i = 0; i < texts.size(); ++i) {
      const std::string_view name_text = json_member(texts[i], "name");
      const std::string name = name_text.empty() ? "" : json_unquote(name_text);
      given.insert(name);
      const std::string_view given_arg = json_required(texts[i], "arg");
      const bool is_list = variant_of(given_arg).value.starts_with("[");
      const Argument* arg = argument_of(node, name, i, is_list);
      std::vector<std::string> names;
      collect_names(given_arg, &names);
      const Argument* before = argument_of(was, name, i, is_list);
      const bool is_same =
          before != nullptr && arg != nullptr && names_in(*before) == names_in(*arg);
      if (arg == nullptr || is_same || names == names_in(*arg)) {
        inputs.emplace_back(texts[i]);
        continue;
      }
      changed = true;
      inputs.push_back(with_member(texts[i], "arg", argument_text(*arg)));
    }
    for (size_t i = 0; i < node.args.size(); ++i) {  // A bias where there was none.
      const SchemaArg& declared = node.schema->args[i];
      const bool was_given = i < was.args.size() && was.args[i].is_value();
      const bool is_new = node.args[i].is_value() && !was_given && given.count(declared.name) == 0;
      if (!is_new || given.count("") != 0 || node.schema->name.find("::") == std::string::npos ||
          node.schema->name.starts_with("python::") ||
          node.schema->name.starts_with("higher_order::")) {
        continue;
      }
      inputs.push_back(input_text(declared, node.args[i]));
      changed = true;
    }
    std::string out(text);
    if (changed) out = with_member(out, "inputs", list_text(inputs));
    if (was.target() != node.target()) {
      out = with_member(out, "target", json_quote(target_text(node.target())));
    }
    return out;
  }

  std::string new_node(const Node& node) {
    std::vector<std::string> inputs, outputs;
    const Schema& schema = *node.schema;
    for (size_t i = 0; i < node.args.size(); ++i) {
      if (schema.args[i].keyword_only && node.args[i].is_none()) continue;
      inputs.push_back(input_text(schema.args[i], node.args[i]));
    }
    for (const Value* value : node.outputs) {
      outputs.push_back(argument_text(Argument(const_cast<Value*>(value))));
      metas_[value->name] = meta_of(*value, node);
    }
    const auto metadata = metadata_.find(node.name);
    const std::string none = "{}";
    const std::string target = json_quote(target_text(node.target()));
    // A node with several results has a name of its own.
    const std::string name =
        json_quote(node.outputs[0]->name + (node.outputs.size() > 1 ? "_results" : ""));
    const std::string in = list_text(inputs), out = list_text(outputs);
    return object_text(
        {{"target", target},
         {"inputs", in},
         {"outputs", out},
         {"metadata", metadata == metadata_.end() ? std::string_view(none) : metadata->second},
         {"is_hop_single_tensor_return", "null"},
         {"name", name}});
  }

  // Symbolic sizes are copied from a tensor that has the same: one that the node reads, or any.
  std::string meta_of(const Value& value, const Node& node) const {
    if (value.type.is_static()) return tensor_meta_text(value.type);
    std::string found;
    for_each_value(node, [&](const Value* arg) {
      const auto meta = metas_.find(arg->name);
      if (!found.empty() || meta == metas_.end() || arg->kind != ValueKind::kTensor) return;
      if (arg->type.sizes == value.type.sizes) {
        found = with_member(meta->second, "dtype", std::to_string(dtype_code(value.type.dtype)));
      }
    });
    for (size_t i = 0; found.empty() && i < originals_.size(); ++i) {
      const auto meta = metas_.find(originals_[i]->name);
      if (meta == metas_.end() || originals_[i]->type.sizes != value.type.sizes) continue;
      if (originals_[i]->type.dim_order != value.type.dim_order) continue;
      found = with_member(meta->second, "dtype", std::to_string(dtype_code(value.type.dtype)));
    }
    if (found.empty()) refuse("bad-program", in_quotes(value.name) + " has sizes of its own");
    return found;
  }

  // --- Outputs
  void change_outputs() {
    std::vector<std::string> outputs, specs;
    const auto texts = json_items(json_required(body_, "outputs"));
    size_t place = 0, user = 0, mutation = 0;
    for (const std::string_view text : json_items(json_required(signature_, "output_specs"))) {
      const JsonMember spec = variant_of(text);
      const std::string_view before = place < texts.size() ? texts[place++] : std::string_view();
      const Argument* now = nullptr;
      Argument source;
      if (spec.key == "user_output" && user < graph_.outputs.size()) {
        now = &graph_.outputs[user++];
      } else if (spec.key.ends_with("_mutation") && mutation < graph_.mutations.size()) {
        source = Argument(graph_.mutations[mutation++].source);
        now = &source;
      }
      std::vector<std::string> names;
      collect_names(before, &names);
      if (now == nullptr || names == names_in(*now)) {
        outputs.emplace_back(before);
        specs.emplace_back(text);
        continue;
      }
      const std::string arg = argument_text(*now);
      outputs.push_back(arg);
      const std::string said = spec.key == "user_output"
                                   ? arg
                                   : object_text({{"name", json_quote(source.value()->name)}});
      specs.push_back(object_text({{spec.key, with_member(spec.value, "arg", said)}}));
    }
    outputs_ = list_text(outputs);
    output_specs_ = list_text(specs);
  }

  std::string tensor_values() const {
    std::vector<JsonMember> members;
    for (const auto& [name, meta] : metas_) {
      const bool gone = original_results_.count(name) != 0 && producers_.count(name) == 0;
      if (!gone) members.push_back({name, meta});
    }
    return object_text(members);
  }

  std::string_view original_;
  const Graph& graph_;
  std::string_view module_, body_, signature_;
  std::unordered_set<const Value*> used_;
  std::vector<const Value*> originals_;      // Tensors of the imported graph.
  std::map<std::string, size_t> producers_;  // Nodes by the names of their results.
  std::map<std::string, const Value*> constants_;
  std::map<std::string, std::string> metas_;  // Of tensors, by name.
  std::map<std::string, std::string_view> metadata_;
  std::map<std::string, const Node*> imported_;  // By the names of results.
  std::set<std::string> imported_constants_, file_reads_;
  std::set<std::string> original_results_, original_inputs_, fqns_;
  std::string inputs_, input_specs_, nodes_, outputs_, output_specs_;
  ProgramText out_;
};

}  // namespace

ProgramText changed_program(std::string_view original, const Graph& imported, const Graph& graph) {
  return Changer(original, imported, graph).run();
}

}  // namespace taper::exir
