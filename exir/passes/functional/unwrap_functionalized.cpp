// Clones what the wrapper would copy and calls the operator on the clones, or on views of them.

#include "exir/passes/functional/unwrap_functionalized.h"

#include "exir/ir/registry.h"
#include "exir/ir/rewrite.h"
#include "exir/ops/import_target.h"

namespace taper::exir {
namespace {

constexpr std::string_view kFirst = "higher_order::auto_functionalized";
constexpr std::string_view kSecond = "higher_order::auto_functionalized_v2";

class Unwrapper {
 public:
  Unwrapper(const Node& wrapper, Rewriter& rewriter) : wrapper_(wrapper), rewriter_(rewriter) {}

  void run() {
    find_operator();
    const bool second = wrapper_.is(kSecond);
    if (second) copy_bases();
    std::vector<Argument> args;
    for (const SchemaArg& arg : op_->args) {
      args.push_back(!arg.written() ? given(arg) : second ? view_of_base(arg.name) : copy_of(arg));
    }
    Node* call = rewriter_.emit_node(op_, args);
    const size_t own = wrapper_.outputs.size() - std::min(copies_.size(), wrapper_.outputs.size());
    add_results(*call, own);
    for (size_t i = 0; i < copies_.size() && own + i < wrapper_.outputs.size(); ++i) {
      rewriter_.replace(wrapper_.outputs[own + i], copies_[i]);
    }
  }

 private:
  [[noreturn]] void fail(const std::string& why, const std::string& remedy = {}) const {
    const Diagnostic out = diagnose(wrapper_, "unsupported-wrapper", why, remedy);
    throw Failure(out.message, {out});
  }

  const Argument* find(const std::string& name) const {
    const int at = wrapper_.schema->find(name);
    return at < 0 ? nullptr : &wrapper_.args[static_cast<size_t>(at)];
  }
  const Argument& need(const std::string& name) const {
    const Argument* found = find(name);
    if (found == nullptr) fail(std::string(op_->name) + " is wrapped without " + name);
    return *found;
  }

  void find_operator() {
    if (wrapper_.args.empty() || !wrapper_.args[0].is<std::string>()) fail("wraps no operator");
    const std::string name = import_target(wrapper_.args[0].text());
    op_ = rewriter_.graph().operators()->find(name);
    if (op_ != nullptr) return;
    const Diagnostic out = diagnose(
        wrapper_, "undeclared-op",
        name + " writes its arguments and is of a namespace that is not known",
        "declare it: write its schema, as torch.library.define has it, into a file, pass that with "
        "--ops, and hand its kernel to the runtime (examples/custom_op)");
    throw Failure(out.message, {out});
  }

  Argument given(const SchemaArg& arg) const {
    if (const Argument* found = find(arg.name)) return *found;
    if (!arg.has_default && !arg.type.optional) return need(arg.name);
    return default_argument(arg);
  }

  Value* copy(const Argument& tensor) {
    if (!tensor.is_value() || tensor.value()->kind != ValueKind::kTensor) {
      fail(op_->name + " writes an argument that is not a single tensor");
    }
    Value* from = tensor.value();
    copies_.push_back(rewriter_.emit("aten::clone", {from}, {from->type})[0]);
    return copies_.back();
  }

  Argument copy_of(const SchemaArg& arg) { return copy(need(arg.name)); }

  void copy_bases() {
    for (const Argument& base : need("_all_bases").list()) copy(base);
  }

  // The copy that the argument is, or the view of it.
  Argument view_of_base(const std::string& name) {
    const std::string prefix = "_" + name;
    const Argument& index = need(prefix + "_base_index");
    const bool known = index.is_int() && index.to_int() >= 0 &&
                       static_cast<size_t>(index.to_int()) < copies_.size();
    if (!known) fail(op_->name + " writes an argument that is not one of its bases");
    Value* base = copies_.at(static_cast<size_t>(index.to_int()));
    if (const Argument* dim = find(prefix + "_slice_dim")) {
      const Argument start = need(prefix + "_slice_start"), end = need(prefix + "_slice_end");
      TensorType type = base->type;
      const auto d = static_cast<size_t>(dim->to_int());
      if (d >= type.rank() || !start.is_int() || !end.is_int()) fail("a slice of unknown sizes");
      const Sym& whole = type.sizes[d];
      const bool inside = start.to_int() >= 0 && start.to_int() <= end.to_int() &&
                          (!whole.is_int() || end.to_int() <= whole.as_int());
      if (!inside) fail("a slice that is not within its tensor");
      type.sizes[d] = Sym(end.to_int() - start.to_int());
      return rewriter_.emit("aten::slice.Tensor", {base, *dim, start, end, 1}, {type})[0];
    }
    if (const Argument* sizes = find(prefix + "_size")) {
      std::vector<Sym> dims;
      for (const Argument& size : sizes->list()) dims.push_back(to_size(size));
      return rewriter_.emit(
          "aten::as_strided",
          {base, *sizes, need(prefix + "_stride"), need(prefix + "_storage_offset")},
          {TensorType(base->type.dtype, std::move(dims))})[0];
    }
    return base;
  }

  static Sym to_size(const Argument& size) {
    return size.is_value() ? size.value()->sym : Sym(size.to_int());
  }

  // The results of the operator itself, which are the first `own` results of the wrapper.
  void add_results(Node& call, size_t own) {
    for (size_t i = 0; i < op_->returns.size(); ++i) {
      if (i >= own) fail(op_->name + " returns more than its wrapper");
      const Value* stated = wrapper_.outputs[i];
      Value* value = rewriter_.graph().new_tensor(stated->name, stated->type);
      value->producer = &call;
      call.outputs.push_back(value);
      rewriter_.replace(wrapper_.outputs[i], value);
    }
  }

  const Node& wrapper_;
  Rewriter& rewriter_;
  std::shared_ptr<const Schema> op_;
  std::vector<Value*> copies_;
};

}  // namespace

int unwrap_functionalized(Graph& graph) {
  int total = 0;
  std::vector<Diagnostic> problems;
  for (Graph* each : all_graphs(graph)) {
    total += rewrite(*each, [&](Node& node, Rewriter& rewriter) {
      if (!node.is(kFirst) && !node.is(kSecond)) return false;
      try {
        Unwrapper(node, rewriter).run();
        return true;
      } catch (const Failure& failure) {
        problems.push_back(failure.diagnostics().empty()
                               ? diagnose(node, "unsupported-wrapper", failure.what())
                               : failure.diagnostics()[0]);
        mark_refused(node);
        return false;
      }
    });
  }
  if (!problems.empty()) {
    const std::string summary = problems[0].message;
    throw Failure(summary, std::move(problems));
  }
  return total;
}

}  // namespace taper::exir
