// SizeTable and Builder: emitting nodes, inferring their types, and finding values for sizes.

#include "exir/decompose/builder.h"

#include "exir/decompose/sym_writer.h"
#include "exir/ir/affine.h"
#include "exir/ir/number_nodes.h"
#include "exir/ops/infer.h"
#include "exir/ops/promote.h"

namespace taper::exir {
// ---- SizeTable ----

SizeTable::SizeTable(const Graph& graph) {
  for (const Argument& input : graph.inputs) {
    if (input.is_value()) note(input.value());
  }
  for (Value* value : graph.constants) note(value);
}

void SizeTable::note(Value* value) {
  if (value->kind == ValueKind::kBool) return;  // A truth, or a step toward one: not a size.
  if (value->kind != ValueKind::kTensor) {
    if (!value->sym.is_int()) values_.emplace(value->sym.text(), value);
    return;
  }
  for (size_t d = 0; d < value->type.rank(); ++d) {
    const Sym& size = value->type.sizes[d];
    if (!size.is_int()) dims_.emplace(size.text(), Dim{value, static_cast<int64_t>(d)});
  }
}

Argument SizeTable::call(std::string_view target, Argument a, Argument b, const Sym& size,
                         Rewriter& r) {
  Value* value =
      emit_number(r, "size", ValueKind::kInt, target, {std::move(a), std::move(b)}, size);
  values_[size.text()] = value;
  return value;
}

Argument SizeTable::get(const Sym& size, Rewriter& r) {
  if (size.is_int()) return size.as_int();
  if (const auto known = values_.find(size.text()); known != values_.end()) {
    return r.resolve(known->second);
  }
  if (const auto dim = dims_.find(size.text()); dim != dims_.end()) {
    const Argument tensor = r.resolve(dim->second.tensor);
    return call("aten::sym_size.int", tensor, dim->second.dim, size, r);
  }
  const auto fold = [&](std::string_view target) {
    Argument total = get(size.args()[0], r);
    Sym sum = size.args()[0];
    for (size_t i = 1; i < size.args().size(); ++i) {
      sum = Sym::call(size.op(), {sum, size.args()[i]});
      Argument next = get(size.args()[i], r);
      total = call(target, std::move(total), std::move(next), sum, r);
    }
    return total;
  };
  switch (size.op()) {
    case SymOp::kAdd:
      return fold("python::add");
    case SymOp::kMul:
      return fold("python::mul");
    case SymOp::kFloorDiv:
      return fold("python::floordiv");
    case SymOp::kMod:
      return fold("python::mod");
    case SymOp::kMax:
      return fold("python::sym_max");
    case SymOp::kMin:
      return fold("python::sym_min");
    default:
      return write(size, r);
  }
}

// Other functions of symbols, such as the truncated product of a scale factor and a size. A symbol
// that is no size itself is found from one such as 2*s0 + 1, always from the same one.
Argument SizeTable::write(const Sym& size, Rewriter& r) {
  if (size.is_symbol()) {
    const Sym* source = nullptr;
    for (const auto& [text, dim] : dims_) {
      const Sym& known = dim.tensor->type.sizes[static_cast<size_t>(dim.dim)];
      if (affine_in(known, size.text()).slope == 0) continue;
      if (source == nullptr || text < source->text()) source = &known;
    }
    if (source == nullptr) throw Failure("no value in the graph holds the size " + size.text());
    const auto [slope, start] = affine_in(*source, size.text());
    Argument multiple = get(*source, r);
    if (start != 0) multiple = call("python::sub", std::move(multiple), start, slope * size, r);
    return slope == 1 ? multiple : call("python::floordiv", std::move(multiple), slope, size, r);
  }
  SymWriter writer(r);
  for (const std::string& name : size.symbols()) {
    const Sym symbol = Sym::symbol(name);
    writer.define(symbol, get(symbol, r));
  }
  Argument number = writer.write(size);
  if (number.is_value()) values_[size.text()] = number.value();
  return number;
}

int rewrite_sized(Graph& graph, const std::function<bool(Node&, Rewriter&, SizeTable&)>& visit) {
  SizeTable sizes(graph);
  return rewrite(graph, [&](Node& node, Rewriter& rewriter) {
    const bool replaced = visit(node, rewriter, sizes);
    Argument::List roots = node.args;
    roots.insert(roots.end(), node.outputs.begin(), node.outputs.end());
    rewriter.order_by_use(roots);
    for (Value* value : node.outputs) sizes.note(value);
    return replaced;
  });
}

// ---- Builder ----

Builder::Builder(Node& node, Rewriter& rewriter, SizeTable& sizes, Precision precision)
    : node_(node), rewriter_(rewriter), sizes_(sizes), args_(node.args) {
  if (precision == Precision::kSame) return;
  const auto widen = [this](Argument& arg) {
    if (!arg.is_value() || arg.value()->kind != ValueKind::kTensor) return;
    arg = cast(arg.value(), exir::wide_type(arg.value()->type.dtype));
  };
  for (Argument& arg : args_) {
    widen(arg);
    if (!arg.is_list()) continue;
    Argument::List items = arg.list();
    for (Argument& item : items) widen(item);
    arg = items;
  }
}

ScalarType Builder::wide_type() const { return exir::wide_type(out_type().dtype); }

const Argument& Builder::arg(std::string_view name) const {
  const int index = node_.schema->find(name);
  if (index < 0 || static_cast<size_t>(index) >= args_.size()) return node_.arg(name);
  return args_[static_cast<size_t>(index)];
}

void Builder::result(Value* value, size_t i) {
  Value* old = node_.outputs.at(i);
  value = cast(value, old->type.dtype);
  const auto disagree = [&] {
    std::string text = "decomposition of " + std::string(node_.target()) + " gives [";
    for (const Sym& s : value->type.sizes) text += s.text() + ",";
    text += "] where the program says [";
    for (const Sym& s : old->type.sizes) text += s.text() + ",";
    return Failure(text + "]");
  };
  if (value->type.rank() != old->type.rank()) throw disagree();
  for (size_t d = 0; d < old->type.rank(); ++d) {
    const Sym& a = value->type.sizes[d];
    const Sym& b = old->type.sizes[d];
    if (a.is_int() && b.is_int() && a != b) throw disagree();
  }
  if (value->role == ValueRole::kResult) value->type.sizes = old->type.sizes;
  rewriter_.replace(old, value);
}

std::vector<Value*> Builder::ops(std::string_view op, const std::vector<Argument>& args) {
  const bool full_name = op.find("::") != std::string_view::npos;
  const std::string target = full_name ? std::string(op) : "aten::" + std::string(op);
  Node* node = rewriter_.emit_node(target, args);
  for (TensorType& type : infer_types(*node->schema, node->args)) {
    Value* value = rewriter_.graph().new_tensor(node_.outputs[0]->name, std::move(type));
    value->producer = node;
    node->outputs.push_back(value);
  }
  return node->outputs;
}

Value* Builder::op(std::string_view op, const std::vector<Argument>& args) {
  return ops(op, args)[0];
}

Value* Builder::binary(std::string_view op, const Argument& a, const Argument& b) {
  const bool a_tensor = a.is_value() && a.value()->kind == ValueKind::kTensor;
  const bool b_tensor = b.is_value() && b.value()->kind == ValueKind::kTensor;
  const std::string name(op);
  if (a_tensor && b_tensor) return this->op(name + ".Tensor", {a, b});
  if (a_tensor) return this->op(name + ".Scalar", {a, b});
  if (op == "add" || op == "mul") return this->op(name + ".Scalar", {b, a});
  if (op == "sub") return this->op("rsub.Scalar", {b, a});
  if (op == "div") return mul(this->op("reciprocal", {b}), a);
  throw Failure("no overload of " + name + " takes a number first");
}

Value* Builder::where(Value* condition, Argument yes, Argument no) {
  const auto fill = [this](Argument& arg, const Argument& other) {
    if (!arg.is_value()) arg = constant(arg.to_double(), other.value()->type.dtype);
  };
  fill(yes, no);
  fill(no, yes);
  return op("where.self", {condition, std::move(yes), std::move(no)});
}

Value* Builder::sum(Value* x, const std::vector<int64_t>& dims, bool keepdim) {
  return op("sum.dim_IntList", {x, int_list(dims), keepdim});
}

void Builder::define_size(const Sym& size, Value* tensor) {
  sizes_.define(size, emit_number(rewriter_, "size", ValueKind::kInt, "aten::_local_scalar_dense",
                                  {tensor}, size));
}

Argument Builder::size_list(const std::vector<Sym>& sizes) {
  Argument::List list;
  for (const Sym& s : sizes) list.push_back(size(s));
  return list;
}

Value* Builder::view(Value* x, const std::vector<Sym>& sizes) {
  if (x->type.sizes == sizes) return x;
  size_t open = 0;
  bool zero = false;
  for (const Sym& s : sizes) {
    open += !s.is_int();
    zero |= s == Sym(0);
  }
  Argument::List list;
  for (const Sym& s : sizes) {
    const bool infer = open == 1 && !zero && !s.is_int();
    list.push_back(infer ? Argument(-1) : size(s));
  }
  Value* out = op("view", {x, list});
  out->type.sizes = sizes;
  return out;
}

Value* Builder::expand(Value* x, const std::vector<Sym>& sizes) {
  if (x->type.sizes == sizes) return x;
  const size_t lead = sizes.size() - x->type.rank();
  Argument::List list;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool keep = i >= lead && x->type.sizes[i - lead] == sizes[i];
    list.push_back(keep ? Argument(-1) : size(sizes[i]));
  }
  return op("expand", {x, list});
}

Value* Builder::permute(Value* x, const std::vector<int64_t>& dims) {
  bool identity = true;
  for (size_t i = 0; i < dims.size(); ++i) identity &= dims[i] == static_cast<int64_t>(i);
  return identity ? x : op("permute", {x, int_list(dims)});
}

Value* Builder::transpose(Value* x, int64_t a, int64_t b) {
  const auto rank = static_cast<int64_t>(x->type.rank());
  if (rank == 0) return x;
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  for (int64_t i = 0; i < rank; ++i) dims[static_cast<size_t>(i)] = i;
  std::swap(dims[static_cast<size_t>(wrap_dim(a, rank))],
            dims[static_cast<size_t>(wrap_dim(b, rank))]);
  return permute(x, dims);
}

Value* Builder::unsqueeze(Value* x, int64_t dim) { return op("unsqueeze", {x, dim}); }

Value* Builder::squeeze(Value* x, int64_t dim) { return op("squeeze.dims", {x, int_list({dim})}); }

Value* Builder::slice(Value* x, int64_t dim, const Sym& start, const Sym& end) {
  if (start == Sym(0) && end == dim_of(x, dim)) return x;
  return op("slice.Tensor", {x, dim, size(start), size(end), 1});
}

Value* Builder::select(Value* x, int64_t dim, int64_t index) {
  return op("select.int", {x, dim, index});
}

Value* Builder::cat(const std::vector<Value*>& parts, int64_t dim) {
  if (parts.size() == 1) return parts[0];
  Argument::List list(parts.begin(), parts.end());
  return op("cat", {list, dim});
}

Value* Builder::cast(Value* x, ScalarType dtype) {
  return x->type.dtype == dtype ? x : op("_to_copy", {x, dtype});
}

Value* Builder::full(const std::vector<Sym>& sizes, Argument value, ScalarType dtype) {
  return op("full", {size_list(sizes), std::move(value), dtype});
}

Value* Builder::arange(const Sym& start, const Sym& end, ScalarType dtype) {
  return op("arange.start_step", {size(start), size(end), 1, dtype});
}

namespace {
template <typename T>
Value* constant_line(Graph& graph, const std::vector<T>& line, ScalarType dtype) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(line.data());
  const TensorType type(dtype, {static_cast<int64_t>(line.size())});
  return graph.new_constant(
      "numbers", type, own_bytes(std::vector<uint8_t>(bytes, bytes + line.size() * sizeof(T))));
}
}  // namespace

Value* Builder::eye(const Sym& rows, const Sym& columns, ScalarType dtype) {
  Value* row = unsqueeze(arange(0, rows), 1);
  Value* column = unsqueeze(arange(0, columns), 0);
  return cast(op("eq.Tensor", {row, column}), dtype);
}

Value* Builder::numbers(const std::vector<int64_t>& line) {
  return constant_line(rewriter_.graph(), line, ScalarType::kLong);
}
Value* Builder::numbers(const std::vector<float>& line) {
  return constant_line(rewriter_.graph(), line, ScalarType::kFloat);
}
Value* Builder::numbers(const std::vector<double>& line) {
  return constant_line(rewriter_.graph(), line, ScalarType::kDouble);
}

Value* Builder::constant(double value, ScalarType dtype) {
  return op("full",
            {Argument::List(),
             is_floating(dtype) ? Argument(value) : Argument(static_cast<int64_t>(value)), dtype});
}

// A body graph whose inputs have the types of `like`; those of the `sliced` values from
// `first_sliced` on are the types of one slice.
std::shared_ptr<Graph> Builder::body(const char* name, const Values& like, size_t first_sliced,
                                     size_t sliced, const Step& step) {
  auto body = std::make_shared<Graph>(rewriter_.graph().operators());
  body->name = name;
  Values inputs;
  for (size_t i = 0; i < like.size(); ++i) {
    const TensorType& type = like[i]->type;
    const bool slice = i >= first_sliced && i < first_sliced + sliced;
    const auto from = type.sizes.begin() + (slice ? 1 : 0);
    inputs.push_back(
        body->new_tensor(like[i]->name, TensorType(type.dtype, {from, type.sizes.end()})));
    inputs.back()->role = ValueRole::kInput;
    body->inputs.push_back(inputs.back());
  }
  const auto write = [&](Rewriter& rewriter) {
    SizeTable sizes(*body);
    Builder inner(node_, rewriter, sizes);
    for (Value* output : step(inner, inputs)) body->outputs.push_back(output);
    rewriter.order_by_use(body->outputs);
  };
  rewrite(
      *body, [](Node&, Rewriter&) { return false; }, write);
  return body;
}

namespace {
Argument list_of(const Builder::Values& values) {
  return Argument(Argument::List(values.begin(), values.end()));
}
Builder::Values joined(Builder::Values a, const Builder::Values& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
}  // namespace

std::vector<Value*> Builder::scan(const std::vector<Value*>& initial,
                                  const std::vector<Value*>& over,
                                  const std::vector<Value*>& constants, const Step& step) {
  const Values all = joined(joined(initial, over), constants);
  const auto inner = body("step", all, initial.size(), over.size(), step);
  Node* node = rewriter_.emit_node("higher_order::scan",
                                   {inner, list_of(initial), list_of(over), list_of(constants)});
  for (size_t i = 0; i < inner->outputs.size(); ++i) {
    TensorType type = inner->outputs[i].value()->type;
    if (i < initial.size()) {
      type = initial[i]->type;
    } else {
      type = TensorType(type.dtype, type.sizes);
      type.sizes.insert(type.sizes.begin(), over.at(0)->type.sizes.at(0));
      type.dim_order = contiguous_order(type.rank());
    }
    Value* value = rewriter_.graph().new_tensor(node_.outputs[0]->name, std::move(type));
    value->producer = node;
    node->outputs.push_back(value);
  }
  return node->outputs;
}

std::vector<Value*> Builder::loop(const Values& initial, const Values& constants,
                                  const Step& goes_on, const Step& step) {
  const Values all = joined(initial, constants);
  const auto condition = body("goes_on", all, 0, 0, goes_on);
  const auto inner = body("step", all, 0, 0, step);
  Node* node = rewriter_.emit_node("higher_order::while_loop",
                                   {condition, inner, list_of(initial), list_of(constants)});
  for (const Value* start : initial) {
    Value* value = rewriter_.graph().new_tensor(node_.outputs[0]->name, start->type);
    value->producer = node;
    node->outputs.push_back(value);
  }
  return node->outputs;
}

Sym product(const std::vector<Sym>& sizes, size_t first, size_t last) {
  Sym total = 1;
  for (size_t i = first; i < last; ++i) total = total * sizes[i];
  return total;
}

}  // namespace taper::exir
