// Conditions on sizes are written before all nodes; PyTorch's assertions are replaced in place.

#include "exir/passes/simplify/keep_assertions.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>

#include "exir/decompose/sym_writer.h"
#include "exir/ir/affine.h"
#include "exir/ir/checked_ranges.h"
#include "exir/ir/rewrite.h"
#include "exir/ops/facts.h"

namespace taper::exir {
namespace {

constexpr char kAssert[] = "taper::assert";
constexpr size_t kLongestMessage = 300;
constexpr int kDeepest = 64;  // Numbers that are made of others.

// In one line: it comes from the user's program.
std::string message_of(std::string_view text) {
  std::string out(text.substr(0, kLongestMessage));
  if (text.size() > kLongestMessage) out += "...";
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = ' ';
  }
  return out;
}

// ---- Sizes of inputs ----

struct Dim {
  Value* input;
  size_t index;
  const Sym& size() const { return input->type.sizes[index]; }
  std::string text() const { return input->name + ".size()[" + std::to_string(index) + "]"; }
};

std::vector<Dim> dynamic_dims(const Graph& graph) {
  std::vector<Dim> dims;
  for (const Argument& input : graph.inputs) {
    if (!input.is_value() || input.value()->kind != ValueKind::kTensor) continue;
    if (input.value()->type.is_static()) continue;
    for (size_t d = 0; d < input.value()->type.rank(); ++d) dims.push_back({input.value(), d});
  }
  return dims;
}

class InputConditions {
 public:
  InputConditions(const Graph& graph, Rewriter& rewriter, std::vector<std::string>* warnings)
      : graph_(graph),
        rewriter_(rewriter),
        writer_(rewriter),
        dims_(dynamic_dims(graph)),
        ranges_(checked_ranges(graph.ranges)),
        warnings_(warnings) {}

  int run() {
    find_sources();
    for (const Dim& dim : dims_) check(dim);
    for (const Guard& guard : graph_.guards) check(guard);
    return count_;
  }

 private:
  // The first dimension of a size is where it is read from. A symbol that is no dimension itself is
  // found from one such as 2*s0.
  void find_sources() {
    for (const Argument& input : graph_.inputs) {
      if (!input.is_value() || input.value()->kind == ValueKind::kTensor) continue;
      writer_.define(input.value()->sym, input);
      texts_.emplace(input.value()->sym.text(), input.value()->name);
    }
    for (const bool plain : {true, false}) {
      for (const Dim& dim : dims_) {
        if (dim.size().is_int() || dim.size().is_symbol() != plain) continue;
        if (writer_.knows(dim.size())) continue;
        writer_.define(dim.size(), read(dim, dim.size()));
        origins_.emplace(dim.size().text(), &dim);
        if (plain) texts_.emplace(dim.size().text(), dim.text());
        if (!plain) solve(dim);
      }
    }
  }

  Value* read(const Dim& dim, const Sym& sym) {
    return writer_.call("aten::sym_size.int", {dim.input, static_cast<int64_t>(dim.index)},
                        ValueKind::kInt, sym);
  }

  void solve(const Dim& dim) {
    const std::vector<std::string> symbols = dim.size().symbols();
    if (symbols.size() != 1 || writer_.knows(Sym::symbol(symbols[0]))) return;
    const auto [slope, start] = affine_in(dim.size(), symbols[0]);
    if (slope == 0) return;
    const Sym size = Sym::symbol("size_of_" + symbols[0]);  // Not dim.size(): that would cancel.
    writer_.define(size, writer_.write(dim.size()));
    writer_.define(Sym::symbol(symbols[0]), writer_.write(floor_div(size - Sym(start), slope)));
    const std::string shifted =
        start == 0 ? dim.text() : "(" + dim.text() + " - " + std::to_string(start) + ")";
    texts_.emplace(symbols[0], "(" + shifted + "//" + std::to_string(slope) + ")");
  }

  // The size in terms of other inputs: "2*x.size()[0]".
  std::string text_of(const Sym& size) const {
    const std::string& text = size.text();
    const auto in_name = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    std::string out;
    for (size_t i = 0; i < text.size();) {
      size_t end = i;
      while (end < text.size() && in_name(text[end])) ++end;
      const std::string word = text.substr(i, std::max<size_t>(end - i, 1));
      const auto found = texts_.find(word);
      out += found == texts_.end() ? word : found->second;
      i += word.size();
    }
    return out;
  }

  void check(const Dim& dim) {
    const auto origin = origins_.find(dim.size().text());
    const bool is_first = origin != origins_.end() && origin->second == &dim;
    if (!is_first) {
      const std::string wanted =
          origin == origins_.end() ? text_of(dim.size()) : origin->second->text();
      Value* size = read(dim, dim.size().is_int() ? Sym::symbol("size") : dim.size());
      require("python::eq", size, writer_.write(dim.size()), dim.text() + " == " + wanted);
      return;
    }
    const int64_t least = dim.size().range(ranges_).min;
    if (least <= kNeverChecked) return;
    require("python::ge", writer_.write(dim.size()), least,
            dim.text() + " >= " + std::to_string(least));
  }

  void check(const Guard& guard) {
    if (always_holds(guard.holds, ranges_)) return;
    if (writer_.knows(guard.holds)) {
      add(writer_.write(guard.holds), guard.text);
      rely_on(guard.holds);
    } else if (warnings_ != nullptr) {
      warnings_->push_back("the guard '" + message_of(guard.text) +
                           "' is not checked: no sizes of inputs determine it");
    }
  }

  // Several guards often say no more than that a size is not 0.
  void rely_on(const Sym& holds) {
    const std::vector<std::string> symbols = holds.symbols();
    const auto range = symbols.size() == 1 ? ranges_.find(symbols[0]) : ranges_.end();
    if (range == ranges_.end()) return;
    int64_t& least = range->second.min;
    while (least <= kNeverChecked && holds.evaluate({{symbols[0], least}}) == 0) ++least;
  }

  void require(std::string_view target, const Argument& a, const Argument& b,
               const std::string& text) {
    // A name of its own: what is asserted must not count as known.
    add(writer_.call(target, {a, b}, ValueKind::kBool, Sym::symbol("holds")), text);
  }

  void add(const Argument& holds, const std::string& text) {
    Node* node =
        rewriter_.emit_node(kAssert, {holds, message_of("exported for " + text + " only")});
    node->name = "guard";
    ++count_;
  }

  const Graph& graph_;
  Rewriter& rewriter_;
  SymWriter writer_;
  const std::vector<Dim> dims_;
  SymRanges ranges_;
  std::vector<std::string>* warnings_;
  std::map<std::string, const Dim*> origins_;  // By the text of a size.
  std::map<std::string, std::string> texts_;   // Of symbols, in terms of inputs.
  int count_ = 0;
};

int write_input_conditions(Graph& graph, std::vector<std::string>* warnings) {
  int count = 0;
  std::vector<std::unique_ptr<Node>> nodes = std::move(graph.nodes);
  graph.nodes.clear();
  const auto keep = [](Node&, Rewriter&) { return false; };
  const auto write = [&](Rewriter& r) { count = InputConditions(graph, r, warnings).run(); };
  try {
    rewrite(graph, keep, write);
  } catch (...) {
    graph.nodes = std::move(nodes);
    throw;
  }
  std::move(nodes.begin(), nodes.end(), std::back_inserter(graph.nodes));
  return count;
}

// ---- Assertions on data ----

// The ranges on which an assertion can rely: those of inputs' sizes, and that a count of chosen
// elements is not negative. What it states itself may be among the others.
SymRanges ranges_of_sizes(const Graph& program, const Graph& graph) {
  const SymRanges checked = checked_ranges(program.ranges);
  SymRanges out;
  for (const auto& node : graph.nodes) {
    for (const Value* value : node->outputs) {
      if (value->kind != ValueKind::kTensor || !facts_of(node->target()).is(kChooses)) continue;
      for (const Sym& size : value->type.sizes) {
        if (size.is_symbol()) out.try_emplace(size.name(), SymRange{0, SymRange::kUnbounded});
      }
    }
  }
  for (const Dim& dim : dynamic_dims(program)) {
    for (const std::string& symbol : dim.size().symbols()) {
      const auto known = checked.find(symbol);
      if (known != checked.end()) out[symbol] = known->second;
    }
  }
  return out;
}

// Reads a number from data, or computes one from numbers.
bool is_scalar_call(const Node& node) {
  return node.outputs.size() == 1 &&
         (node.is("aten::item") || node.is("aten::_local_scalar_dense") ||
          node.is("aten::sym_size.int") || node.target().starts_with("python::"));
}

class AssertionKeeper {
 public:
  AssertionKeeper(const Graph& program, Graph& graph)
      : graph_(graph), ranges_(ranges_of_sizes(program, graph)) {}

  int run() {
    rewrite(graph_, [&](Node& node, Rewriter& rewriter) { return visit(node, rewriter); });
    return count_;
  }

 private:
  bool visit(Node& node, Rewriter& rewriter) {
    if (node.is("aten::_assert_scalar")) {
      assert_scalar(node, rewriter);
    } else if (node.is("aten::_functional_assert_scalar")) {
      assert_scalar(node, rewriter);
      rewriter.replace(node.outputs[0], node.arg("dep_token"));
    } else if (node.is("aten::_assert_async") || node.is("aten::_assert_async.msg")) {
      assert_tensor(node, rewriter);
    } else if (node.is("aten::sym_constrain_range") ||
               node.is("aten::sym_constrain_range_for_size")) {
      assert_range(node, rewriter);
      return false;  // Its bounds are still of use.
    } else {
      return false;
    }
    return true;
  }

  void assert_scalar(const Node& node, Rewriter& rewriter) {
    add(node.arg("self"), node.arg("assert_msg").text(), rewriter);
  }

  void assert_tensor(const Node& node, Rewriter& rewriter) {
    const bool says = node.schema->find("assert_msg") >= 0;
    const std::string text = says ? node.arg("assert_msg").text() : "an assertion";
    if (!node.arg("self").is_value()) return add(node.arg("self"), text, rewriter);
    Value* tensor = node.arg("self").value();
    if (tensor->kind != ValueKind::kTensor) return add(tensor, text, rewriter);
    const bool is_bool = tensor->type.dtype == ScalarType::kBool;
    const ValueKind kind = is_bool                           ? ValueKind::kBool
                           : is_floating(tensor->type.dtype) ? ValueKind::kFloat
                                                             : ValueKind::kInt;
    SymWriter writer(rewriter);
    Value* holds = writer.call("aten::_local_scalar_dense", {tensor}, kind, Sym::symbol("holds"));
    add(holds, text, rewriter);
  }

  void assert_range(const Node& node, Rewriter& rewriter) {
    if (!node.args[0].is_value()) return;
    Value* size = node.args[0].value();
    Argument least = node.arg("min");
    if (node.is("aten::sym_constrain_range_for_size") && least.is_none()) least = 0;
    assert_bound("python::ge", SymOp::kGe, " >= ", size, least, rewriter);
    assert_bound("python::le", SymOp::kLe, " <= ", size, node.arg("max"), rewriter);
  }

  void assert_bound(std::string_view target, SymOp op, const char* sign, Value* size,
                    const Argument& bound, Rewriter& rewriter) {
    if (!bound.is_int() || bound.to_int() == INT64_MIN || bound.to_int() == INT64_MAX) return;
    const Sym condition = Sym::call(op, {size->sym, bound.to_int()});
    SymWriter writer(rewriter);
    if (is_implied(condition)) return;
    Value* holds = writer.call(target, {measured(size, rewriter), bound}, ValueKind::kBool,
                               Sym::symbol("holds"));
    add(holds, size->name + sign + std::to_string(bound.to_int()), rewriter);
    rely_on(condition);
  }

  // A condition without symbols may be what this very assertion made of it.
  bool is_implied(const Sym& condition) const {
    return !condition.symbols().empty() && always_holds(condition, ranges_);
  }

  void add(const Argument& holds, const std::string& text, Rewriter& rewriter) {
    if (holds.is_value() ? is_implied(holds.value()->sym) : holds.to_double() != 0) return;
    if (depends_on_layout(holds)) return;
    rewriter.emit_node(
        kAssert, {holds.is_value() ? measured(holds.value(), rewriter) : holds, message_of(text)});
    ++count_;
    if (holds.is_value()) rely_on(holds.value()->sym);
  }

  // Whether a number is computed from how a tensor lies in memory.
  bool depends_on_layout(const Argument& number, int depth = 0) {
    if (!number.is_value() || number.value()->role != ValueRole::kResult) return false;
    const Node& producer = *number.value()->producer;
    if (asks_for_layout(producer)) return true;
    if (depth == kDeepest || !is_scalar_call(producer)) return false;
    const auto [known, is_new] = on_layout_.try_emplace(number.value(), false);
    if (!is_new) return known->second;
    bool found = false;
    for (const Argument& arg : producer.args) found = found || depends_on_layout(arg, depth + 1);
    return on_layout_[number.value()] = found;
  }

  // The number as it is when the program runs. Where an assertion leaves one value only, the
  // exporter says that a number read from data is that value: such numbers are computed again, as
  // ones of which nothing is said.
  Value* measured(Value* number, Rewriter& rewriter, int depth = 0) {
    const bool is_stated = number->sym.symbols().empty() && number->role == ValueRole::kResult;
    if (number->kind == ValueKind::kTensor || !is_stated) return number;
    if (depth == kDeepest || !is_scalar_call(*number->producer)) return number;
    Value*& again = measured_[number];
    if (again != nullptr) return again;
    std::vector<Argument> args = number->producer->args;
    for (Argument& arg : args) {
      if (arg.is_value()) arg = measured(arg.value(), rewriter, depth + 1);
    }
    SymWriter writer(rewriter);
    again = writer.call(number->producer->target(), args, number->kind, Sym::symbol("measured"));
    return again;
  }

  // What follows in this graph runs only if the condition, a bound of a symbol, holds.
  void rely_on(const Sym& condition) {
    const std::vector<Sym>& sides = condition.args();
    if (sides.size() != 2 || !sides[0].is_symbol() || !sides[1].is_int()) return;
    const int64_t bound = sides[1].as_int();
    if (bound == INT64_MIN || bound == INT64_MAX) return;
    const bool is_new = ranges_.count(sides[0].name()) == 0;
    SymRange& range = ranges_[sides[0].name()];
    if (is_new) range.min = INT64_MIN;
    const SymOp op = condition.op();
    if (op == SymOp::kGe || op == SymOp::kGt) {
      range.min = std::max(range.min, bound + (op == SymOp::kGt ? 1 : 0));
    } else if (op == SymOp::kLe || op == SymOp::kLt) {
      range.max = std::min(range.max, bound - (op == SymOp::kLt ? 1 : 0));
    }
  }

  Graph& graph_;
  SymRanges ranges_;
  std::map<const Value*, Value*> measured_;
  std::map<const Value*, bool> on_layout_;
  int count_ = 0;
};

}  // namespace

int keep_assertions(Graph& graph, std::vector<std::string>* warnings) {
  int count = 0;
  for (Graph* each : all_graphs(graph)) count += AssertionKeeper(graph, *each).run();
  count += write_input_conditions(graph, warnings);
  erase_dead(graph);
  return count;
}

bool asks_for_layout(const Node& node) {
  return node.is("aten::sym_storage_offset") || node.is("aten::sym_stride.int");
}

bool becomes_assertion(std::string_view target) {
  // The dtype of a tensor never changes, and what is printed is nobody's condition.
  return facts_of(target).is(kAsserts) && target != "aten::_assert_tensor_metadata" &&
         target != "aten::_print";
}

int drop_assertions(Graph& graph) {
  int count = 0;
  for (Graph* each : all_graphs(graph)) {
    count += rewrite(*each, [](Node& node, Rewriter&) { return node.is(kAssert); });
    erase_dead(*each);
  }
  return count;
}

}  // namespace taper::exir
