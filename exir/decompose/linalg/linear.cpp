// Products of matrices and vectors: everything becomes mm, bmm or addmm over 2-d and 3-d views.

#include <algorithm>
#include <map>
#include <string>

#include "exir/decompose/rules.h"
#include "exir/ops/infer.h"

namespace taper::exir {
namespace {

using Sizes = std::vector<Sym>;

// x W^T + bias with x folded to two dimensions.
void linear(Builder& b) {
  Value* x = b.in("input");
  Value* weight = b.in("weight");
  const Sizes in = x->type.sizes;
  if (weight->type.rank() == 1) {
    Value* dot = b.op("matmul", {x, weight});
    return b.result(b.has("bias") ? b.add(dot, b.in("bias")) : dot);
  }
  Value* flat = b.view(x, {product(in, 0, in.size() - 1), in.back()});
  Value* transposed = b.permute(weight, {1, 0});
  Value* y = b.has("bias") ? b.op("addmm", {b.in("bias"), flat, transposed})
                           : b.op("mm", {flat, transposed});
  b.result(b.view(y, b.out_type().sizes));
}

// Broadcasts the batch dimensions to `batch` and folds them into one.
Value* batched(Builder& b, Value* x, const Sizes& batch) {
  Sizes full = batch;
  full.push_back(dim_of(x, -2));
  full.push_back(dim_of(x, -1));
  Value* wide = b.expand(x, full);
  return b.view(wide, {product(batch, 0, batch.size()), dim_of(x, -2), dim_of(x, -1)});
}

Value* matmul_of(Builder& b, Value* x, Value* y) {
  const size_t rx = x->type.rank(), ry = y->type.rank();
  if (rx == 0 || ry == 0) throw Failure("a matrix product needs at least one dimension");
  if (rx == 1 && ry == 1) return b.op("sum.dim_IntList", {b.mul(x, y), int_list({0})});
  if (rx == 1) {
    return b.squeeze(matmul_of(b, b.unsqueeze(x, 0), y), -2);
  }
  if (ry == 1) {
    return b.squeeze(matmul_of(b, x, b.unsqueeze(y, 1)), -1);
  }
  if (rx == 2 && ry == 2) return b.op("mm", {x, y});
  if (ry == 2) {  // Fold the batch into rows: one large product.
    const Sizes in = x->type.sizes;
    Value* flat = b.view(x, {product(in, 0, in.size() - 1), in.back()});
    Sizes out(in.begin(), in.end() - 1);
    out.push_back(dim_of(y, 1));
    return b.view(b.op("mm", {flat, y}), out);
  }
  const Sizes bx(x->type.sizes.begin(), x->type.sizes.end() - 2);
  const Sizes by(y->type.sizes.begin(), y->type.sizes.end() - 2);
  const Sizes batch = broadcast(bx, by);
  Value* z = b.op("bmm", {batched(b, x, batch), batched(b, y, batch)});
  Sizes out = batch;
  out.push_back(dim_of(x, -2));
  out.push_back(dim_of(y, -1));
  return b.view(z, out);
}
void matmul(Builder& b) { b.result(matmul_of(b, b.in("self"), b.in("other"))); }
void mv(Builder& b) { b.result(matmul_of(b, b.in("self"), b.in("vec"))); }
void dot(Builder& b) {
  Value* other = b.node().args[1].value();
  b.result(matmul_of(b, b.in("self"), other));
}
void inner(Builder& b) {
  Value* x = b.in("self");
  Value* y = b.in("other");
  if (x->type.rank() == 0 || y->type.rank() == 0) return b.result(b.mul(x, y));
  if (y->type.rank() == 1) return b.result(matmul_of(b, x, y));
  Value* flat = b.view(y, {product(y->type.sizes, 0, y->type.rank() - 1), dim_of(y, -1)});
  b.result(b.view(matmul_of(b, x, b.permute(flat, {1, 0})), b.out_type().sizes));
}
void outer(Builder& b) { b.result(b.mul(b.unsqueeze(b.in("self"), 1), b.node().args[1].value())); }

// A factor of a product; PyTorch truncates it if the product has integers.
Argument factor(Builder& b, std::string_view name) {
  const double value = b.arg(name).to_double();
  if (is_floating(b.out_type().dtype)) return value;
  return static_cast<int64_t>(value);
}

// beta * self + alpha * x y; self broadcasts over the product.
void add_product(Builder& b, Value* self, Value* x, Value* y) {
  Value* sum = b.op("addmm", {self, x, y, factor(b, "beta"), factor(b, "alpha")});
  b.result(b.view(sum, b.out_type().sizes));
}
void baddbmm_of_integers(Builder& b) {
  b.result(b.rewriter().emit(
      "aten::baddbmm",
      {b.in("self"), b.in("batch1"), b.in("batch2"), factor(b, "beta"), factor(b, "alpha")},
      {b.out_type()})[0]);
}
bool scales_integers_by_fraction(const Node& node) {
  const auto fraction = [&](std::string_view name) { return !node.arg(name).is_int(); };
  return !is_floating(node.outputs[0]->type.dtype) && (fraction("beta") || fraction("alpha"));
}
void addmv(Builder& b) {
  Value* self = b.in("self");
  if (self->type.rank() == 1) self = b.unsqueeze(self, 1);
  add_product(b, self, b.in("mat"), b.unsqueeze(b.in("vec"), 1));
}
// The sum over the batch is one product: the left matrices side by side times the right ones
// stacked.
void addbmm(Builder& b) {
  Value* x = b.in("batch1");
  Value* y = b.in("batch2");
  const Sym depth = dim_of(x, 0) * dim_of(x, 2);
  Value* left = b.view(b.permute(x, {1, 0, 2}), {dim_of(x, 1), depth});
  add_product(b, b.in("self"), left, b.view(y, {depth, dim_of(y, 2)}));
}
void addr(Builder& b) {
  const Argument beta = factor(b, "beta"), alpha = factor(b, "alpha");
  Value* product = b.mul(b.unsqueeze(b.in("vec1"), 1), b.in("vec2"));
  if (alpha.to_double() != 1) product = b.mul(product, alpha);
  if (beta.to_double() == 0) return b.result(product);
  Value* self = beta.to_double() == 1 ? b.in("self") : b.mul(b.in("self"), beta);
  b.result(b.add(self, product));
}

// y[n, o] = sum_ij x1[n, i] W[o, i, j] x2[n, j] + bias[o]
void bilinear(Builder& b) {
  Value* x1 = b.in("input1");
  Value* x2 = b.in("input2");
  Value* weight = b.in("weight");
  const Sym rows = product(x1->type.sizes, 0, x1->type.rank() - 1);
  const Sym out = dim_of(weight, 0), i = dim_of(weight, 1), j = dim_of(weight, 2);
  Value* flat = b.view(b.permute(weight, {1, 0, 2}), {i, out * j});
  Value* left = b.view(b.op("mm", {b.view(x1, {rows, i}), flat}), {rows, out, j});
  Value* y = b.op("bmm", {left, b.unsqueeze(b.view(x2, {rows, j}), 2)});
  y = b.view(y, b.out_type().sizes);
  b.result(b.has("bias") ? b.add(y, b.in("bias")) : y);
}

// ---- einsum ----

// The labels of each operand and of the result; "..." becomes upper-case letters from the right.
struct Equation {
  std::vector<std::string> inputs;
  std::string output;
};

std::string spread(const std::string& term, size_t rank) {
  const size_t dots = term.find("...");
  if (dots == std::string::npos) return term;
  std::string lead;
  const size_t extra = rank - (term.size() - 3);
  for (size_t i = 0; i < extra; ++i) lead.insert(lead.begin(), static_cast<char>('A' + i));
  return term.substr(0, dots) + lead + term.substr(dots + 3);
}

Equation parse_equation(std::string text, const std::vector<Value*>& operands) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  Equation eq;
  size_t at = 0, longest = 0;
  for (Value* operand : operands) {
    const size_t end = std::min(left.find(',', at), left.size());
    const std::string term = left.substr(at, end - at);
    eq.inputs.push_back(spread(term, operand->type.rank()));
    if (eq.inputs.back().size() != operand->type.rank()) {
      throw Failure("einsum '" + text + "': a term does not fit its operand's rank");
    }
    if (term.find("...") != std::string::npos) {
      longest = std::max(longest, operand->type.rank() - (term.size() - 3));
    }
    at = end + 1;
  }
  if (arrow != std::string::npos) {
    const std::string right = text.substr(arrow + 2);
    const bool dots = right.find("...") != std::string::npos;
    eq.output = spread(right, dots ? right.size() - 3 + longest : right.size());
    return eq;
  }
  std::map<char, int> count;
  for (const std::string& term : eq.inputs) {
    for (char c : term) ++count[c];
  }
  // Upper case (from "...") sorts first and is reversed below.
  for (const auto& [letter, n] : count) {
    if (n == 1 || letter < 'a') eq.output += letter;
  }
  const auto small =
      std::find_if(eq.output.begin(), eq.output.end(), [](char c) { return c >= 'a'; });
  std::reverse(eq.output.begin(), small);
  return eq;
}

// A tensor with a letter for each dimension.
struct Labelled {
  Value* x;
  std::string labels;
};

// Sums away the dimensions whose letter is not in `keep`.
Labelled reduce_to(Builder& b, Labelled t, const std::string& keep) {
  std::vector<int64_t> dims;
  std::string rest;
  for (size_t i = 0; i < t.labels.size(); ++i) {
    if (keep.find(t.labels[i]) == std::string::npos)
      dims.push_back(static_cast<int64_t>(i));
    else
      rest += t.labels[i];
  }
  if (dims.empty()) return t;
  return {b.op("sum.dim_IntList", {t.x, int_list(dims)}), rest};
}

// Keeps the diagonal of repeated letters.
Labelled diagonals(Builder& b, Labelled t) {
  for (size_t i = 0; i < t.labels.size(); ++i) {
    const size_t j = t.labels.find(t.labels[i], i + 1);
    if (j == std::string::npos) continue;
    t.x = b.op("diagonal", {t.x, 0, static_cast<int64_t>(i), static_cast<int64_t>(j)});
    t.labels = t.labels.substr(0, i) + t.labels.substr(i + 1, j - i - 1) + t.labels.substr(j + 1) +
               t.labels[i];
    return diagonals(b, t);
  }
  return t;
}

Value* order(Builder& b, const Labelled& t, const std::string& labels) {
  std::vector<int64_t> dims;
  for (char c : labels) dims.push_back(static_cast<int64_t>(t.labels.find(c)));
  return b.permute(t.x, dims);
}

Sizes sizes_of(const Labelled& t, const std::string& labels) {
  Sizes out;
  for (char c : labels) out.push_back(t.x->type.sizes[t.labels.find(c)]);
  return out;
}

// Contracts both by one bmm: shared letters in `keep` are batch dimensions, other shared ones are
// summed over.
Labelled contract(Builder& b, Labelled left, Labelled right, const std::string& keep) {
  left = reduce_to(b, left, right.labels + keep);
  right = reduce_to(b, right, left.labels + keep);
  std::string batch, rows, columns, summed;
  for (char c : left.labels) {
    const bool in_right = right.labels.find(c) != std::string::npos;
    const bool kept = keep.find(c) != std::string::npos;
    (!in_right ? rows : kept ? batch : summed) += c;
  }
  for (char c : right.labels) {
    if (left.labels.find(c) == std::string::npos) columns += c;
  }
  for (char c : batch + summed) {  // A size of 1 broadcasts.
    const Sym l = sizes_of(left, {c})[0], r = sizes_of(right, {c})[0];
    for (Labelled* t : {&left, &right}) {
      Sizes sizes = t->x->type.sizes;
      Sym& size = sizes[t->labels.find(c)];
      if (size == Sym(1)) size = l == Sym(1) ? r : l;
      t->x = b.expand(t->x, sizes);
    }
  }
  const Sizes bs = sizes_of(left, batch), rs = sizes_of(left, rows);
  const Sizes cs = sizes_of(right, columns), ss = sizes_of(left, summed);
  const Sym nb = product(bs, 0, bs.size()), nr = product(rs, 0, rs.size());
  const Sym nc = product(cs, 0, cs.size()), ns = product(ss, 0, ss.size());
  Value* x = b.view(order(b, left, batch + rows + summed), {nb, nr, ns});
  Value* y = b.view(order(b, right, batch + summed + columns), {nb, ns, nc});
  Sizes out = bs;
  out.insert(out.end(), rs.begin(), rs.end());
  out.insert(out.end(), cs.begin(), cs.end());
  return {b.view(b.op("bmm", {x, y}), out), batch + rows + columns};
}

void einsum(Builder& b) {
  std::vector<Value*> operands;
  for (const Argument& item : b.arg("tensors").list()) operands.push_back(item.value());
  const Equation eq = parse_equation(b.arg("equation").text(), operands);
  Labelled total = diagonals(b, {operands.at(0), eq.inputs[0]});
  for (size_t i = 1; i < operands.size(); ++i) {
    std::string keep = eq.output;
    for (size_t j = i + 1; j < operands.size(); ++j) keep += eq.inputs[j];
    total = contract(b, total, diagonals(b, {operands[i], eq.inputs[i]}), keep);
  }
  total = reduce_to(b, total, eq.output);
  b.result(order(b, total, eq.output));
}

// ---- grouped products: each group of rows has its own matrix ----

constexpr int64_t kMostGroups = 4096;

// x [T, K] times y [G, K, N]: row t, which is of group g if ends[g - 1] <= t < ends[g], is
// multiplied by y[g]; rows past the last end give zeros. Few rows gather their own matrices; many
// rows are multiplied by every matrix, and each keeps the result of its own.
Value* grouped(Builder& b, Value* x, Value* y, Value* ends) {
  const Sym rows = dim_of(x, 0), groups = dim_of(y, 0);
  if (!groups.is_int() || groups.as_int() < 1 || groups.as_int() > kMostGroups) {
    throw Failure("a grouped product of " + groups.text() + " groups");
  }
  Value* at = b.unsqueeze(b.arange(0, rows, ends->type.dtype), 1);
  Value* past = b.op("ge.Tensor", {at, b.unsqueeze(ends, 0)});
  Value* group = b.op("sum.dim_IntList", {past, int_list({1})});
  Value* zero = b.constant(0, x->type.dtype);
  if (rows.is_int() && rows.as_int() <= groups.as_int()) {
    Value* index = b.op("clamp", {group, Argument(), groups.as_int() - 1});
    Value* own = b.op("index_select", {y, 0, index});
    Value* product = b.squeeze(b.op("bmm", {b.unsqueeze(x, 1), own}), 1);
    Value* inside = b.unsqueeze(b.op("lt.Scalar", {group, groups.as_int()}), 1);
    return b.op("where.self", {inside, product, zero});
  }
  Value* total = nullptr;
  for (int64_t g = 0; g < groups.as_int(); ++g) {
    Value* mine = b.unsqueeze(b.op("eq.Scalar", {group, g}), 1);
    Value* product = b.op("mm", {x, b.select(y, 0, g)});
    total = b.op("where.self", {mine, product, total != nullptr ? total : zero});
  }
  return total;
}

void grouped_mm(Builder& b) {
  Value* x = b.in("self");
  Value* y = b.in("mat2");
  if (b.has("bias")) throw Failure("_grouped_mm with a bias");
  if (x->type.rank() == 3 && y->type.rank() == 3) return b.result(b.op("bmm", {x, y}));
  if (x->type.rank() != 2 || y->type.rank() != 3 || !b.has("offs")) {
    throw Failure("_grouped_mm of ranks other than 2 by 3 and 3 by 3");
  }
  b.result(grouped(b, x, y, b.in("offs")));
}
// What transformers exports for dtypes that _grouped_mm does not take.
void grouped_mm_fallback(Builder& b) {
  b.result(grouped(b, b.node().args.at(0).value(), b.node().args.at(1).value(),
                   b.node().args.at(2).value()));
}

// What nn.Bilinear is exported as: unsqueezes three operands, multiplies them, and sums.
void trilinear(Builder& b) {
  Value* all = nullptr;
  for (const char* which : {"1", "2", "3"}) {
    Value* x = b.in(std::string("i") + which);
    for (const int64_t d : to_ints(b.arg(std::string("expand") + which))) x = b.unsqueeze(x, d);
    all = all == nullptr ? x : b.mul(all, x);
  }
  const std::vector<int64_t> dims = to_ints(b.arg("sumdim"));
  b.result(dims.empty() ? all : b.sum(all, dims));
}

}  // namespace

const Decompositions& linear_rules() {
  static const Decompositions table = {
      {"_trilinear", trilinear, kWide},
      {"linear", linear},
      {"matmul", matmul},
      {"mv", mv},
      {"dot", dot},
      {"vdot", dot},
      {"inner", inner},
      {"outer", outer},
      {"baddbmm", baddbmm_of_integers, Precision::kSame, scales_integers_by_fraction},
      {"addmv", addmv},
      {"addbmm", addbmm},
      {"addr", addr, kWide},
      {"bilinear", bilinear},
      {"einsum", einsum},
      {"_grouped_mm", grouped_mm},
      {"transformers::grouped_mm_fallback", grouped_mm_fallback},
  };
  return table;
}

}  // namespace taper::exir
