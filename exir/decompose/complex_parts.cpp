// Complex tensors from numbers, operators that treat real and imaginary parts alike, comparisons,
// and systems of equations, in terms of real tensors.

#include <cstring>
#include <iterator>

#include "exir/decompose/complex.h"

namespace taper::exir {
namespace {

Value* self(Builder& b) { return b.node().args.at(0).value(); }
bool is_pair(const Argument& arg) { return arg.is_value() && arg.value()->type.pairs; }

void give(Builder& b, Value* re, Value* im) {
  Value* z = pack(b, b.cast(re, b.out_type().dtype), b.cast(im, b.out_type().dtype));
  b.result(z);
  z->type.pairs = true;
}

// The sizes of the result, without the dimension of the parts.
std::vector<Sym> result_sizes(Builder& b) {
  std::vector<Sym> sizes = b.out_type().sizes;
  sizes.pop_back();
  return sizes;
}

struct Number {
  double re = 0, im = 0;
};

// A number in the program; the front end makes a constant of a complex one.
Number number_of(const Argument& arg) {
  if (!arg.is_value()) return {arg.to_double(), 0};
  const Value* value = arg.value();
  if (!value->type.pairs || value->role != ValueRole::kConstant ||
      value->type.dtype != ScalarType::kDouble || value->data.bytes != 2 * sizeof(double)) {
    throw Failure("a complex number that is not a constant");
  }
  Number number;
  std::memcpy(&number.re, value->data.data, sizeof(double));
  std::memcpy(&number.im, value->data.data + sizeof(double), sizeof(double));
  return number;
}

// ---- tensors from numbers ----

void filled(Builder& b, const Number& number) {
  const std::vector<Sym> sizes = result_sizes(b);
  const ScalarType dtype = b.out_type().dtype;
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
Argument part_of(Builder& b, const Argument& arg, bool is_number, bool imaginary) {
  if (arg.is_list()) {
    Argument::List items;
    for (const Argument& item : arg.list()) items.push_back(part_of(b, item, false, imaginary));
    return items;
  }
  if (is_number && (is_pair(arg) || !arg.is_value())) {
    return imaginary ? number_of(arg).im : number_of(arg).re;
  }
  if (!arg.is_value() || arg.value()->kind != ValueKind::kTensor) return arg;
  Value* value = arg.value();
  if (value->type.pairs) return b.select(value, -1, imaginary ? 1 : 0);
  if (!imaginary || !is_floating(value->type.dtype)) return value;
  return b.full(value->type.sizes, 0.0, value->type.dtype);
}

Value* call_on_part(Builder& b, bool imaginary) {
  const Schema& schema = *b.node().schema;
  const int number = schema.find("value");
  std::vector<Argument> args;
  for (size_t i = 0; i < b.node().args.size(); ++i) {
    args.push_back(part_of(b, b.node().args[i], static_cast<int>(i) == number, imaginary));
  }
  return b.rewriter().emit(schema.name, args, {TensorType(b.out_type().dtype, result_sizes(b))})[0];
}

void each_part(Builder& b) { give(b, call_on_part(b, false), call_on_part(b, true)); }

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
  args[0] = b.op("sqrt", {b.add(b.mul(z.re, z.re), b.mul(z.im, z.im))});
  b.result(b.rewriter().emit(b.node().schema->name, args, {b.out_type()})[0]);
}

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
    {"eq.Tensor", equal},
    {"eq.Scalar", equal},
    {"ne.Tensor", unequal},
    {"ne.Scalar", unequal},
    {"isnan", is_nan},
    {"isinf", is_infinite},
    {"isfinite", is_finite},
    {"linalg_solve", solve},
    {"linalg_inv", inverse},
    {"inverse", inverse},
    {"linalg_vector_norm", norm},
};

}  // namespace

const Decompositions& complex_part_rules() {
  static const Decompositions table(std::begin(kRules), std::end(kRules));
  return table;
}

}  // namespace taper::exir
