// Copies the nodes of each body into the graph, with operands in place of the body's inputs; under
// autocast, with the casts that PyTorch's dispatcher makes.

#include "exir/passes/functional/inline_wrappers.h"

#include <map>
#include <unordered_map>
#include <unordered_set>

#include "exir/ir/rewrite.h"
#include "exir/ops/promote.h"

namespace taper::exir {
namespace {

using Names = std::unordered_set<std::string_view>;

// Operators by the dtype to which autocast casts their operands on the CPU, without overload names.
const Names& reduced_precision() {
  static const Names names = {"aten::conv1d",
                              "aten::conv2d",
                              "aten::conv3d",
                              "aten::bmm",
                              "aten::mm",
                              "aten::linear",
                              "aten::addmm",
                              "aten::addbmm",
                              "aten::baddbmm",
                              "aten::matmul",
                              "aten::conv_transpose1d",
                              "aten::conv_transpose2d",
                              "aten::conv_transpose3d",
                              "aten::prelu",
                              "aten::scaled_dot_product_attention",
                              "aten::_convolution",
                              "aten::linalg_vecdot",
                              "aten::conv_tbc"};
  return names;
}

const Names& full_precision() {
  static const Names names = {"aten::avg_pool3d",
                              "aten::grid_sampler",
                              "aten::polar",
                              "aten::prod",
                              "aten::quantile",
                              "aten::nanquantile",
                              "aten::stft",
                              "aten::cdist",
                              "aten::trace",
                              "aten::cholesky",
                              "aten::inverse",
                              "aten::mse_loss",
                              "aten::cosine_embedding_loss",
                              "aten::nll_loss",
                              "aten::smooth_l1_loss",
                              "aten::cross_entropy_loss",
                              "aten::l1_loss",
                              "aten::adaptive_avg_pool3d",
                              "aten::binary_cross_entropy",
                              "aten::kl_div",
                              "aten::huber_loss",
                              "aten::linalg_inv",
                              "aten::linalg_norm",
                              "aten::linalg_vector_norm",
                              "aten::linalg_matrix_norm",
                              "aten::linalg_det",
                              "aten::linalg_svd"};
  return names;
}

const Names& widest_precision() {
  static const Names names = {"aten::cat", "aten::stack", "aten::index_copy"};
  return names;
}

std::string_view base_name(std::string_view target) {
  const size_t dot = target.find('.');
  return target.substr(0, dot);
}

bool is_wrapper(const Node& node) {
  return node.is("higher_order::wrap_with_set_grad_enabled") ||
         node.is("higher_order::wrap_with_autocast") || node.is("higher_order::strict_mode") ||
         node.is("higher_order::invoke_subgraph");
}

// The autocast region that a node is in: the innermost one counts.
struct Autocast {
  bool enabled = false;
  ScalarType type = ScalarType::kBFloat16;
};

class Inliner {
 public:
  Inliner(const Node& wrapper, Rewriter& rewriter, Autocast around)
      : wrapper_(wrapper), rewriter_(rewriter), autocast_(around) {}

  // Inlines the body. Returns the replacements of the wrapper's results.
  std::vector<Argument> run() {
    read_arguments();
    for (const Value* constant : body_->constants) copy_constant(*constant);
    for (const auto& node : body_->nodes) copy_node(*node);
    if (body_->outputs.size() != wrapper_.outputs.size() || !body_->mutations.empty()) {
      fail("its body and the wrapper have different numbers of results, or its body mutates");
    }
    std::vector<Argument> results;
    for (const Argument& output : body_->outputs) results.push_back(mapped(output));
    return results;
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    Diagnostic out;
    out.id = "unsupported-wrapper";
    out.message = wrapper_.schema->name + ": " + why;
    out.where = wrapper_.name;
    if (wrapper_.source) out.source = wrapper_.source->newest_frame();
    out.remedy =
        "export under torch.no_grad() without autocast, or call run_decompositions() first";
    const std::string summary = out.message;
    throw Failure(summary, {std::move(out)});
  }

  // The operands follow the body, in one list or one by one; invoke_subgraph has a name first.
  void read_arguments() {
    size_t at = 0;
    while (at < wrapper_.args.size() && !wrapper_.args[at].is<std::shared_ptr<Graph>>()) ++at;
    if (at == wrapper_.args.size()) fail("it has no body");
    body_ = std::get<std::shared_ptr<Graph>>(wrapper_.args[at].v);
    if (wrapper_.is("higher_order::wrap_with_autocast")) read_autocast();
    std::vector<Argument> operands;
    for (size_t i = at + 1; i < wrapper_.args.size(); ++i) {
      const Argument& arg = wrapper_.args[i];
      if (arg.is<std::string>()) continue;
      if (arg.is_list()) {
        operands.insert(operands.end(), arg.list().begin(), arg.list().end());
      } else {
        operands.push_back(arg);
      }
    }
    if (body_ == nullptr || operands.size() != body_->inputs.size()) {
      fail("its body takes another number of operands");
    }
    for (size_t i = 0; i < operands.size(); ++i) {
      if (body_->inputs[i].is_value()) map_[body_->inputs[i].value()] = operands[i];
    }
  }

  void read_autocast() {
    autocast_.enabled = wrapper_.arg("enabled").to_bool();
    if (!autocast_.enabled) return;
    const Argument& dtype = wrapper_.arg("dtype");
    ScalarType& type = autocast_.type;
    type = dtype.is<ScalarType>() ? std::get<ScalarType>(dtype.v) : ScalarType::kBFloat16;
    if (wrapper_.arg("device").text() != "cpu") fail("only autocast for the CPU is supported");
    if (type != ScalarType::kBFloat16 && type != ScalarType::kHalf) {
      fail(std::string("autocast to ") + to_string(type) + " is not supported");
    }
  }

  Argument mapped(const Argument& arg) const {
    if (arg.is_value()) {
      const auto found = map_.find(arg.value());
      if (found == map_.end()) fail("its body uses a value from outside");
      return found->second;
    }
    if (!arg.is_list()) return arg;
    Argument::List items;
    for (const Argument& item : arg.list()) items.push_back(mapped(item));
    return items;
  }

  void copy_constant(const Value& constant) {
    Value* copy = rewriter_.graph().new_constant(constant.name, constant.type, constant.data);
    copy->fqn = constant.fqn;
    map_[&constant] = copy;
  }

  void copy_node(const Node& node) {
    std::vector<Argument> args;
    for (const Argument& arg : node.args) args.push_back(mapped(arg));
    if (is_wrapper(node)) return inline_nested(node, std::move(args));
    for (const Argument& arg : args) {
      const bool graph = arg.is<std::shared_ptr<Graph>>();
      if (graph && autocast_.enabled) fail("its body contains control flow");
    }
    if (autocast_.enabled) cast_operands(node, args);
    if (node.schema->mutates()) casts_.clear();  // Casts hold the old contents.
    Node* copy = rewriter_.emit_node(node.schema, args);
    copy->name = node.name;
    copy->source = node.source;
    for (const Value* output : node.outputs) {
      Value* value = rewriter_.graph().new_value(output->name, output->kind);
      value->type = output->type;
      value->sym = output->sym;
      value->producer = copy;
      copy->outputs.push_back(value);
      map_[output] = value;
    }
  }

  void inline_nested(const Node& node, std::vector<Argument> args) {
    Node call;
    call.name = node.name;
    call.schema = node.schema;
    call.args = std::move(args);
    call.outputs = node.outputs;
    call.source = node.source;
    casts_.clear();  // The nested body may write.
    const std::vector<Argument> results = Inliner(call, rewriter_, autocast_).run();
    for (size_t i = 0; i < results.size(); ++i) map_[node.outputs[i]] = results[i];
  }

  void cast_operands(const Node& node, std::vector<Argument>& args) {
    const std::string_view name = base_name(node.target());
    if (reduced_precision().count(name) != 0) {
      for (Argument& arg : args) cast(arg, autocast_.type);
      check_result(node, autocast_.type);
    } else if (full_precision().count(name) != 0) {
      for (Argument& arg : args) cast(arg, ScalarType::kFloat);
    } else if (widest_precision().count(name) != 0) {
      const ScalarType widest = result_type(tensors(args));
      for (Argument& arg : args) cast(arg, widest);
    }
  }

  void check_result(const Node& node, ScalarType wanted) const {
    for (const Value* output : node.outputs) {
      if (output->kind == ValueKind::kTensor && is_floating(output->type.dtype) &&
          output->type.dtype != wanted && output->type.dtype != ScalarType::kDouble) {
        fail(node.schema->name + " in its body does not return " + to_string(wanted));
      }
    }
  }

  static std::vector<Argument> tensors(const std::vector<Argument>& args) {
    std::vector<Argument> out;
    for (const Argument& arg : args) {
      for_each_value(arg, [&](Value* value) {
        if (value->kind == ValueKind::kTensor) out.push_back(value);
      });
    }
    return out;
  }

  // float64 and integers are not cast, as in PyTorch.
  void cast(Argument& arg, ScalarType to) {
    if (arg.is_list()) {
      for (Argument& item : arg.list()) cast(item, to);
      return;
    }
    if (!arg.is_value() || arg.value()->kind != ValueKind::kTensor) return;
    Value* value = arg.value();
    const ScalarType from = value->type.dtype;
    if (!is_floating(from) || from == ScalarType::kDouble || from == to) return;
    Value*& copy = casts_[{value, to}];
    if (copy == nullptr) {
      TensorType type = value->type;
      type.dtype = to;
      copy = rewriter_.emit("aten::_to_copy", {value, to}, {type})[0];
    }
    arg = copy;
  }

  const Node& wrapper_;
  Rewriter& rewriter_;
  std::shared_ptr<Graph> body_;
  std::unordered_map<const Value*, Argument> map_;
  std::map<std::pair<Value*, ScalarType>, Value*> casts_;
  Autocast autocast_;
};

int inline_in(Graph& graph) {
  int total = rewrite(graph, [](Node& node, Rewriter& rewriter) {
    if (!is_wrapper(node)) return false;
    const std::vector<Argument> results = Inliner(node, rewriter, {}).run();
    for (size_t i = 0; i < results.size(); ++i) rewriter.replace(node.outputs[i], results[i]);
    return true;
  });
  for (const auto& node : graph.nodes) {
    for (const Argument& arg : node->args) {
      const auto* body = std::get_if<std::shared_ptr<Graph>>(&arg.v);
      if (body != nullptr && *body) total += inline_in(**body);
    }
  }
  return total;
}

}  // namespace

int inline_wrappers(Graph& graph) { return inline_in(graph); }

}  // namespace taper::exir
