// Complex tensors from numbers, operators that treat real and imaginary parts alike, comparisons,
// and systems of equations, in terms of real tensors.

#include <cmath>
#include <cstring>
#include <iterator>

#include "exir/decompose/complex.h"

namespace taper::exir {
namespace {

Value* self(Builder& b) { return b.node().args.at(0).value(); }
bool is_pair(const Argument& arg) { return arg.is_value() && arg.value()->type.pairs; }

void give(Builder& b, Value* re, Value* im, size_t i = 0) {
  const ScalarType dtype = b.out_type(i).dtype;
  Value* z = pack(b, b.cast(re, dtype), b.cast(im, dtype));
  b.result(z, i);
  z->type.pairs = true;
}

// The type of a part of result `i`.
TensorType part_type(Builder& b, size_t i) {
  std::vector<Sym> sizes = b.out_type(i).sizes;
  if (sizes.empty()) throw Failure("the result is not complex");
  sizes.pop_back();
  return TensorType(b.out_type(i).dtype, sizes);
}
// The sizes of the result, without the dimension of the parts.
std::vector<Sym> result_sizes(Builder& b) { return part_type(b, 0).sizes; }

struct Number {
  double re = 0, im = 0;
};

// A number in the program; the front end makes a constant of a complex one.
bool is_number(const Argument& arg) {
  if (!arg.is_value()) return !arg.is_none();
  const Value* value = arg.value();
  return value->type.pairs && value->role == ValueRole::kConstant &&
         value->type.dtype == ScalarType::kDouble && value->data.bytes == 2 * sizeof(double);
}
Number number_of(const Argument& arg) {
  if (!is_number(arg)) throw Failure("a complex number that is not a constant");
  if (!arg.is_value()) return {arg.to_double(), 0};
  const Value* value = arg.value();
  Number number;
  std::memcpy(&number.re, value->data.data, sizeof(double));
  std::memcpy(&number.im, value->data.data + sizeof(double), sizeof(double));
  return number;
}

// ---- tensors from numbers ----

// A number for a tensor that is not complex.
Argument real_number(double number, ScalarType dtype) {
  if (is_floating(dtype)) return number;
  if (dtype == ScalarType::kBool) return number != 0;
  if (!(std::fabs(number) < 0x1p63)) throw Failure("a number that no integer is");
  return static_cast<int64_t>(number);
}

// Of a complex tensor, such as zeros_like(z, dtype=bool), the result may be real.
void filled(Builder& b, const Number& number) {
  const ScalarType dtype = b.out_type().dtype;
  if (!b.out_type().pairs) {
    return b.result(b.full(b.out_type().sizes, real_number(number.re, dtype), dtype));
  }
  const std::vector<Sym> sizes = result_sizes(b);
  give(b, b.full(sizes, number.re, dtype), b.full(sizes, number.im, dtype));
}
void full(Builder& b) { filled(b, number_of(b.arg("fill_value"))); }
void fill(Builder& b) { filled(b, number_of(b.arg("value"))); }
void zeros(Builder& b) { filled(b, {}); }
void ones(Builder& b) { filled(b, {1, 0}); }
void fill_with_tensor(Builder& b) {
  const Parts z = parts_of(b, b.in("value"));
  Value* re = b.expand(z.re, result_sizes(b));
  give(b, re, z.im != nullptr ? b.expand(z.im, result_sizes(b)) : b.mul(re, 0.0));
}
void eye(Builder& b) {
  const std::vector<Sym> sizes = result_sizes(b);
  if (sizes.size() != 2) throw Failure("an identity that is not a matrix");
  const ScalarType dtype = b.out_type().dtype;
  give(b, b.eye(sizes[0], sizes[1], dtype), b.full(sizes, 0.0, dtype));
}

// ---- f(re) + i f(im): what moves or adds up numbers ----

// The real or the imaginary part of an argument. Integers and booleans are indices and masks.
Argument part_of(Builder& b, const Argument& arg, bool takes_number, bool imaginary) {
  if (arg.is_list()) {
    Argument::List items;
    for (const Argument& item : arg.list()) items.push_back(part_of(b, item, false, imaginary));
    return items;
  }
  if (takes_number && is_number(arg)) return imaginary ? number_of(arg).im : number_of(arg).re;
  if (!arg.is_value() || arg.value()->kind != ValueKind::kTensor) return arg;
  Value* value = arg.value();
  if (value->type.pairs) return b.select(value, -1, imaginary ? 1 : 0);
  if (!imaginary || !is_floating(value->type.dtype)) return value;
  return b.full(value->type.sizes, 0.0, value->type.dtype);
}

std::vector<Value*> call_on_part(Builder& b, bool imaginary) {
  const Schema& schema = *b.node().schema;
  const int number = schema.find("value");
  std::vector<Argument> args;
  for (size_t i = 0; i < b.node().args.size(); ++i) {
    const Argument& arg = b.node().args[i];
    const bool takes_number = static_cast<int>(i) == number;
    const bool is_scalar = i < schema.args.size() && schema.args[i].type.base == TypeBase::kScalar;
    if (!takes_number && is_scalar && is_pair(arg)) {
      throw Failure("a complex number as `" + schema.args[i].name + "`");
    }
    args.push_back(part_of(b, arg, takes_number, imaginary));
  }
  std::vector<TensorType> types;
  for (size_t i = 0; i < b.node().outputs.size(); ++i) types.push_back(part_type(b, i));
  return b.rewriter().emit(schema.name, args, types);
}

// A choice between tensors or numbers.
void choose(Builder& b) {
  const auto part = [&](bool imaginary) {
    const Argument yes = part_of(b, b.arg("self"), true, imaginary);
    const Argument no = part_of(b, b.arg("other"), true, imaginary);
    return b.where(b.in("condition"), yes, no);
  };
  give(b, part(false), part(true));
}

// ---- comparisons ----

// Whether the real parts and the imaginary ones are equal, or whether either is not.
void compare(Builder& b, const char* op, const char* join) {
  const auto part = [&](const Argument& arg, bool imaginary) -> Argument {
    if (!arg.is_value()) return imaginary ? 0.0 : arg.to_double();
    const Parts parts = parts_of(b, arg.value());
    if (imaginary) return parts.im == nullptr ? Argument(0.0) : Argument(parts.im);
    return parts.re;
  };
  const Argument &x = b.node().args.at(0), &y = b.node().args.at(1);
  const Argument im_x = part(x, true), im_y = part(y, true);
  const bool swap = !im_x.is_value();  // A number stands on the right.
  b.result(b.op(join, {b.binary(op, part(x, false), part(y, false)),
                       b.binary(op, swap ? im_y : im_x, swap ? im_x : im_y)}));
}
void equal(Builder& b) { compare(b, "eq", "logical_and"); }
void unequal(Builder& b) { compare(b, "ne", "logical_or"); }

// Whether a test holds of the real or of the imaginary part, or of both.
void test_parts(Builder& b, const char* op, const char* join) {
  const Parts z = parts_of(b, self(b));
  if (z.im == nullptr) throw Failure("a test of a real tensor that is marked as complex");
  b.result(b.op(join, {b.op(op, {z.re}), b.op(op, {z.im})}));
}
void is_nan(Builder& b) { test_parts(b, "isnan", "logical_or"); }
void is_infinite(Builder& b) { test_parts(b, "isinf", "logical_or"); }
void is_finite(Builder& b) {
  const Parts z = parts_of(b, self(b));
  if (z.im == nullptr) throw Failure("a test of a real tensor that is marked as complex");
  Value* sum = b.add(b.mul(z.re, 0.0), b.mul(z.im, 0.0));  // NaN unless both are finite.
  b.result(b.op("eq.Scalar", {sum, 0.0}));
}

// Operators that ask whether numbers are zero: the same of truths.
void of_truths(Builder& b) {
  std::vector<Argument> args = b.node().args;
  for (Argument& arg : args) {
    if (is_pair(arg)) arg = is_nonzero(b, arg.value());
  }
  std::vector<TensorType> types;
  for (const Value* out : b.node().outputs) types.push_back(out->type);
  const std::vector<Value*> results = b.rewriter().emit(b.node().schema->name, args, types);
  for (size_t i = 0; i < results.size(); ++i) b.result(results[i], i);
}

// ---- how far numbers are apart ----

// The variance is the sum of those of the parts; the deviation is its square root. The mean, if it
// is asked for, is taken of each part.
void spread(Builder& b) {
  constexpr std::string_view kDeviation = "aten::std", kVariance = "aten::var";
  std::string target = b.node().schema->name;
  const bool is_deviation = target.starts_with(kDeviation);
  if (is_deviation) target.replace(0, kDeviation.size(), kVariance);
  std::vector<TensorType> types = {b.out_type()};
  const bool has_mean = b.node().outputs.size() > 1;
  if (has_mean) types.push_back(part_type(b, 1));
  const auto of_part = [&](Value* part) {
    std::vector<Argument> args = b.node().args;
    args[0] = part;
    return b.rewriter().emit(target, args, types);
  };
  const Parts z = parts_of(b, self(b));
  if (z.im == nullptr) throw Failure("the spread of real numbers has no complex mean");
  const std::vector<Value*> re = of_part(z.re), im = of_part(z.im);
  Value* sum = b.add(re[0], im[0]);
  b.result(is_deviation ? b.op("sqrt", {sum}) : sum);
  if (has_mean) give(b, re[1], im[1], 1);
}

// ---- linear algebra ----

Parts matrix(Builder& b, std::string_view name) {
  Parts z = parts_of(b, b.in(name));
  if (z.im == nullptr) z.im = b.full(z.re->type.sizes, 0.0, z.re->type.dtype);
  return z;
}

// The real matrix that does to [re; im] what z does to a complex vector.
Value* as_real(Builder& b, const Parts& z) {
  return b.cat({b.cat({z.re, b.op("neg", {z.im})}, -1), b.cat({z.im, z.re}, -1)}, -2);
}

// Halves `x` along `dim`: the real and the imaginary part.
void give_halves(Builder& b, Value* x, int64_t dim) {
  const Sym size = dim_of(x, dim);
  const Sym half = floor_div(size, Sym(2));
  give(b, b.slice(x, dim, Sym(0), half), b.slice(x, dim, half, size));
}

void solve(Builder& b) {
  if (b.knows("left") && !b.arg("left").to_bool()) throw Failure("a system with X on the left");
  const Parts a = matrix(b, "A"), y = matrix(b, "B");
  const bool is_vector = y.re->type.rank() == 1 || y.re->type.rank() + 1 == a.re->type.rank();
  const int64_t dim = is_vector ? -1 : -2;
  Value* right = b.cat({y.re, y.im}, dim);
  Value* x = b.rewriter().emit("aten::linalg_solve", {as_real(b, a), right}, {right->type})[0];
  give_halves(b, x, dim);
}

void inverse(Builder& b) {
  const Parts a = matrix(b, b.knows("A") ? "A" : "self");
  Value* whole = as_real(b, a);
  Value* x = b.rewriter().emit("aten::linalg_inv", {whole}, {whole->type})[0];
  give_halves(b, b.slice(x, -1, Sym(0), dim_of(a.re, -1)), -2);
}

// A norm depends on the sizes of the numbers alone.
void norm(Builder& b) {
  const Parts z = parts_of(b, self(b));
  if (z.im == nullptr) throw Failure("the norm of a real tensor is not complex");
  std::vector<Argument> args = b.node().args;
  args[0] = b.op("hypot", {z.re, z.im});
  b.result(b.rewriter().emit(b.node().schema->name, args, {b.out_type()})[0]);
}

}  // namespace

Value* is_nonzero(Builder& b, Value* x) {
  const Parts z = parts_of(b, x);
  Value* re = b.op("ne.Scalar", {z.re, 0.0});
  return z.im == nullptr ? re : b.op("logical_or", {re, b.op("ne.Scalar", {z.im, 0.0})});
}

void each_part(Builder& b) {
  const std::vector<Value*> re = call_on_part(b, false), im = call_on_part(b, true);
  for (size_t i = 0; i < re.size(); ++i) give(b, re[i], im[i], i);
}

namespace {

constexpr Decomposition kRules[] = {
    {"full", full},
    {"full_like", full},
    {"new_full", full},
    {"fill.Scalar", fill},
    {"fill.Tensor", fill_with_tensor},
    {"zeros", zeros},
    {"zeros_like", zeros},
    {"new_zeros", zeros},
    {"zero", zeros},
    {"empty.memory_format", zeros},
    {"empty_like", zeros},
    {"new_empty", zeros},
    {"ones", ones},
    {"ones_like", ones},
    {"new_ones", ones},
    {"eye", eye},
    {"eye.m", eye},
    {"slice_scatter", each_part},
    {"select_scatter", each_part},
    {"diagonal_scatter", each_part},
    {"index_put", each_part},
    {"masked_fill.Scalar", each_part},
    {"masked_fill.Tensor", each_part},
    {"gather", each_part},
    {"scatter.src", each_part},
    {"scatter.value", each_part},
    {"index_add", each_part},
    {"index_copy", each_part},
    {"index_fill.int_Scalar", each_part},
    {"take_along_dim", each_part},
    {"tril", each_part},
    {"triu", each_part},
    {"diagonal", each_part},
    {"diag_embed", each_part},
    {"diag", each_part},
    {"trace", each_part},
    {"cumsum", each_part},
    {"movedim.intlist", each_part},
    {"movedim.int", each_part},
    {"rot90", each_part},
    {"unfold", each_part},
    {"repeat_interleave.self_int", each_part},
    {"masked_select", each_part},
    {"pad", each_part},
    {"constant_pad_nd", each_part},
    {"reflection_pad1d", each_part},
    {"reflection_pad2d", each_part},
    {"reflection_pad3d", each_part},
    {"replication_pad1d", each_part},
    {"replication_pad2d", each_part},
    {"replication_pad3d", each_part},
    {"take", each_part},
    {"put", each_part},
    {"scatter_add", each_part},
    {"masked_scatter", each_part},
    {"im2col", each_part},
    {"col2im", each_part},
    {"meshgrid", each_part},
    {"meshgrid.indexing", each_part},
    {"broadcast_tensors", each_part},
    {"vstack", each_part},
    {"hstack", each_part},
    {"dstack", each_part},
    {"column_stack", each_part},
    {"atleast_1d", each_part},
    {"atleast_2d", each_part},
    {"atleast_3d", each_part},
    {"atleast_1d.Sequence", each_part},
    {"atleast_2d.Sequence", each_part},
    {"atleast_3d.Sequence", each_part},
    {"vsplit.int", each_part},
    {"vsplit.array", each_part},
    {"hsplit.int", each_part},
    {"hsplit.array", each_part},
    {"dsplit.int", each_part},
    {"dsplit.array", each_part},
    {"tensor_split.sections", each_part},
    {"tensor_split.indices", each_part},
    {"unsafe_chunk", each_part},
    {"block_diag", each_part},
    {"diff", each_part},
    {"ravel", each_part},
    {"sum_to_size", each_part},
    {"tile", each_part},
    {"reshape_as", each_part},
    {"view_copy", each_part},
    {"t_copy", each_part},
    {"permute_copy", each_part},
    {"transpose_copy.int", each_part},
    {"squeeze_copy", each_part},
    {"squeeze_copy.dim", each_part},
    {"squeeze_copy.dims", each_part},
    {"unsqueeze_copy", each_part},
    {"expand_copy", each_part},
    {"diagonal_copy", each_part},
    {"unfold_copy", each_part},
    {"narrow_copy", each_part},
    {"select_copy.int", each_part},
    {"slice_copy.Tensor", each_part},
    {"split_copy.Tensor", each_part},
    {"split_with_sizes_copy", each_part},
    {"unbind_copy.int", each_part},
    {"as_strided", each_part},
    {"as_strided_copy", each_part},
    {"as_strided_scatter", each_part},
    {"fft_fftshift", each_part},
    {"fft_ifftshift", each_part},
    {"pixel_shuffle", each_part},
    {"pixel_unshuffle", each_part},
    {"channel_shuffle", each_part},
    {"flipud", each_part},
    {"fliplr", each_part},
    {"cartesian_prod", each_part},
    {"combinations", each_part},
    {"trapezoid.dx", each_part},
    {"cumulative_trapezoid.dx", each_part},
    {"repeat_interleave.self_Tensor", each_part},
    {"index_fill.int_Tensor", each_part},
    {"where.ScalarSelf", choose},
    {"where.ScalarOther", choose},
    {"eq.Tensor", equal},
    {"eq.Scalar", equal},
    {"ne.Tensor", unequal},
    {"ne.Scalar", unequal},
    {"isnan", is_nan},
    {"isinf", is_infinite},
    {"isfinite", is_finite},
    {"any", of_truths},
    {"any.dim", of_truths},
    {"any.dims", of_truths},
    {"all", of_truths},
    {"all.dim", of_truths},
    {"all.dims", of_truths},
    {"logical_and", of_truths},
    {"logical_or", of_truths},
    {"logical_xor", of_truths},
    {"logical_not", of_truths},
    {"count_nonzero", of_truths},
    {"count_nonzero.dim_IntList", of_truths},
    {"nonzero", of_truths},
    {"nonzero_numpy", of_truths},
    {"nonzero_static", of_truths},
    {"argwhere", of_truths},
    {"var", spread},
    {"var.dim", spread},
    {"var.correction", spread},
    {"std", spread},
    {"std.dim", spread},
    {"std.correction", spread},
    {"var_mean", spread},
    {"var_mean.dim", spread},
    {"var_mean.correction", spread},
    {"std_mean", spread},
    {"std_mean.dim", spread},
    {"std_mean.correction", spread},
    {"linalg_solve", solve},
    {"linalg_inv", inverse},
    {"inverse", inverse},
    {"linalg_vector_norm", norm},
    {"norm.Scalar", norm},
    {"norm.ScalarOpt_dim", norm},
};

}  // namespace

const Decompositions& complex_part_rules() {
  static const Decompositions table(std::begin(kRules), std::end(kRules));
  return table;
}

}  // namespace taper::exir
