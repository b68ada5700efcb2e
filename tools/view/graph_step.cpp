// Walks a graph and the bodies of its control flow.

#include "tools/view/graph_step.h"

#include <unordered_map>

namespace taper::tools {
namespace {

using exir::Argument;
using exir::Graph;
using exir::Node;
using exir::Value;

uint64_t bytes_of(const Value& value) {
  if (value.kind != exir::ValueKind::kTensor || !value.type.is_static()) return 0;
  const exir::Sym count = value.type.numel();
  return static_cast<uint64_t>(count.as_int()) * element_size(value.type.dtype);
}

const char* role_text(exir::ValueRole role) {
  switch (role) {
    case exir::ValueRole::kResult:
      return "result";
    case exir::ValueRole::kInput:
      return "input";
    case exir::ValueRole::kConstant:
      return "constant";
    case exir::ValueRole::kState:
      return "state";
  }
  return "result";
}

// One graph, or a body within it.
class GraphWalk {
 public:
  GraphWalk(const Graph& graph, ViewDocument& document, ViewStep& step, std::string scope,
            std::vector<std::string> boxes)
      : graph_(graph),
        document_(document),
        step_(step),
        scope_(std::move(scope)),
        boxes_(std::move(boxes)) {}

  void walk() {
    for (const auto& node : graph_.nodes) add(*node);
  }

  size_t number_of(const Value& value) {
    const auto known = numbers_.find(&value);
    if (known != numbers_.end()) return known->second;
    const size_t number =
        document_.add(ViewValue{value.name, scope_, view_type(value), role_text(value.role),
                                value.fqn, bytes_of(value), -1});
    return numbers_[&value] = number;
  }

  // What goes into a body: a call without operator, which has what it reads from outside.
  void add_inputs(const std::vector<size_t>& given) {
    ViewCall call;
    call.name = "inputs of " + graph_.name;
    call.op = "(inputs)";
    call.boxes = boxes_;
    for (const size_t value : given) call.args.push_back({"", {value}});
    for (const Argument& input : graph_.inputs) {
      if (input.is_value()) call.results.push_back(number_of(*input.value()));
    }
    step_.calls.push_back(document_.add(std::move(call)));
  }

  // What comes out of a body, as one value for the call whose body it is.
  size_t add_outputs() {
    ViewCall call;
    call.name = "outputs of " + graph_.name;
    call.op = "(outputs)";
    call.boxes = boxes_;
    for (const Argument& output : graph_.outputs) call.args.push_back(argument_of("", output));
    const size_t value = document_.add(ViewValue{graph_.name, scope_, "body", "result", "", 0, -1});
    call.results = {value};
    step_.calls.push_back(document_.add(std::move(call)));
    return value;
  }

  ViewArgument argument_of(const std::string& name, const Argument& argument) {
    ViewArgument out{name, {}};
    append(out, argument);
    return out;
  }

 private:
  void add(const Node& node) {
    ViewCall call;
    call.name = node.name;
    call.op = std::string(node.target());
    if (node.source != nullptr) {
      call.module = node.source->module_path;
      call.line = node.source->newest_frame();
      call.trace = node.source->stack_trace;
    }
    call.boxes = boxes_of(call.module);
    caller_ = &call;
    caller_id_ = node.outputs.empty() ? node.name : node.outputs[0]->name;
    operands_.clear();
    exir::for_each_value(node, [&](Value* value) { operands_.push_back(number_of(*value)); });
    for (size_t i = 0; i < node.args.size(); ++i) {
      const bool known = i < node.schema->args.size();
      call.args.push_back(argument_of(known ? node.schema->args[i].name : "", node.args[i]));
    }
    for (const Value* value : node.outputs) call.results.push_back(number_of(*value));
    step_.calls.push_back(document_.add(std::move(call)));
  }

  // Those of a body, then those of the module as far as the body is not within it.
  std::vector<std::string> boxes_of(std::string_view module) const {
    std::vector<std::string> boxes = boxes_;
    const std::vector<std::string> own = boxes_of_module(module);
    size_t common = 0;
    while (common < own.size() && common < boxes_.size() && own[common] == boxes_[common]) ++common;
    boxes.insert(boxes.end(), own.begin() + static_cast<ptrdiff_t>(common), own.end());
    return boxes;
  }

  void append(ViewArgument& out, const Argument& argument) {
    if (argument.is_value()) {
      out.pieces.emplace_back(number_of(*argument.value()));
    } else if (argument.is_list()) {
      const char* separator = "[";
      for (const Argument& item : argument.list()) {
        out.pieces.emplace_back(separator);
        append(out, item);
        separator = ", ";
      }
      out.pieces.emplace_back(argument.list().empty() ? "[]" : "]");
    } else if (argument.is<std::shared_ptr<Graph>>()) {
      append_body(out, *std::get<std::shared_ptr<Graph>>(argument.v));
    } else {
      out.pieces.emplace_back(exir::print(argument));
    }
  }

  void append_body(ViewArgument& out, const Graph& body) {
    std::vector<std::string> boxes = caller_->boxes;
    boxes.push_back(caller_id_ + ": " + body.name);
    const std::string argument = std::to_string(caller_->args.size());  // Bodies may share a name.
    GraphWalk inner(body, document_, step_, scope_ + "/" + caller_id_ + "." + argument, boxes);
    inner.add_inputs(operands_);
    inner.walk();
    out.pieces.emplace_back(inner.add_outputs());
  }

  const Graph& graph_;
  ViewDocument& document_;
  ViewStep& step_;
  const std::string scope_;
  const std::vector<std::string> boxes_;
  std::unordered_map<const Value*, size_t> numbers_;
  const ViewCall* caller_ = nullptr;  // The call whose arguments are read,
  std::string caller_id_;             // its first result, since calls may share their name,
  std::vector<size_t> operands_;      // and the values among its arguments.
};

}  // namespace

std::string view_type(const Value& value) {
  switch (value.kind) {
    case exir::ValueKind::kInt:
      return "int = " + value.sym.text();
    case exir::ValueKind::kFloat:
      return "float = " + value.sym.text();
    case exir::ValueKind::kBool:
      return "bool = " + value.sym.text();
    case exir::ValueKind::kTensor:
      break;
  }
  return exir::description_of(value.type);
}

std::vector<std::string> boxes_of_module(std::string_view module) {
  std::vector<std::string> boxes;
  while (!module.empty()) {
    const size_t end = std::min(module.find('.'), module.size());
    if (end != 0) boxes.emplace_back(module.substr(0, end));
    module.remove_prefix(std::min(end + 1, module.size()));
  }
  return boxes;
}

ViewStep graph_step(const Graph& graph, ViewDocument& document) {
  ViewStep step;
  step.method = graph.name;
  GraphWalk walk(graph, document, step, "", {});
  for (const Argument& input : graph.inputs) {
    if (input.is_value()) step.inputs.push_back(walk.number_of(*input.value()));
  }
  walk.walk();
  for (const Argument& output : graph.outputs) {
    if (output.is_value()) step.outputs.push_back(walk.number_of(*output.value()));
  }
  for (const exir::Mutation& mutation : graph.mutations) {
    step.writes.emplace_back(walk.number_of(*mutation.target), walk.number_of(*mutation.source));
  }
  return step;
}

}  // namespace taper::tools
