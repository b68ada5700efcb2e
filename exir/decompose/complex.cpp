// Arithmetic, functions and shape operators of complex tensors, in terms of real ones.

#include "exir/decompose/complex.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_map>

#include "exir/ops/infer.h"

namespace taper::exir {

Parts parts_of(Builder& b, Value* x) {
  if (!x->type.pairs) return {x, nullptr};
  return {b.select(x, -1, 0), b.select(x, -1, 1)};
}

Value* pack(Builder& b, Value* re, Value* im) {
  const std::vector<Sym> sizes = broadcast(re->type.sizes, im->type.sizes);
  Value* z =
      b.cat({b.unsqueeze(b.expand(re, sizes), -1), b.unsqueeze(b.expand(im, sizes), -1)}, -1);
  z->type.pairs = true;
  return z;
}

namespace {

using Sizes = std::vector<Sym>;

// parts_of() a tensor that must be complex. A malformed file may use a real one in its place.
Parts complex_parts(Builder& b, Value* x) {
  if (!x->type.pairs) throw Failure("%" + x->name + " is not a complex tensor");
  return parts_of(b, x);
}

Value* self(Builder& b) { return b.node().args.at(0).value(); }
bool is_tensor(const Argument& arg) {
  return arg.is_value() && arg.value()->kind == ValueKind::kTensor;
}
bool is_complex(const Argument& arg) { return is_tensor(arg) && arg.value()->type.pairs; }
int64_t complex_rank(const Value* x) { return static_cast<int64_t>(x->type.rank()) - 1; }

// Replaces result `i` by `value`, marked as complex if the result is.
void give(Builder& b, Value* value, size_t i = 0) {
  const bool pairs = b.out_type(i).pairs;
  value = b.cast(value, b.out_type(i).dtype);  // A cast in b.result() would not keep `pairs`.
  // The value may have other uses, perhaps as a real tensor: its own type must not change.
  if (value->type.pairs != pairs) value = b.op("alias", {value});
  value->type.pairs = pairs;
  b.result(value, i);
}

// ---- parts ----

void same_bytes(Builder& b) { give(b, b.op("alias", {self(b)})); }
bool is_truth(Builder& b) { return b.out_type().dtype == ScalarType::kBool; }
// To complex numbers: adds an imaginary part of zero. To real ones: drops the imaginary part, but
// asks both for a truth.
void convert(Builder& b) {
  Value* x = self(b);
  const bool to_pairs = b.out_type().pairs;
  if (x->type.pairs == to_pairs) return same_bytes(b);
  if (!to_pairs) return give(b, is_truth(b) ? is_nonzero(b, x) : complex_parts(b, x).re);
  Value* re = b.cast(x, b.out_type().dtype);
  give(b, pack(b, re, b.full(re->type.sizes, 0.0, re->type.dtype)));
}
void real(Builder& b) { give(b, parts_of(b, self(b)).re); }
void imag(Builder& b) { give(b, complex_parts(b, self(b)).im); }
void conj(Builder& b) {
  const Parts z = complex_parts(b, self(b));
  give(b, pack(b, z.re, b.op("neg", {z.im})));
}
Value* square_size(Builder& b, const Parts& z) {
  return b.add(b.mul(z.re, z.re), b.mul(z.im, z.im));
}
Value* size_of(Builder& b, const Parts& z) { return b.op("hypot", {z.re, z.im}); }
void absolute(Builder& b) { give(b, size_of(b, complex_parts(b, self(b)))); }
void angle(Builder& b) {
  const Parts z = complex_parts(b, self(b));
  give(b, b.op("atan2", {z.im, z.re}));
}
void from_parts(Builder& b) { give(b, pack(b, b.in("real"), b.in("imag"))); }
void polar(Builder& b) {
  Value* size = b.in("abs");
  Value* angle = b.in("angle");
  Value* re = b.mul(size, b.op("cos", {angle}));
  give(b, pack(b, re, b.mul(size, b.op("sin", {angle}))));
}
void exponential(Builder& b) {
  const Parts z = complex_parts(b, self(b));
  Value* size = b.op("exp", {z.re});
  Value* re = b.mul(size, b.op("cos", {z.im}));
  give(b, pack(b, re, b.mul(size, b.op("sin", {z.im}))));
}

// ---- functions ----

void logarithm(Builder& b) {
  const Parts z = complex_parts(b, self(b));
  give(b, pack(b, b.op("log", {size_of(b, z)}), b.op("atan2", {z.im, z.re})));
}
// The square root. Its larger part follows from |z| + |re|, where nothing cancels; the smaller one
// is im / 2 divided by the larger.
Parts root(Builder& b, const Parts& z) {
  Value* sum = b.add(size_of(b, z), b.op("abs", {z.re}));
  Value* large = b.op("sqrt", {b.mul(sum, 0.5)});
  Value* nothing = b.op("eq.Scalar", {large, 0.0});
  Value* half = b.mul(b.op("abs", {z.im}), 0.5);
  Value* small = b.where(nothing, 0.0, b.div(half, large));
  Value* right = b.op("ge.Scalar", {z.re, 0.0});
  Value* im = b.op("where.self", {right, small, large});
  Value* below = b.op("signbit", {z.im});
  return {b.op("where.self", {right, large, small}),
          b.op("where.self", {below, b.op("neg", {im}), im})};
}
void square_root(Builder& b) {
  const Parts z = root(b, complex_parts(b, self(b)));
  give(b, pack(b, z.re, z.im));
}
// f(re) g(im) + i sign h(re) k(im): the form of sine and cosine and of their hyperbolic twins.
void wave(Builder& b, const char* f, const char* g, const char* h, const char* k, double sign) {
  const Parts z = complex_parts(b, self(b));
  Value* im = b.mul(b.op(h, {z.re}), b.op(k, {z.im}));
  give(b, pack(b, b.mul(b.op(f, {z.re}), b.op(g, {z.im})), sign < 0 ? b.op("neg", {im}) : im));
}
void sine(Builder& b) { wave(b, "sin", "cosh", "cos", "sinh", 1); }
void cosine(Builder& b) { wave(b, "cos", "cosh", "sin", "sinh", -1); }
void hyperbolic_sine(Builder& b) { wave(b, "sinh", "cos", "cosh", "sin", 1); }
void hyperbolic_cosine(Builder& b) { wave(b, "cosh", "cos", "sinh", "sin", 1); }
void hyperbolic_tangent(Builder& b) {
  const Parts z = complex_parts(b, self(b));
  Value* x = b.mul(b.op("clamp", {z.re, -20.0, 20.0}), 2.0);  // Beyond that, tanh is 1.
  Value* y = b.mul(z.im, 2.0);
  Value* by = b.add(b.op("cosh", {x}), b.op("cos", {y}));
  give(b, pack(b, b.div(b.op("sinh", {x}), by), b.div(b.op("sin", {y}), by)));
}
void sign(Builder& b) {
  const Parts z = complex_parts(b, self(b));
  Value* size = size_of(b, z);
  Value* by = b.where(b.op("eq.Scalar", {size, 0.0}), 1.0, size);
  give(b, pack(b, b.div(z.re, by), b.div(z.im, by)));
}

// ---- arithmetic ----

const Argument& left(Builder& b) { return b.node().args.at(0); }
const Argument& right(Builder& b) { return b.node().args.at(1); }

// A real operand of an operation on pairs: a tensor broadcasts over the dimension of the parts.
Argument beside_pairs(Builder& b, const Argument& x) {
  return is_tensor(x) ? Argument(b.unsqueeze(x.value(), -1)) : x;
}

Value* product(Builder& b, const Parts& x, const Parts& y) {
  return pack(b, b.sub(b.mul(x.re, y.re), b.mul(x.im, y.im)),
              b.add(b.mul(x.re, y.im), b.mul(x.im, y.re)));
}
void mul(Builder& b) {
  const Argument &x = left(b), &y = right(b);
  if (is_complex(x) && is_complex(y)) {
    return give(b, product(b, complex_parts(b, x.value()), complex_parts(b, y.value())));
  }
  const bool first = is_complex(x);
  give(b, b.mul(first ? x : y, beside_pairs(b, first ? y : x)));
}

// x / y = x conj(y) / |y|^2
void div(Builder& b) {
  const Argument &x = left(b), &y = right(b);
  if (!is_complex(y)) return give(b, b.div(x, beside_pairs(b, y)));
  const Parts d = complex_parts(b, y.value());
  const Parts conjugate = {d.re, b.op("neg", {d.im})};
  Value* top = is_complex(x) ? product(b, complex_parts(b, x.value()), conjugate)
                             : b.mul(pack(b, conjugate.re, conjugate.im), beside_pairs(b, x));
  give(b, b.div(top, b.unsqueeze(square_size(b, d), -1)));
}

void reciprocal(Builder& b) {
  const Parts z = complex_parts(b, self(b));
  Value* conjugate = pack(b, z.re, b.op("neg", {z.im}));
  give(b, b.div(conjugate, b.unsqueeze(square_size(b, z), -1)));
}

// x + alpha y or x - alpha y. A real operand changes the real part only.
void sum_with(Builder& b, const Argument& x, Argument y, bool minus) {
  const bool both = is_complex(x) && is_complex(y);
  const Argument& alpha = b.arg("alpha");
  const bool times = !(alpha.is_int() && alpha.to_int() == 1);
  if (times && !is_tensor(y)) throw Failure("adding a multiple of a number to complex ones");
  if (times) {
    Value* scaled = b.mul(y, alpha);
    scaled->type.pairs = is_complex(y);
    y = scaled;
  }
  const auto combine = [&](const Argument& p, const Argument& q) {
    return minus ? b.sub(p, q) : b.add(p, q);
  };
  if (both) return give(b, combine(x, y));
  if (is_complex(x)) {
    const Parts z = complex_parts(b, x.value());
    return give(b, pack(b, combine(z.re, y), z.im));
  }
  const Parts z = complex_parts(b, y.value());
  give(b, pack(b, combine(x, z.re), minus ? b.op("neg", {z.im}) : z.im));
}
void add(Builder& b) { sum_with(b, left(b), right(b), false); }
void sub(Builder& b) { sum_with(b, left(b), right(b), true); }
void reversed_sub(Builder& b) { sum_with(b, right(b), left(b), true); }
void neg(Builder& b) { give(b, b.op("neg", {self(b)})); }

void where(Builder& b) {
  give(b, b.op("where.self", {b.unsqueeze(b.in("condition"), -1), b.in("self"), b.in("other")}));
}

// ---- shapes: the dimension of the parts stays last ----

// The program states the sizes.
void view(Builder& b) { give(b, b.view(self(b), b.out_type().sizes)); }
// A real tensor may be expanded to where complex numbers are written.
void give_expanded(Builder& b, Value* x) {
  if (!b.out_type().pairs) return give(b, b.expand(parts_of(b, x).re, b.out_type().sizes));
  if (x->type.pairs) return give(b, b.expand(x, b.out_type().sizes));
  std::vector<Sym> sizes = b.out_type().sizes;
  sizes.pop_back();
  Value* re = b.expand(x, sizes);
  give(b, pack(b, re, b.full(sizes, 0.0, re->type.dtype)));
}
void expand(Builder& b) { give_expanded(b, self(b)); }
// What copy_() leaves behind: of the destination only type and sizes count.
void copy(Builder& b) { give_expanded(b, b.in("src")); }

void transpose(Builder& b) {
  const int64_t rank = complex_rank(self(b));
  give(b, b.transpose(self(b), wrap_dim(b.node().args.at(1).to_int(), rank),
                      wrap_dim(b.node().args.at(2).to_int(), rank)));
}
void transpose_matrix(Builder& b) {
  const int64_t rank = complex_rank(self(b));
  give(b, rank < 2 ? self(b) : b.transpose(self(b), rank - 2, rank - 1));
}
void adjoint(Builder& b) {
  const Parts z = complex_parts(b, self(b));
  Value* re = b.transpose(z.re, -2, -1);
  give(b, pack(b, re, b.op("neg", {b.transpose(z.im, -2, -1)})));
}
void permute(Builder& b) {
  const int64_t rank = complex_rank(self(b));
  std::vector<int64_t> dims = to_ints(b.arg("dims"));
  for (int64_t& d : dims) d = wrap_dim(d, rank);
  dims.push_back(rank);
  give(b, b.permute(self(b), dims));
}

// Emits the same call with dimensions counted from the front, since the last one holds the parts.
void along_dims(Builder& b) {
  const Schema& schema = *b.node().schema;
  std::vector<Argument> args = b.node().args;
  const Argument::List tensors = args.at(0).is_list() ? args[0].list() : Argument::List{args[0]};
  int64_t rank = 0;  // An empty vector may stand beside tensors of higher rank.
  for (const Argument& x : tensors) rank = std::max(rank, complex_rank(x.value()));
  if (schema.name == "aten::stack") ++rank;  // It counts the dimension that it adds.
  if (rank == 0) return each_part(b);
  for (const char* name : {"dim", "dims"}) {
    const int at = schema.find(name);
    if (at < 0) continue;
    Argument& dims = args[static_cast<size_t>(at)];
    if (dims.is_int()) dims = wrap_dim(dims.to_int(), rank);
    if (!dims.is_list()) continue;
    std::vector<int64_t> all = to_ints(dims);
    for (int64_t& d : all) d = wrap_dim(d, rank);
    dims = int_list(all);
  }
  std::vector<TensorType> types;
  for (const Value* out : b.node().outputs) types.push_back(out->type);
  const std::vector<Value*> results = b.rewriter().emit(schema.name, args, types);
  for (size_t i = 0; i < results.size(); ++i) give(b, results[i], i);
}

// Without dimensions the numbers count as one row.
void roll(Builder& b) {
  if (b.arg("dims").list().empty()) return each_part(b);
  along_dims(b);
}

// The length of a dimension, which some number of the graph holds.
void length(Builder& b) {
  Value* old = b.node().outputs.at(0);
  const Argument held = b.size(old->sym);
  if (!held.is_value()) throw Failure("the size " + old->sym.text() + " is no symbol");
  b.rewriter().replace(old, held.value());
}

void repeat(Builder& b) {
  Argument::List times = b.arg("repeats").list();
  times.push_back(1);
  give(b, b.op("repeat", {self(b), times}));
}
// The program states how many elements a mask chooses.
void index(Builder& b) {
  const TensorType type(b.out_type().dtype, b.out_type().sizes);
  const std::vector<Argument> args = {self(b), b.arg("indices")};
  give(b, b.rewriter().emit("aten::index.Tensor", args, {type})[0]);
}

// Reduces over the call's dimensions, or over all but that of the parts if it names none.
void reduce(Builder& b, const char* op) {
  const int64_t rank = complex_rank(self(b));
  if (rank == 0) return give(b, self(b));
  std::vector<int64_t> dims;
  if (b.node().schema->find("dim") >= 0 && b.has("dim")) dims = to_ints(b.arg("dim"));
  const bool all = dims.empty();
  for (int64_t& d : dims) d = wrap_dim(d, rank);
  for (int64_t d = 0; all && d < rank; ++d) dims.push_back(d);
  const bool keep = b.node().schema->find("keepdim") >= 0 && b.arg("keepdim").to_bool();
  give(b, b.op(op, {self(b), int_list(dims), keep}));
}
void sum(Builder& b) { reduce(b, "sum.dim_IntList"); }
void mean(Builder& b) { reduce(b, "mean.dim"); }

void reversed_dims(Builder& b) {
  std::vector<int64_t> dims;
  for (int64_t d = complex_rank(self(b)); d-- > 0;) dims.push_back(d);
  dims.push_back(complex_rank(self(b)));
  give(b, b.permute(self(b), dims));
}

// Small positive integer powers are products; others are |z|^n at n times the angle.
void power(Builder& b) {
  constexpr double kMostProducts = 8;
  const Parts z = complex_parts(b, self(b));
  const double n = b.knows("exponent") ? b.arg("exponent").to_double() : 2;
  if (n == std::floor(n) && n > 0 && n <= kMostProducts) {
    Value* y = self(b);
    for (int k = 1; k < static_cast<int>(n); ++k) y = product(b, complex_parts(b, y), z);
    return give(b, y);
  }
  if (n == 0) return give(b, pack(b, b.add(b.mul(z.re, 0.0), 1.0), b.mul(z.im, 0.0)));
  Value* size = b.op("pow.Tensor_Scalar", {size_of(b, z), n});
  Value* angle = b.mul(b.op("atan2", {z.im, z.re}), n);
  Value* re = b.mul(size, b.op("cos", {angle}));
  give(b, pack(b, re, b.mul(size, b.op("sin", {angle}))));
}

void number(Builder& b) {
  const Argument& number = b.node().args.at(0);
  if (is_complex(number)) return give(b, number.value());
  const ScalarType dtype = b.out_type().dtype;
  give(b, pack(b, b.op("scalar_tensor", {number, dtype}), b.full({}, 0.0, dtype)));
}

constexpr Decomposition kRules[] = {
    {"view_as_real", same_bytes},
    {"view_as_complex", same_bytes},
    {"view_as_real_copy", same_bytes},
    {"view_as_complex_copy", same_bytes},
    {"sym_size.int", length},
    {"real", real},
    {"imag", imag},
    {"conj", conj},
    {"_conj", conj},
    {"conj_physical", conj},
    {"_conj_physical", conj},
    {"abs", absolute},
    {"angle", angle},
    {"complex", from_parts},
    {"polar", polar},
    {"exp", exponential},
    {"log", logarithm},
    {"sqrt", square_root},
    {"sin", sine},
    {"cos", cosine},
    {"sinh", hyperbolic_sine},
    {"cosh", hyperbolic_cosine},
    {"tanh", hyperbolic_tangent},
    {"sgn", sign},
    {"square", power},
    {"pow.Tensor_Scalar", power},
    {"scalar_tensor", number},
    {"numpy_T", reversed_dims},
    {"mul.Tensor", mul},
    {"mul.Scalar", mul},
    {"div.Tensor", div},
    {"div.Scalar", div},
    {"add.Tensor", add},
    {"add.Scalar", add},
    {"sub.Tensor", sub},
    {"sub.Scalar", sub},
    {"reciprocal", reciprocal},
    {"neg", neg},
    {"where.self", where},
    {"sum", sum},
    {"sum.dim_IntList", sum},
    {"mean", mean},
    {"mean.dim", mean},
    {"alias", same_bytes},
    {"clone", same_bytes},
    {"contiguous", same_bytes},
    {"detach", same_bytes},
    {"lift_fresh_copy", same_bytes},
    {"resolve_conj", same_bytes},
    {"resolve_neg", same_bytes},
    {"to.dtype", convert},
    {"to.device", convert},
    {"to.dtype_layout", convert},
    {"_to_copy", convert},
    {"view", view},
    {"reshape", view},
    {"_unsafe_view", view},
    {"view_as", view},
    {"flatten.using_ints", view},
    {"unflatten.int", view},
    {"squeeze", view},
    {"squeeze.dim", view},
    {"squeeze.dims", view},
    {"unsqueeze", view},
    {"expand", expand},
    {"expand_as", expand},
    {"broadcast_to", expand},
    {"copy", copy},
    {"transpose.int", transpose},
    {"alias_copy", same_bytes},
    {"detach_copy", same_bytes},
    {"positive", same_bytes},
    {"t", transpose_matrix},
    {"mT", transpose_matrix},
    {"mH", adjoint},
    {"adjoint", adjoint},
    {"rsub.Scalar", reversed_sub},
    {"rsub.Tensor", reversed_sub},
    {"permute", permute},
    {"slice.Tensor", along_dims},
    {"select.int", along_dims},
    {"narrow", along_dims},
    {"index_select", along_dims},
    {"unbind.int", along_dims},
    {"split.Tensor", along_dims},
    {"split_with_sizes", along_dims},
    {"chunk", along_dims},
    {"cat", along_dims},
    {"concat", along_dims},
    {"stack", along_dims},
    {"roll", roll},
    {"flip", along_dims},
    {"repeat", repeat},
    {"index.Tensor", index},
};

}  // namespace

const Decompositions& complex_rules() {
  static const Decompositions table(std::begin(kRules), std::end(kRules));
  return table;
}

const Decomposition* find_complex_rule(std::string_view target) {
  static const std::unordered_map<std::string, const Decomposition*> map = [] {
    std::unordered_map<std::string, const Decomposition*> out;
    for (const Decompositions* table :
         {&complex_rules(), &complex_part_rules(), &complex_product_rules(),
          &complex_function_rules(), &fourier_rules()}) {
      for (const Decomposition& entry : *table) {
        out.emplace(std::string("aten::") + entry.target, &entry);
      }
    }
    return out;
  }();
  auto found = map.find(std::string(target));
  if (found == map.end()) found = map.find(main_name(target));
  return found == map.end() ? nullptr : found->second;
}

}  // namespace taper::exir
