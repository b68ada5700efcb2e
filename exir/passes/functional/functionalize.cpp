// Each tensor is an alias of a piece of memory, directly or through a chain of views. A write gives
// the memory a new version; aliases of an older version are recomputed through their views when
// they are read (read()). A write to a view is carried up the chain to the memory (write()).

#include "exir/passes/functional/functionalize.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "exir/ir/rewrite.h"
#include "exir/ops/builtin.h"
#include "exir/passes/functional/functionalize_view.h"
#include "exir/passes/functional/functionalize_write.h"

namespace taper::exir {
namespace {

struct Alias;

// One piece of memory. `version` counts the writes to it.
struct Memory {
  Value* owner = nullptr;
  Alias* root = nullptr;
  int version = 0;
  bool unclear = false;  // Other tensors may or may not share it.
};

// A call of a view operator, kept to recompute its results after a write.
struct View {
  std::shared_ptr<const Schema> schema;
  std::vector<Argument> args;  // Functional values; args[0] becomes the parent's contents.
  Alias* parent = nullptr;
  std::vector<Alias*> results;
  std::vector<TensorType> types;
  bool identity = false;
  std::string name;  // The node's.
  std::shared_ptr<const Source> source;
};

// One tensor of the program: `value` holds its contents as long as `version` is the memory's.
struct Alias {
  Memory* memory = nullptr;
  View* view = nullptr;  // Null for the memory itself.
  size_t index = 0;      // Which result of the view.
  Value* value = nullptr;
  int version = 0;
  TensorType type;
  Placement placement;
};

class Functionalizer {
 public:
  Functionalizer(Graph& graph, bool is_body) : graph_(graph), is_body_(is_body) {}

  // Nodes that cannot be made functional are refused and left in place.
  std::vector<Diagnostic> problems;

  int run() {
    for (const Argument& input : graph_.inputs) {
      if (input.is_value()) own(input.value());
    }
    own_constants();
    const auto each = [&](Node& node, Rewriter& rewriter) {
      rewriter_ = &rewriter;
      try {
        return visit(node);
      } catch (const Failure& failure) {
        give_up(node, failure);
        return false;
      }
    };
    rewrite(graph_, each, [&](Rewriter& rewriter) {
      rewriter_ = &rewriter;
      finish();
    });
    return writes_;
  }

 private:
  static bool is_tensor(const Value* value) { return value->kind == ValueKind::kTensor; }

  void give_up(Node& node, const Failure& failure) {
    if (failure.diagnostics().empty()) {
      problems.push_back(diagnose(node, "unsupported-write", failure.what()));
    } else {
      problems.insert(problems.end(), failure.diagnostics().begin(), failure.diagnostics().end());
    }
    mark_refused(node);
    for (Value* output : node.outputs) {
      if (of_.count(output) == 0) own(output);
    }
  }

  // Gives the value memory of its own.
  void own(Value* value) {
    if (!is_tensor(value)) return;
    memories_.emplace_back();
    Alias& alias = aliases_.emplace_back();
    memories_.back().owner = value;
    memories_.back().root = &alias;
    alias.memory = &memories_.back();
    alias.value = value;
    alias.type = value->type;
    alias.placement = {dense_strides(value->type), Sym(0)};
    of_[value] = &alias;
  }

  struct Home {
    const uint8_t* data;
    size_t bytes;
  };
  static Home home_of(const Value* value) {
    const TensorData& data = value->data;
    return data.home ? Home{data.home, data.home_bytes} : Home{data.data, data.bytes};
  }

  // Buffers that share memory in the file become views of the largest of them.
  void own_constants() {
    std::vector<Value*> sorted = graph_.constants;
    std::stable_sort(sorted.begin(), sorted.end(), [](const Value* a, const Value* b) {
      const Home x = home_of(a), y = home_of(b);
      const std::less<const uint8_t*> before;
      return x.data != y.data ? before(x.data, y.data) : x.bytes > y.bytes;
    });
    Value* whole = nullptr;
    for (Value* value : sorted) {
      const Home home = home_of(value);
      const Home last = whole ? home_of(whole) : Home{nullptr, 0};
      const bool shared = home.bytes != 0 && home.data < last.data + last.bytes;
      if (shared && tie(value, whole)) continue;
      own(value);
      if (shared) alias_of(value)->memory->unclear = alias_of(whole)->memory->unclear = true;
      const bool reaches_further = home.data + home.bytes > last.data + last.bytes;
      if (!shared || reaches_further) whole = value;
    }
  }

  // Makes `part` a view of `whole`; false if it is not a plain one.
  bool tie(Value* part, Value* whole) {
    const Home inner = home_of(part), outer = home_of(whole);
    const auto distance = static_cast<size_t>(inner.data - outer.data);
    const size_t width = element_size(part->type.dtype);
    const bool inside = distance + inner.bytes <= outer.bytes;
    if (!inside || !part->data.dense || !whole->data.dense) return false;
    if (part->type.dtype != whole->type.dtype || distance % width != 0) return false;
    if (part->type.pairs != whole->type.pairs) return false;
    if (part->type == whole->type) {
      of_[part] = alias_of(whole);
      return true;
    }
    if (!whole->type.is_contiguous() || whole->type.pairs) return false;
    Node call;
    call.schema = builtin_operators()->need("aten::as_strided");
    Argument::List sizes, strides;
    for (const Sym& size : part->type.sizes) sizes.push_back(size.as_int());
    for (const Sym& stride : dense_strides(part->type)) strides.push_back(stride.as_int());
    const auto offset = static_cast<int64_t>(distance / width);
    call.args = {whole, std::move(sizes), std::move(strides), offset};
    call.outputs = {part};
    add_view(call, alias_of(whole), {ViewKind::kAlias, {dense_strides(part->type), Sym(offset)}});
    return true;
  }

  Alias* alias_of(const Value* value) {
    const auto found = of_.find(value);
    if (found == of_.end()) throw Failure("%" + value->name + " is used before it is defined");
    return found->second;
  }

  // The current contents of an alias.
  Value* read(Alias* alias) {
    if (alias->version == alias->memory->version) return alias->value;
    View& view = *alias->view;
    Value* parent = read(view.parent);
    if (view.identity) {
      alias->value = parent;
      alias->version = alias->memory->version;
      return parent;
    }
    view.args[0] = parent;
    const std::vector<Value*> fresh = rewriter_->emit(view.schema->name, view.args, view.types);
    fresh[0]->producer->name = view.name.empty() ? fresh[0]->name : view.name;
    fresh[0]->producer->source = view.source;
    for (size_t i = 0; i < fresh.size(); ++i) {
      view.results[i]->value = fresh[i];
      view.results[i]->version = alias->memory->version;
    }
    return alias->value;
  }

  Argument read(const Argument& arg) {
    if (arg.is_value()) return is_tensor(arg.value()) ? Argument(read(alias_of(arg.value()))) : arg;
    if (!arg.is_list()) return arg;
    Argument::List items;
    for (const Argument& item : arg.list()) items.push_back(read(item));
    return items;
  }

  static bool any_shows_twice(const Alias* alias) {
    for (; alias->view != nullptr; alias = alias->view->parent) {
      const View& view = *alias->view;
      const ViewCall call = {*view.schema, view.args, view.parent->type, view.types};
      if (!view.identity && shows_twice(call, alias->index)) return true;
    }
    return false;
  }

  void write_parent(const Alias& alias, Value* contents) {
    const View& view = *alias.view;
    Value* whole = read(view.parent);
    const ViewCall call = {*view.schema, view.args, view.parent->type, view.types};
    write(view.parent, write_through(*rewriter_, call, alias.index, whole, contents));
  }

  // Writes an alias whose parents repeat elements. It cannot be written through them, since they do
  // not tell which of the repetitions was written; instead its positions in the memory are written.
  // Where these are not known, write_parent() reports the view that is at fault.
  void write_root(const Alias& alias, Value* contents) {
    Alias* root = alias.memory->root;
    const Placement& at = alias.placement;
    const auto known = [](const Sym& number) { return number.is_int(); };
    const bool placed = at.strides && at.offset && known(*at.offset) && alias.type.is_static() &&
                        std::all_of(at.strides->begin(), at.strides->end(), known);
    const bool same = root->type.dtype == alias.type.dtype && !root->type.pairs;
    if (!placed || !same) return write_parent(alias, contents);
    if (!root->type.is_contiguous()) root = in_memory_order(root);
    Argument::List sizes, strides;
    for (const Sym& size : alias.type.sizes) sizes.push_back(size.as_int());
    for (const Sym& stride : *at.strides) strides.push_back(stride.as_int());
    Value* whole = read(root);
    const std::vector<Argument> args = {whole, std::move(sizes), std::move(strides),
                                        at.offset->as_int()};
    const std::vector<TensorType> types = {alias.type};
    const std::shared_ptr<const Schema> schema = builtin_operators()->need("aten::as_strided");
    const ViewCall call = {*schema, args, root->type, types};
    if (shows_twice(call, 0)) return write_parent(alias, contents);
    write(root, write_through(*rewriter_, call, 0, whole, contents));
  }

  void write(Alias* alias, Value* contents) {
    if (alias->view == nullptr) {
      alias->memory->version += 1;
    } else if (alias->view->identity) {
      write(alias->view->parent, contents);
    } else if (any_shows_twice(alias->view->parent)) {
      write_root(*alias, contents);
    } else {
      write_parent(*alias, contents);
    }
    alias->value = contents;
    alias->version = alias->memory->version;
  }

  bool visit(Node& node) {
    std::vector<Argument> old_args = node.args;
    for (Argument& arg : node.args) arg = read(arg);
    if (node.schema->mutates()) return visit_write(node, old_args);
    const bool view = node.schema->returns_alias() || may_return_alias(node);
    const bool of_tensor = !node.outputs.empty() && !old_args.empty() && old_args[0].is_value() &&
                           is_tensor(old_args[0].value());
    if (view && of_tensor) return visit_view(node, alias_of(old_args[0].value()));
    for (Value* output : node.outputs) own(output);
    if (view) blur(node, old_args);
    return false;
  }

  // The results may share memory with any of several tensors: writes to all of them are refused.
  void blur(const Node& node, const std::vector<Argument>& old_args) {
    const auto blur_one = [&](Value* value) {
      if (is_tensor(value)) alias_of(value)->memory->unclear = true;
    };
    for (const Argument& arg : old_args) for_each_value(arg, blur_one);
    for (Value* output : node.outputs) blur_one(output);
  }

  bool visit_write(Node& node, const std::vector<Argument>& old_args) {
    writes_ += 1;
    if (writes_out(node)) return visit_out(node, old_args);
    const OperatorRegistry& operators = *rewriter_->graph().operators();
    if (const auto form = written_form(node, operators)) return visit_form(node, form, old_args);
    const size_t at = written_argument(node);
    Alias* target = alias_of(old_args[at].value());
    if (const auto view = reshaping_twin(node, operators)) {
      node.schema = view;
      const bool dropped = visit_view(node, target);
      of_[old_args[at].value()] = alias_of(node.outputs.at(0));
      return dropped;
    }
    Value* self = node.args[at].value();
    Value* contents = written_value(*rewriter_, node, self);
    if (contents != self) {
      check_clear(node, *target);
      write(target, contents);
      if (node.outputs.size() == 1) hold(*contents, *node.outputs[0]);
    }
    for (const Value* output : node.outputs) of_[output] = target;
    return true;
  }

  // An operator of which there is only a kernel that writes its arguments: the functional form
  // returns their new contents.
  bool visit_form(Node& node, const std::shared_ptr<const Schema>& form,
                  const std::vector<Argument>& old_args) {
    std::vector<Alias*> written;
    std::unordered_map<std::string_view, Alias*> by_mark;  // "a!"
    for (size_t i = 0; i < node.args.size(); ++i) {
      if (!node.schema->args[i].written()) continue;
      written.push_back(alias_of(old_args[i].value()));
      by_mark[node.schema->args[i].alias] = written.back();
      check_clear(node, *written.back());
      for (size_t k = 0; k + 1 < written.size(); ++k) {
        if (written[k]->memory != written.back()->memory) continue;
        throw Failure(node.schema->name + " writes two arguments that share memory");
      }
    }
    Node* call = rewriter_->emit_node(form, node.args);
    call->name = node.name;
    const auto result = [&](std::string_view name, const TensorType& type) {
      Value* value = graph_.new_tensor(name, type);
      value->producer = call;
      call->outputs.push_back(value);
      return value;
    };
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (is_written_return(*node.schema, i)) {
        of_[node.outputs[i]] = by_mark.at(node.schema->returns[i].alias);
        continue;
      }
      Value* fresh = result(node.outputs[i]->name, node.outputs[i]->type);
      own(fresh);
      of_[node.outputs[i]] = alias_of(fresh);
    }
    for (Alias* target : written) write(target, result(target->value->name, target->type));
    return true;
  }

  // f(x, out=y) computes f(x) and writes y.
  bool visit_out(Node& node, const std::vector<Argument>& old_args) {
    std::vector<Alias*> targets;
    for (size_t i = 0; i < old_args.size(); ++i) {
      if (!node.schema->args[i].written()) continue;
      for_each_value(old_args[i], [&](Value* value) { targets.push_back(alias_of(value)); });
    }
    const std::vector<Value*> contents = out_values(*rewriter_, node);
    for (size_t i = 0; i < targets.size(); ++i) {
      check_clear(node, *targets[i]);
      write(targets[i], contents.at(i));
      if (i < node.outputs.size()) of_[node.outputs[i]] = targets[i];
    }
    return true;
  }

  static void check_clear(const Node& node, const Alias& target) {
    if (!target.memory->unclear) return;
    refuse(node, "unclear-alias", "writes to a tensor that may or may not share memory with others",
           "clone() the tensor before it is written");
  }

  [[noreturn]] static void refuse(const Node& node, const char* id, const std::string& why,
                                  const char* remedy) {
    Diagnostic out = diagnose(node, id, node.schema->name + " " + why, remedy);
    const std::string summary = out.message;
    throw Failure(summary, {std::move(out)});
  }

  bool visit_view(Node& node, Alias* parent) {
    if (node.is("aten::as_strided")) parent = whole_of(node, parent);
    const ViewEffect effect = view_effect(node, parent->placement);
    if (effect.kind == ViewKind::kCopy) {
      for (Value* output : node.outputs) own(output);
      return false;
    }
    if (effect.kind == ViewKind::kUnknown) parent->memory->unclear = true;
    add_view(node, parent, effect);
    return effect.kind == ViewKind::kIdentity;
  }

  // The whole memory of an alias as numbers of its type: complex ones may lie in memory of real
  // ones, and the other way round. Null if the alias is no such view.
  static Alias* memory_as_typed(Alias* alias) {
    const TensorType& type = alias->type;
    const auto same = [&](const Alias* other) {
      return other->type.dtype == type.dtype && other->type.pairs == type.pairs;
    };
    Alias* root = alias->memory->root;
    if (same(root)) return root;
    while (alias->view != nullptr && same(alias->view->parent)) alias = alias->view->parent;
    const std::string& name = alias->view->schema->name;
    const bool is_whole = name == "aten::view_as_complex" || name == "aten::view_as_real";
    return is_whole && alias->view->parent == root ? alias : nullptr;
  }

  // as_strided addresses the whole memory of its argument, not only the view that it is given.
  Alias* whole_of(Node& node, Alias* view) {
    Alias* whole = memory_as_typed(view);
    if (whole == nullptr) {
      refuse(node, "unclear-alias", "is given a view of another type's memory",
             "clone() the tensor before");
    }
    if (node.args[3].is_none() && view->placement.offset && view->placement.offset->is_int()) {
      node.args[3] = view->placement.offset->as_int() / (whole->type.pairs ? 2 : 1);
    }
    if (node.args[3].is_none()) {
      refuse(node, "unclear-alias", "is given a view whose position in memory is not known",
             "use slices and reshape instead, or clone() the tensor before");
    }
    if (!whole->type.is_contiguous()) whole = in_memory_order(whole);
    node.args[0] = read(whole);
    return whole;
  }

  // A view of the whole memory with its dimensions in memory order.
  Alias* in_memory_order(Alias* whole) {
    std::vector<int64_t> order;
    TensorType type(whole->type.dtype, {});
    for (const uint8_t d : whole->type.dim_order) {
      order.push_back(d);
      type.sizes.push_back(whole->type.sizes[d]);
    }
    type.dim_order = contiguous_order(type.rank());
    Value* permuted = rewriter_->emit("aten::permute", {read(whole), int_list(order)}, {type})[0];
    add_view(*permuted->producer, whole, {ViewKind::kAlias, {dense_strides(type), Sym(0)}});
    return alias_of(permuted);
  }

  void add_view(const Node& node, Alias* parent, const ViewEffect& effect) {
    View& view = views_.emplace_back();
    view.schema = node.schema;
    view.args = node.args;
    view.parent = parent;
    view.identity = effect.kind == ViewKind::kIdentity;
    view.name = node.name;
    view.source = node.source;
    for (Value* output : node.outputs) {
      Alias& alias = aliases_.emplace_back();
      alias.memory = parent->memory;
      alias.view = &view;
      alias.index = view.results.size();
      alias.value = view.identity ? node.args[0].value() : output;
      alias.version = parent->memory->version;
      alias.type = output->type;
      alias.placement = effect.placement;
      of_[output] = &alias;
      view.results.push_back(&alias);
      view.types.push_back(output->type);
    }
  }

  // Outputs and mutations take what their tensors hold at the end, for which views of written
  // memory may have to be recomputed.
  void finish() {
    for (Argument& output : graph_.outputs) output = read(output);
    for (Mutation& mutation : graph_.mutations) {
      if (is_tensor(mutation.source)) mutation.source = read(alias_of(mutation.source));
    }
    for (const Memory& memory : memories_) add_mutation(memory);
  }

  void add_mutation(const Memory& memory) {
    Value* target = memory.owner;
    if (target->role == ValueRole::kResult || memory.root->value == target) return;
    if (is_body_) throw Failure("a body of control flow writes %" + target->name);
    for (const Mutation& mutation : graph_.mutations) {
      if (mutation.target == target) return;
    }
    if (target->role == ValueRole::kConstant) target->role = ValueRole::kState;
    graph_.mutations.push_back({target, memory.root->value});
  }

  Graph& graph_;
  const bool is_body_;
  Rewriter* rewriter_ = nullptr;
  std::deque<Memory> memories_;
  std::deque<Alias> aliases_;
  std::deque<View> views_;
  std::unordered_map<const Value*, Alias*> of_;
  int writes_ = 0;
};

bool concerns(const Graph& graph) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const auto& node) {
    return node->schema->mutates() || node->is("aten::as_strided");
  });
}

}  // namespace

int functionalize(Graph& graph) {
  int total = 0;
  std::vector<Diagnostic> problems;
  for (Graph* each : all_graphs(graph)) {
    if (!concerns(*each)) continue;
    Functionalizer functionalizer(*each, each != &graph);
    total += functionalizer.run();
    for (Diagnostic& d : functionalizer.problems) problems.push_back(std::move(d));
    if (problems.empty()) erase_dead(*each);
  }
  if (!problems.empty()) {
    const std::string summary = problems[0].message;
    throw Failure(summary, std::move(problems));
  }
  return total;
}

}  // namespace taper::exir
