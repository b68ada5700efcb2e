// See infer.h. One rule per family of operators; the table at the end names who obeys which.

#include "exir/ops/infer.h"

#include <algorithm>
#include <unordered_map>

#include "exir/ops/promote.h"

namespace taper::exir {
namespace {

using Sizes = std::vector<Sym>;
using Types = std::vector<TensorType>;

// A call with its arguments by name.
struct Call {
  const Schema& schema;
  const std::vector<Argument>& args;

  const Argument& arg(std::string_view name) const {
    const int index = schema.find(name);
    if (index < 0) throw Failure(schema.name + " has no argument '" + std::string(name) + "'");
    return args[static_cast<size_t>(index)];
  }
  bool has(std::string_view name) const {
    const int index = schema.find(name);
    return index >= 0 && !args[static_cast<size_t>(index)].is_none();
  }
  const TensorType& tensor(size_t i) const { return args[i].value()->type; }
  const TensorType& tensor(std::string_view name) const { return arg(name).value()->type; }
  int64_t integer(std::string_view name) const { return arg(name).to_int(); }
  bool flag(std::string_view name) const { return has(name) && arg(name).to_bool(); }
  // The explicit dtype argument, or `otherwise`.
  ScalarType dtype_or(ScalarType otherwise) const {
    if (!has("dtype")) return otherwise;
    return std::get<ScalarType>(arg("dtype").v);
  }
};

using Rule = Types (*)(const Call&);

// ---- element-wise ----

Types same(const Call& c) { return {TensorType(c.tensor(0).dtype, c.tensor(0).sizes)}; }
Types same_bool(const Call& c) { return {TensorType(ScalarType::kBool, c.tensor(0).sizes)}; }
Types same_float(const Call& c) {
  return {TensorType(float_result_type({c.args[0]}), c.tensor(0).sizes)};
}

Sizes broadcast_all(const std::vector<Argument>& args) {
  Sizes sizes;
  for (const Argument& arg : args) {
    if (arg.is_value() && arg.value()->kind == ValueKind::kTensor) {
      sizes = broadcast(sizes, arg.value()->type.sizes);
    }
  }
  return sizes;
}

std::vector<Argument> first_two(const Call& c) { return {c.args[0], c.args[1]}; }
Types binary(const Call& c) {
  return {TensorType(result_type(first_two(c)), broadcast_all(first_two(c)))};
}
Types binary_bool(const Call& c) {
  return {TensorType(ScalarType::kBool, broadcast_all(first_two(c)))};
}
Types binary_float(const Call& c) {
  return {TensorType(float_result_type(first_two(c)), broadcast_all(first_two(c)))};
}
Types divide_mode(const Call& c) { return c.has("rounding_mode") ? binary(c) : binary_float(c); }
Types clamp(const Call& c) {
  return {TensorType(result_type({c.args.begin(), c.args.begin() + 3}),
                     broadcast_all({c.args.begin(), c.args.begin() + 3}))};
}
Types where(const Call& c) {
  return {TensorType(result_type({c.args[1], c.args[2]}), broadcast_all(c.args))};
}
Types masked_fill(const Call& c) {
  return {TensorType(c.tensor(0).dtype, broadcast_all({c.args[0], c.args[1]}))};
}
Types to_copy(const Call& c) {
  return {TensorType(c.dtype_or(c.tensor(0).dtype), c.tensor(0).sizes)};
}

// ---- reductions ----

Sizes reduced_sizes(const Call& c, const Argument& dims, bool keepdim) {
  const Sizes& in = c.tensor(0).sizes;
  const auto rank = static_cast<int64_t>(in.size());
  std::vector<bool> gone(in.size(), false);
  std::vector<int64_t> list;
  if (dims.is_list()) list = to_ints(dims);
  if (dims.is_int()) list = {dims.to_int()};
  if (list.empty()) std::fill(gone.begin(), gone.end(), true);
  for (int64_t d : list) {
    if (rank > 0) gone[static_cast<size_t>(wrap_dim(d, rank))] = true;
  }
  Sizes out;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!gone[i])
      out.push_back(in[i]);
    else if (keepdim)
      out.push_back(1);
  }
  return out;
}

Sizes reduced_sizes(const Call& c) {
  if (c.schema.find("dim") < 0) return {};
  return reduced_sizes(c, c.arg("dim"), c.flag("keepdim"));
}

Types reduce_same(const Call& c) { return {TensorType(c.tensor(0).dtype, reduced_sizes(c))}; }
Types reduce_float(const Call& c) {
  return {TensorType(c.dtype_or(c.tensor(0).dtype), reduced_sizes(c))};
}
Types reduce_sum(const Call& c) {
  const ScalarType in = c.tensor(0).dtype;
  return {TensorType(c.dtype_or(is_floating(in) ? in : ScalarType::kLong), reduced_sizes(c))};
}
Types reduce_bool(const Call& c) {
  const ScalarType in = c.tensor(0).dtype;
  return {TensorType(in == ScalarType::kByte ? in : ScalarType::kBool, reduced_sizes(c))};
}
Types reduce_index(const Call& c) { return {TensorType(ScalarType::kLong, reduced_sizes(c))}; }
Types reduce_with_index(const Call& c) {
  return {TensorType(c.tensor(0).dtype, reduced_sizes(c)),
          TensorType(ScalarType::kLong, reduced_sizes(c))};
}
Types scan_sum(const Call& c) {
  const ScalarType in = c.tensor(0).dtype;
  return {TensorType(c.dtype_or(is_floating(in) ? in : ScalarType::kLong), c.tensor(0).sizes)};
}

// ---- shape ----

Types view(const Call& c) {
  Sizes sizes = to_syms(c.args[1]);
  Sym known = 1;
  int64_t open = -1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == Sym(-1))
      open = static_cast<int64_t>(i);
    else
      known = known * sizes[i];
  }
  if (open >= 0) {
    const Sym total = c.tensor(0).numel();
    sizes[static_cast<size_t>(open)] =
        known == Sym(0) ? Sym(0) : Sym::call(SymOp::kFloorDiv, {total, known});
  }
  return {TensorType(c.tensor(0).dtype, sizes)};
}
Types permute(const Call& c) {
  const Sizes& in = c.tensor(0).sizes;
  Sizes out;
  for (int64_t d : to_ints(c.args[1])) {
    out.push_back(in[static_cast<size_t>(wrap_dim(d, static_cast<int64_t>(in.size())))]);
  }
  return {TensorType(c.tensor(0).dtype, out)};
}
Types expand(const Call& c) {
  const Sizes& in = c.tensor(0).sizes;
  Sizes out = to_syms(c.args[1]);
  if (out.size() < in.size()) throw Failure(c.schema.name + ": fewer sizes than dimensions");
  const size_t lead = out.size() - in.size();
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] == Sym(-1)) {
      if (i < lead) throw Failure(c.schema.name + ": -1 for a new dimension");
      out[i] = in[i - lead];
    }
  }
  return {TensorType(c.tensor(0).dtype, out)};
}
Types unsqueeze(const Call& c) {
  Sizes sizes = c.tensor(0).sizes;
  const int64_t d = wrap_dim(c.integer("dim"), static_cast<int64_t>(sizes.size()) + 1);
  sizes.insert(sizes.begin() + d, Sym(1));
  return {TensorType(c.tensor(0).dtype, sizes)};
}
Types squeeze_dims(const Call& c) {
  const Sizes& in = c.tensor(0).sizes;
  const auto rank = static_cast<int64_t>(in.size());
  std::vector<bool> asked(in.size(), false);
  for (int64_t d : to_ints(c.args[1])) {
    if (rank > 0) asked[static_cast<size_t>(wrap_dim(d, rank))] = true;
  }
  Sizes out;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!(asked[i] && in[i] == Sym(1))) out.push_back(in[i]);
  }
  return {TensorType(c.tensor(0).dtype, out)};
}

// Length of [start:end:step] of a dimension: exact when start and end are literals that are known
// to lie inside, else as PyTorch clamps them.
Sym slice_length(const Sym& size, const Argument& start, const Argument& end, const Sym& step) {
  const Sym zero = 0;
  const auto place = [&](const Argument& arg, const Sym& otherwise) -> Sym {
    if (arg.is_none()) return otherwise;
    Sym at = to_sym(arg);
    if (at.is_int() && at.as_int() == INT64_MAX) return size;
    if (at.is_int() && at.as_int() < 0) at = size + at;
    if (at == size || at == zero) return at;
    return max(min(at, size), zero);
  };
  const Sym from = place(start, zero);
  const Sym to = place(end, size);
  Sym length = to - from;
  if (!(from == zero) && !(length.is_int() && length.as_int() >= 0)) length = max(length, zero);
  if (length.is_int() && length.as_int() < 0) return 0;
  if (step == Sym(1)) return length;
  return floor_div(length + step - Sym(1), step);
}
Types slice(const Call& c) {
  Sizes sizes = c.tensor(0).sizes;
  Sym& size =
      sizes[static_cast<size_t>(wrap_dim(c.integer("dim"), static_cast<int64_t>(sizes.size())))];
  size = slice_length(size, c.arg("start"), c.arg("end"), to_sym(c.arg("step")));
  return {TensorType(c.tensor(0).dtype, sizes)};
}
Types select(const Call& c) {
  Sizes sizes = c.tensor(0).sizes;
  sizes.erase(sizes.begin() + wrap_dim(c.integer("dim"), static_cast<int64_t>(sizes.size())));
  return {TensorType(c.tensor(0).dtype, sizes)};
}
Types cat(const Call& c) {
  const Argument::List& parts = c.args[0].list();
  if (parts.empty()) throw Failure("aten::cat of no tensors");
  Sizes sizes;
  Sym total = 0;
  for (const Argument& part : parts) {
    const Sizes& in = part.value()->type.sizes;
    if (in.size() == 1 && in[0] == Sym(0)) continue;  // Skipped for old times' sake.
    const int64_t d = wrap_dim(c.integer("dim"), static_cast<int64_t>(in.size()));
    total = total + in[static_cast<size_t>(d)];
    sizes = in;
    sizes[static_cast<size_t>(d)] = total;
  }
  if (sizes.empty()) sizes = parts[0].value()->type.sizes;
  return {TensorType(result_type({c.args[0]}), sizes)};
}
Types constant_pad(const Call& c) {
  Sizes sizes = c.tensor(0).sizes;
  const std::vector<Sym> pad = to_syms(c.args[1]);
  if (pad.size() % 2 != 0 || pad.size() / 2 > sizes.size()) {
    throw Failure(c.schema.name + ": a pad list of wrong length");
  }
  for (size_t i = 0; i < pad.size() / 2; ++i) {
    Sym& size = sizes[sizes.size() - 1 - i];
    size = size + pad[2 * i] + pad[2 * i + 1];
  }
  return {TensorType(c.tensor(0).dtype, sizes)};
}
Types repeat(const Call& c) {
  const std::vector<Sym> times = to_syms(c.args[1]);
  const Sizes& in = c.tensor(0).sizes;
  if (times.size() < in.size()) throw Failure("aten::repeat: fewer repeats than dimensions");
  Sizes out = times;
  for (size_t i = 0; i < in.size(); ++i) {
    Sym& size = out[times.size() - in.size() + i];
    size = size * in[i];
  }
  return {TensorType(c.tensor(0).dtype, out)};
}

// ---- matrices ----

Types mm(const Call& c) {
  return {TensorType(c.tensor(0).dtype, {c.tensor(0).sizes.at(0), c.tensor(1).sizes.at(1)})};
}
Types bmm(const Call& c) {
  const Sizes& a = c.tensor(0).sizes;
  return {TensorType(c.tensor(0).dtype, {a.at(0), a.at(1), c.tensor(1).sizes.at(2)})};
}
Types addmm(const Call& c) {
  return {TensorType(c.tensor(1).dtype, {c.tensor(1).sizes.at(0), c.tensor(2).sizes.at(1)})};
}
Types linear(const Call& c) {
  Sizes sizes = c.tensor(0).sizes;
  sizes.at(sizes.size() - 1) = c.tensor(1).sizes.at(0);
  return {TensorType(c.tensor(0).dtype, sizes)};
}
Types matmul(const Call& c) {
  Sizes a = c.tensor(0).sizes, b = c.tensor(1).sizes;
  const bool row = a.size() == 1, column = b.size() == 1;
  if (row) a.insert(a.begin(), Sym(1));
  if (column) b.push_back(Sym(1));
  Sizes out = broadcast({a.begin(), a.end() - 2}, {b.begin(), b.end() - 2});
  if (!row) out.push_back(a[a.size() - 2]);
  if (!column) out.push_back(b[b.size() - 1]);
  return {TensorType(c.tensor(0).dtype, out)};
}
Types diagonal(const Call& c) {
  Sizes sizes = c.tensor(0).sizes;
  const auto rank = static_cast<int64_t>(sizes.size());
  const int64_t a = wrap_dim(c.integer("dim1"), rank), b = wrap_dim(c.integer("dim2"), rank);
  const int64_t offset = c.integer("offset");
  const Sym rows = sizes.at(static_cast<size_t>(a)) + Sym(std::min<int64_t>(offset, 0));
  const Sym columns = sizes.at(static_cast<size_t>(b)) - Sym(std::max<int64_t>(offset, 0));
  sizes.erase(sizes.begin() + std::max(a, b));
  sizes.erase(sizes.begin() + std::min(a, b));
  sizes.push_back(max(min(rows, columns), Sym(0)));
  return {TensorType(c.tensor(0).dtype, sizes)};
}
Types embedding(const Call& c) {
  Sizes sizes = c.tensor(1).sizes;
  sizes.push_back(c.tensor(0).sizes.at(1));
  return {TensorType(c.tensor(0).dtype, sizes)};
}

Sym conv_length(const Call& c, const Sym& in, size_t axis, int64_t kernel) {
  const auto at = [&](std::string_view name) {
    const std::vector<int64_t> list = to_ints(c.arg(name));
    return list.at(list.size() == 1 ? 0 : axis);
  };
  if (!c.flag("transposed")) {
    return window_length(in, kernel, at("stride"), at("padding"), at("dilation"), false);
  }
  return (in - Sym(1)) * Sym(at("stride")) - Sym(2 * at("padding")) +
         Sym(at("dilation") * (kernel - 1) + at("output_padding") + 1);
}

Types convolution(const Call& c) {
  const Sizes& in = c.tensor(0).sizes;
  const Sizes& weight = c.tensor(1).sizes;
  if (in.size() != weight.size() || in.size() < 3) {
    throw Failure("aten::convolution: input and weight must have the same rank of at least 3");
  }
  Sizes out = {in[0], c.flag("transposed") ? weight[1] * Sym(c.integer("groups")) : weight[0]};
  for (size_t i = 2; i < in.size(); ++i) {
    out.push_back(conv_length(c, in[i], i - 2, weight[i].as_int()));
  }
  return {TensorType(c.tensor(0).dtype, out)};
}

Sizes pooled(const Call& c) {
  Sizes sizes = c.tensor(0).sizes;
  const std::vector<int64_t> kernel = to_ints(c.arg("kernel_size"));
  const std::vector<int64_t> stride = to_ints(c.arg("stride"));
  const std::vector<int64_t> padding = to_ints(c.arg("padding"));
  std::vector<int64_t> dilation = {1};
  if (c.schema.find("dilation") >= 0) dilation = to_ints(c.arg("dilation"));
  const auto at = [](const std::vector<int64_t>& list, size_t i) {
    return list.at(list.size() == 1 ? 0 : i);
  };
  for (size_t i = 0; i < 2; ++i) {
    Sym& size = sizes.at(sizes.size() - 2 + i);
    const int64_t k = at(kernel, i);
    size = window_length(size, k, stride.empty() ? k : at(stride, i), at(padding, i),
                         at(dilation, i), c.flag("ceil_mode"));
  }
  return sizes;
}
Types pool(const Call& c) { return {TensorType(c.tensor(0).dtype, pooled(c))}; }
Types pool_with_index(const Call& c) {
  return {TensorType(c.tensor(0).dtype, pooled(c)), TensorType(ScalarType::kLong, pooled(c))};
}
Types adaptive_pool(const Call& c) {
  Sizes sizes = c.tensor(0).sizes;
  const std::vector<Sym> out = to_syms(c.arg("output_size"));
  for (size_t i = 0; i < out.size(); ++i) sizes.at(sizes.size() - out.size() + i) = out[i];
  return {TensorType(c.tensor(0).dtype, sizes)};
}

// Given by output_size, or by factors of the input's sizes.
Types upsample(const Call& c) {
  Sizes sizes = c.tensor(0).sizes;
  if (c.has("output_size")) return adaptive_pool(c);
  const Argument::List& factors = c.arg("scale_factors").list();
  for (size_t i = 0; i < factors.size(); ++i) {
    Sym& size = sizes.at(sizes.size() - factors.size() + i);
    const Sym scale = Sym::from_float(factors[i].to_double());
    const Sym real = Sym::call(SymOp::kFloatMul, {Sym::call(SymOp::kToFloat, {size}), scale});
    size = Sym::call(SymOp::kTruncToInt, {real});
  }
  return {TensorType(c.tensor(0).dtype, sizes)};
}

// ---- norms ----

Types layer_norm(const Call& c) {
  const Sizes& in = c.tensor(0).sizes;
  const size_t lead = in.size() - c.arg("normalized_shape").list().size();
  Sizes stats(in.begin(), in.begin() + static_cast<int64_t>(lead));
  stats.resize(in.size(), Sym(1));
  const ScalarType dtype = c.tensor(0).dtype;
  return {TensorType(dtype, in), TensorType(dtype, stats), TensorType(dtype, stats)};
}
Types group_norm(const Call& c) {
  const ScalarType dtype = c.tensor(0).dtype;
  const TensorType stats(dtype, {to_sym(c.arg("N")), Sym(c.integer("group"))});
  return {TensorType(dtype, c.tensor(0).sizes), stats, stats};
}
Types batch_norm(const Call& c) {
  const ScalarType dtype = c.tensor(0).dtype;
  const TensorType none(dtype, {Sym(0)});
  return {TensorType(dtype, c.tensor(0).sizes), none, none};
}

// ---- factories ----

ScalarType number_type(const Argument& fill) {
  if (fill.is<int64_t>()) return ScalarType::kLong;
  return fill.is<bool>() ? ScalarType::kBool : ScalarType::kFloat;
}
Types full(const Call& c) {
  return {TensorType(c.dtype_or(number_type(c.args[1])), to_syms(c.args[0]))};
}
Types scalar_tensor(const Call& c) { return {TensorType(c.dtype_or(ScalarType::kFloat), Sizes{})}; }
Types full_like(const Call& c) {
  return {TensorType(c.dtype_or(c.tensor(0).dtype), c.tensor(0).sizes)};
}
Types arange(const Call& c) {
  const Sym start = to_sym(c.arg("start"));
  const Sym step = to_sym(c.arg("step"));
  const Sym length = floor_div(to_sym(c.arg("end")) - start + step - Sym(1), step);
  return {TensorType(c.dtype_or(ScalarType::kLong), {length})};
}

// ---- indexing ----

Types like_index(const Call& c) { return {TensorType(c.tensor(0).dtype, c.tensor("index").sizes)}; }
Types index_select(const Call& c) {
  Sizes sizes = c.tensor(0).sizes;
  const int64_t d = wrap_dim(c.integer("dim"), static_cast<int64_t>(sizes.size()));
  sizes[static_cast<size_t>(d)] = c.tensor("index").numel();
  return {TensorType(c.tensor(0).dtype, sizes)};
}
Types index(const Call& c) {
  const Sizes& in = c.tensor(0).sizes;
  const Argument::List& indices = c.args[1].list();
  Sizes shape, before, after;
  int64_t first = -1, last = -1, count = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i].is_none()) continue;
    if (indices[i].value()->type.dtype == ScalarType::kBool) {
      throw Failure("aten::index.Tensor with a mask has no static shape");
    }
    shape = broadcast(shape, indices[i].value()->type.sizes);
    if (first < 0) first = static_cast<int64_t>(i);
    last = static_cast<int64_t>(i);
    ++count;
  }
  const bool adjacent = last - first + 1 == count;
  for (size_t i = 0; i < in.size(); ++i) {
    const bool indexed = i < indices.size() && !indices[i].is_none();
    if (indexed) continue;
    (adjacent && static_cast<int64_t>(i) < first ? before : after).push_back(in[i]);
  }
  Sizes out = before;
  out.insert(out.end(), shape.begin(), shape.end());
  out.insert(out.end(), after.begin(), after.end());
  return {TensorType(c.tensor(0).dtype, out)};
}
Types topk(const Call& c) {
  Sizes sizes = c.tensor(0).sizes;
  if (!sizes.empty()) {
    const int64_t d = wrap_dim(c.integer("dim"), static_cast<int64_t>(sizes.size()));
    sizes[static_cast<size_t>(d)] = to_sym(c.arg("k"));
  }
  return {TensorType(c.tensor(0).dtype, sizes), TensorType(ScalarType::kLong, sizes)};
}
Types split_sizes(const Call& c) {
  Types out;
  const Sizes& in = c.tensor(0).sizes;
  const int64_t d = wrap_dim(c.integer("dim"), static_cast<int64_t>(in.size()));
  for (const Sym& size : to_syms(c.args[1])) {
    Sizes part = in;
    part[static_cast<size_t>(d)] = size;
    out.emplace_back(c.tensor(0).dtype, part);
  }
  return out;
}

using Names = std::vector<const char*>;

struct Family {
  Rule rule;
  Names names;
};

const std::vector<Family>& families() {
  static const std::vector<Family> table = {
      {same,
       {"abs",
        "neg",
        "relu",
        "floor",
        "ceil",
        "round",
        "trunc",
        "sign",
        "clone",
        "alias",
        "hardtanh",
        "leaky_relu",
        "elu",
        "gelu",
        "bitwise_not",
        "flip",
        "roll",
        "tril",
        "triu",
        "silu",
        "hardswish",
        "hardsigmoid",
        "_softmax",
        "_log_softmax",
        "slice_scatter",
        "select_scatter",
        "index_put",
        "scatter.src",
        "scatter.value",
        "scatter_add",
        "fill.Scalar",
        "fill.Tensor",
        "copy",
        "detach",
        "lift_fresh_copy",
        "contiguous",
        "relu6",
        "softmax.int",
        "log_softmax.int",
        "cumprod",
        "diagonal_scatter",
        "masked_scatter",
        "_safe_softmax",
        "log_sigmoid"}},
      {same_bool, {"isnan", "isinf", "logical_not", "isfinite", "signbit"}},
      {same_float,
       {"exp",   "log",   "log2",  "log10", "log1p",      "expm1", "sqrt", "rsqrt", "sigmoid",
        "tanh",  "sin",   "cos",   "tan",   "sinh",       "cosh",  "asin", "acos",  "atan",
        "asinh", "acosh", "atanh", "erf",   "reciprocal", "logit", "exp2", "erfc"}},
      {binary,
       {"add.Tensor",
        "add.Scalar",
        "sub.Tensor",
        "sub.Scalar",
        "mul.Tensor",
        "mul.Scalar",
        "rsub.Scalar",
        "rsub.Tensor",
        "maximum",
        "minimum",
        "remainder.Tensor",
        "remainder.Scalar",
        "fmod.Tensor",
        "fmod.Scalar",
        "pow.Tensor_Tensor",
        "pow.Tensor_Scalar",
        "pow.Scalar",
        "floor_divide",
        "floor_divide.Scalar",
        "bitwise_and.Tensor",
        "bitwise_or.Tensor",
        "bitwise_xor.Tensor",
        "bitwise_and.Scalar",
        "bitwise_or.Scalar",
        "bitwise_xor.Scalar",
        "bitwise_left_shift.Tensor",
        "bitwise_right_shift.Tensor",
        "bitwise_left_shift.Tensor_Scalar",
        "bitwise_right_shift.Tensor_Scalar",
        "prelu",
        "clamp_min",
        "clamp_max",
        "clamp_min.Tensor",
        "clamp_max.Tensor"}},
      {binary_bool,
       {"eq.Tensor", "eq.Scalar", "ne.Tensor", "ne.Scalar", "lt.Tensor", "lt.Scalar", "le.Tensor",
        "le.Scalar", "gt.Tensor", "gt.Scalar", "ge.Tensor", "ge.Scalar", "logical_and",
        "logical_or", "logical_xor"}},
      {binary_float, {"div.Tensor", "div.Scalar", "atan2"}},
      {divide_mode, {"div.Tensor_mode", "div.Scalar_mode"}},
      {clamp, {"clamp", "clamp.Tensor"}},
      {where, {"where.self", "where.ScalarSelf", "where.ScalarOther", "where.Scalar"}},
      {masked_fill, {"masked_fill.Scalar", "masked_fill.Tensor"}},
      {to_copy, {"_to_copy"}},
      {reduce_same, {"amax", "amin", "max", "min", "var.correction"}},
      {reduce_float, {"mean.dim", "mean", "linalg_vector_norm"}},
      {reduce_sum, {"sum.dim_IntList", "sum", "prod.dim_int", "prod"}},
      {reduce_bool, {"any", "any.dim", "any.dims", "all", "all.dim", "all.dims"}},
      {reduce_index, {"argmax", "argmin"}},
      {reduce_with_index, {"max.dim", "min.dim"}},
      {scan_sum, {"cumsum"}},
      {view, {"view", "view_copy", "reshape", "_unsafe_view"}},
      {permute, {"permute", "permute_copy"}},
      {expand, {"expand", "expand_copy"}},
      {unsqueeze, {"unsqueeze", "unsqueeze_copy"}},
      {squeeze_dims, {"squeeze.dims", "squeeze_copy.dims"}},
      {slice, {"slice.Tensor", "slice_copy.Tensor"}},
      {select, {"select.int", "select_copy.int"}},
      {split_sizes, {"split_with_sizes", "split_with_sizes_copy"}},
      {cat, {"cat"}},
      {constant_pad, {"constant_pad_nd"}},
      {repeat, {"repeat"}},
      {mm, {"mm"}},
      {bmm, {"bmm"}},
      {addmm, {"addmm"}},
      {linear, {"linear"}},
      {matmul, {"matmul"}},
      {diagonal, {"diagonal", "diagonal_copy"}},
      {embedding, {"embedding"}},
      {convolution, {"convolution"}},
      {pool, {"avg_pool2d", "max_pool2d"}},
      {pool_with_index, {"max_pool2d_with_indices"}},
      {adaptive_pool, {"_adaptive_avg_pool2d"}},
      {upsample, {"upsample_nearest2d.vec", "upsample_bilinear2d.vec"}},
      {layer_norm, {"native_layer_norm"}},
      {group_norm, {"native_group_norm"}},
      {batch_norm, {"_native_batch_norm_legit_no_training"}},
      {full, {"full", "empty.memory_format"}},
      {scalar_tensor, {"scalar_tensor"}},
      {full_like, {"full_like", "zeros_like", "ones_like"}},
      {arange, {"arange.start_step"}},
      {like_index, {"gather"}},
      {index_select, {"index_select"}},
      {index, {"index.Tensor"}},
      {topk, {"topk"}},
  };
  return table;
}

const std::unordered_map<std::string, Rule>& rules() {
  static const std::unordered_map<std::string, Rule> map = [] {
    std::unordered_map<std::string, Rule> out;
    for (const Family& family : families()) {
      for (const char* name : family.names) out.emplace(std::string("aten::") + name, family.rule);
    }
    out.emplace("dim_order_ops::_clone_dim_order", same);
    out.emplace("dim_order_ops::_to_dim_order_copy", to_copy);
    return out;
  }();
  return map;
}

}  // namespace

std::vector<TensorType> infer_types(const Schema& schema, const std::vector<Argument>& args) {
  const auto found = rules().find(schema.name);
  if (found == rules().end()) throw Failure("no type rule for " + schema.name);
  try {
    return found->second({schema, args});
  } catch (const std::out_of_range&) {
    throw Failure(schema.name + ": an argument has too few dimensions or entries");
  }
}

bool has_type_rule(std::string_view target) { return rules().count(std::string(target)) != 0; }

}  // namespace taper::exir
