// Products of complex tensors: operators that are linear in each of two operands, and sums of them.
//
//     f(a + ib, c + id) = f(a, c) - f(b, d) + i (f(a, d) + f(b, c))

#include <iterator>

#include "exir/decompose/complex.h"

namespace taper::exir {
namespace {

using Sizes = std::vector<Sym>;

Sizes result_sizes(Builder& b) {
  Sizes sizes = b.out_type().sizes;
  if (!b.out_type().pairs) throw Failure("a product of complex tensors that is not complex");
  sizes.pop_back();
  return sizes;
}

void give(Builder& b, Parts z) {
  if (z.im == nullptr) z.im = b.mul(z.re, 0.0);
  const ScalarType dtype = b.out_type().dtype;
  Value* whole = pack(b, b.cast(z.re, dtype), b.cast(z.im, dtype));
  b.result(whole);
  whole->type.pairs = true;
}

// One or both operands may be complex.
template <typename Times>
Parts product_of(Builder& b, const Parts& x, const Parts& y, const Times& times) {
  Parts z = {times(x.re, y.re), nullptr};
  if (x.im != nullptr && y.im != nullptr) z.re = b.sub(z.re, times(x.im, y.im));
  if (y.im != nullptr) z.im = times(x.re, y.im);
  if (x.im == nullptr) return z;
  Value* im = times(x.im, y.re);
  z.im = z.im == nullptr ? im : b.add(z.im, im);
  return z;
}

void add_parts(Builder& b, Parts& z, const Parts& more) {
  z.re = b.add(z.re, more.re);
  if (more.im != nullptr) z.im = z.im == nullptr ? more.im : b.add(z.im, more.im);
}

Parts conjugate(Builder& b, const Parts& z) {
  return {z.re, z.im == nullptr ? nullptr : b.op("neg", {z.im})};
}

// ---- calls whose first two arguments are the operands ----

// The call itself, on parts; without the bias of a convolution, which is not multiplied.
Parts call_on_parts(Builder& b, const Parts& x, const Parts& y) {
  const Schema& schema = *b.node().schema;
  const TensorType type(b.out_type().dtype, result_sizes(b));
  return product_of(b, x, y, [&](Value* u, Value* v) {
    std::vector<Argument> args = b.node().args;
    args.at(0) = u;
    args.at(1) = v;
    if (const int bias = schema.find("bias"); bias >= 0) {
      args.at(static_cast<size_t>(bias)) = Argument();
    }
    return b.rewriter().emit(schema.name, args, {type})[0];
  });
}
Parts operand(Builder& b, size_t i) { return parts_of(b, b.node().args.at(i).value()); }

void product(Builder& b) { give(b, call_on_parts(b, operand(b, 0), operand(b, 1))); }
void product_with_conjugate(Builder& b) {
  give(b, call_on_parts(b, conjugate(b, operand(b, 0)), operand(b, 1)));
}

void linear(Builder& b) {
  Parts z = call_on_parts(b, operand(b, 0), operand(b, 1));
  if (b.has("bias")) add_parts(b, z, parts_of(b, b.in("bias")));
  give(b, z);
}

// The bias, one number per channel, stands beside the dimensions that windows move along.
void convolution(Builder& b) {
  Parts z = call_on_parts(b, operand(b, 0), operand(b, 1));
  if (b.has("bias")) {
    Sizes line(b.in("weight")->type.rank() - (b.in("weight")->type.pairs ? 2 : 1), Sym(1));
    Parts bias = parts_of(b, b.in("bias"));
    line.at(0) = bias.re->type.numel();
    bias.re = b.view(bias.re, line);
    if (bias.im != nullptr) bias.im = b.view(bias.im, line);
    add_parts(b, z, bias);
  }
  give(b, z);
}

// ---- beta self + alpha (x y) ----

template <typename Times>
void add_product(Builder& b, const Times& times) {
  const auto scaled = [&](Parts z, const char* factor) {
    const double by = b.arg(factor).to_double();
    if (by == 1) return z;
    z.re = b.mul(z.re, by);
    if (z.im != nullptr) z.im = b.mul(z.im, by);
    return z;
  };
  Parts z = scaled(product_of(b, operand(b, 1), operand(b, 2), times), "alpha");
  if (b.arg("beta").to_double() != 0) add_parts(b, z, scaled(operand(b, 0), "beta"));
  const Sizes sizes = result_sizes(b);
  z.re = b.expand(z.re, sizes);
  if (z.im != nullptr) z.im = b.expand(z.im, sizes);
  give(b, z);
}
void add_matrices(Builder& b) {
  add_product(b, [&](Value* x, Value* y) { return b.op("matmul", {x, y}); });
}
void add_sum_of_matrices(Builder& b) {
  add_product(b, [&](Value* x, Value* y) { return b.sum(b.op("matmul", {x, y}), {0}); });
}
void add_outer(Builder& b) {
  add_product(b, [&](Value* x, Value* y) { return b.mul(b.unsqueeze(x, 1), b.unsqueeze(y, 0)); });
}

// ---- any number of operands ----

// Emits one real einsum for each choice of the real or the imaginary part of every complex operand.
// A choice with n imaginary parts contributes with the factor i^n.
void einsum(Builder& b) {
  constexpr size_t kMostOperands = 4;
  std::vector<Parts> operands;
  for (const Argument& item : b.arg("tensors").list()) {
    operands.push_back(parts_of(b, item.value()));
  }
  if (operands.size() > kMostOperands) throw Failure("einsum of so many complex tensors");
  const Sizes sizes = result_sizes(b);
  Value* sums[2] = {nullptr, nullptr};
  for (size_t choice = 0; choice < size_t{1} << operands.size(); ++choice) {
    Argument::List terms;
    size_t imaginary_parts = 0;
    for (size_t i = 0; i < operands.size(); ++i) {
      const bool imaginary = (choice >> i & 1) != 0;
      imaginary_parts += imaginary ? 1 : 0;
      Value* part = imaginary ? operands[i].im : operands[i].re;
      if (part != nullptr) terms.push_back(part);
    }
    if (terms.size() < operands.size()) continue;
    const TensorType type(terms[0].value()->type.dtype, sizes);
    Value* term =
        b.rewriter().emit("aten::einsum", {b.arg("equation"), terms, Argument()}, {type})[0];
    Value*& sum = sums[imaginary_parts % 2];
    if (imaginary_parts % 4 >= 2) {
      sum = sum == nullptr ? b.op("neg", {term}) : b.sub(sum, term);
    } else {
      sum = sum == nullptr ? term : b.add(sum, term);
    }
  }
  if (sums[0] == nullptr || sums[1] == nullptr) {
    throw Failure("einsum of real tensors does not give a complex one");
  }
  give(b, Parts{sums[0], sums[1]});
}

constexpr Decomposition kRules[] = {
    {"matmul", product},
    {"mm", product},
    {"bmm", product},
    {"mv", product},
    {"dot", product},
    {"inner", product},
    {"outer", product},
    {"kron", product},
    {"tensordot", product},
    {"cross", product},
    {"linalg_cross", product},
    {"vdot", product_with_conjugate},
    {"linalg_vecdot", product_with_conjugate},
    {"linear", linear},
    {"convolution", convolution},
    {"conv1d", convolution},
    {"conv1d.padding", convolution},
    {"conv2d", convolution},
    {"conv2d.padding", convolution},
    {"conv3d", convolution},
    {"conv3d.padding", convolution},
    {"conv_transpose1d", convolution},
    {"conv_transpose2d.input", convolution},
    {"conv_transpose3d.input", convolution},
    {"addmm", add_matrices},
    {"addmv", add_matrices},
    {"baddbmm", add_matrices},
    {"addbmm", add_sum_of_matrices},
    {"addr", add_outer},
    {"einsum", einsum},
};

}  // namespace

const Decompositions& complex_product_rules() {
  static const Decompositions table(std::begin(kRules), std::end(kRules));
  return table;
}

}  // namespace taper::exir
