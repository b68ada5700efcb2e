// The builder with which decomposition rules write graphs: it emits calls of operators, infers the
// types of their results, and turns symbolic sizes into values.
//
//   silu(x) = x * sigmoid(x)         void silu(Builder& b) {
//                                      b.result(b.mul(b.in("self"), b.op("sigmoid", {b.in("self")})));
//                                    }

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "exir/ir/rewrite.h"

namespace taper::exir {

// Maps the symbolic sizes of one graph to the integer values that hold them at run time. A size
// that no value holds yet is computed where it is first needed: sym_size of a tensor, scalar
// arithmetic.
class SizeTable {
 public:
  explicit SizeTable(const Graph& graph);
  // A literal if `size` is static, else an integer value. Throws Failure if a symbol has no source.
  Argument get(const Sym& size, Rewriter& rewriter);
  // From here on `value`, an integer, holds `size`.
  void define(const Sym& size, Value* value) { values_[size.text()] = value; }

 private:
  friend int rewrite_sized(Graph&, const std::function<bool(Node&, Rewriter&, SizeTable&)>&);
  struct Dim {
    Value* tensor;
    int64_t dim;
  };
  void note(Value* value);
  Argument call(std::string_view target, Argument a, Argument b, const Sym& size, Rewriter& r);
  Argument write(const Sym& size, Rewriter& r);
  std::unordered_map<std::string, Value*> values_;
  std::unordered_map<std::string, Dim> dims_;
};

// rewrite() with a table of the sizes that are available before each node, and with the nodes of
// each rule in an order that no compiler chooses (Rewriter::order_by_use). Sizes that only a node's
// results provide become available after it: the rule that replaces the node cannot use them.
int rewrite_sized(Graph& graph, const std::function<bool(Node&, Rewriter&, SizeTable&)>& visit);

// Whether a rule sees its 16-bit float operands as they are, or as float32. PyTorch's kernels
// compute in float32 and round once; so must a rule that takes several steps.
enum class Precision { kSame, kWide };

class Builder {
 public:
  Builder(Node& node, Rewriter& rewriter, SizeTable& sizes, Precision precision = Precision::kSame);

  // The node being replaced, and its arguments by schema name.
  const Node& node() const { return node_; }
  const Argument& arg(std::string_view name) const;
  const std::vector<Argument>& args() const { return args_; }
  bool knows(std::string_view name) const { return node_.schema->find(name) >= 0; }
  bool has(std::string_view name) const { return !arg(name).is_none(); }
  Value* in(std::string_view name) const { return arg(name).value(); }
  const TensorType& out_type(size_t i = 0) const { return node_.outputs[i]->type; }
  // The result's dtype, or float32 for a 16-bit one.
  ScalarType wide_type() const;

  // Replaces result `i` by `value`, converted to the result's dtype. Throws Failure if static sizes
  // disagree.
  void result(Value* value, size_t i = 0);

  // Calls "aten::<op>" (or a full name with "::"); arguments left out take their defaults.
  Value* op(std::string_view op, const std::vector<Argument>& args);
  std::vector<Value*> ops(std::string_view op, const std::vector<Argument>& args);

  // Arithmetic over tensors and numbers; the right overload is chosen.
  Value* add(const Argument& a, const Argument& b) { return binary("add", a, b); }
  Value* sub(const Argument& a, const Argument& b) { return binary("sub", a, b); }
  Value* mul(const Argument& a, const Argument& b) { return binary("mul", a, b); }
  Value* div(const Argument& a, const Argument& b) { return binary("div", a, b); }
  Value* binary(std::string_view op, const Argument& a, const Argument& b);

  // Element-wise choice. At least one of `yes` and `no` is a tensor, whose dtype a number takes.
  Value* where(Value* condition, Argument yes, Argument no);
  // The sum over `dims`, or over all dimensions if the list is empty.
  Value* sum(Value* x, const std::vector<int64_t>& dims = {}, bool keepdim = false);

  // Shape operators. Sizes may be symbolic.
  Value* view(Value* x, const std::vector<Sym>& sizes);
  Value* expand(Value* x, const std::vector<Sym>& sizes);
  Value* permute(Value* x, const std::vector<int64_t>& dims);
  Value* transpose(Value* x, int64_t a, int64_t b);
  Value* unsqueeze(Value* x, int64_t dim);
  Value* squeeze(Value* x, int64_t dim);
  // x[start:end] along dim.
  Value* slice(Value* x, int64_t dim, const Sym& start, const Sym& end);
  Value* select(Value* x, int64_t dim, int64_t index);
  Value* cat(const std::vector<Value*>& parts, int64_t dim);
  // Converts if the dtype differs.
  Value* cast(Value* x, ScalarType dtype);
  // A tensor filled with one number.
  Value* full(const std::vector<Sym>& sizes, Argument value, ScalarType dtype);
  // start, start + 1, ... up to, but not including, end.
  Value* arange(const Sym& start, const Sym& end, ScalarType dtype = ScalarType::kLong);
  // Ones on the diagonal, zeros elsewhere.
  Value* eye(const Sym& rows, const Sym& columns, ScalarType dtype);
  // A constant vector of int64, float32 or float64 numbers.
  Value* numbers(const std::vector<int64_t>& line);
  Value* numbers(const std::vector<float>& line);
  Value* numbers(const std::vector<double>& line);
  // A 0-d constant of that dtype.
  Value* constant(double value, ScalarType dtype);

  // Emits higher_order::scan. `step` builds the body: it takes the carried values, one slice of
  // each tensor in `over` and the constants, and returns the next carried values and the values to
  // stack. Returns the final carried values and the stacked ones.
  using Values = std::vector<Value*>;
  using Step = std::function<Values(Builder& body, const Values& inputs)>;
  std::vector<Value*> scan(const std::vector<Value*>& initial, const std::vector<Value*>& over,
                           const std::vector<Value*>& constants, const Step& step);

  // Emits higher_order::while_loop: while `goes_on`, which returns one bool, is true, `step`
  // computes the next carried values. Both take the carried values and the constants. Returns the
  // final carried values.
  std::vector<Value*> loop(const Values& initial, const Values& constants, const Step& goes_on,
                           const Step& step);

  Argument size(const Sym& size) { return sizes_.get(size, rewriter_); }
  // From here on `size` is the integer that `tensor`, which has one element, holds.
  void define_size(const Sym& size, Value* tensor);
  Argument size_list(const std::vector<Sym>& sizes);
  Rewriter& rewriter() { return rewriter_; }

 private:
  std::shared_ptr<Graph> body(const char* name, const Values& like, size_t first_sliced,
                              size_t sliced, const Step& step);
  Node& node_;
  Rewriter& rewriter_;
  SizeTable& sizes_;
  std::vector<Argument> args_;  // The node's arguments, widened if the rule asks for it.
};

// The product of the sizes in [first, last).
Sym product(const std::vector<Sym>& sizes, size_t first, size_t last);

inline Sym dim_of(const Value* x, int64_t d) {
  const auto rank = static_cast<int64_t>(x->type.rank());
  return x->type.sizes.at(static_cast<size_t>(d < 0 ? d + rank : d));
}

}  // namespace taper::exir
