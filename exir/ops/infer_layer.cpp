// Types of products, convolution, pooling and normalisation.

#include <algorithm>

#include "exir/ops/promote.h"
#include "exir/ops/type_rules.h"

namespace taper::exir::rules {

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
  sizes.pop_back();
  if (c.tensor(1).rank() > 1) sizes.push_back(c.tensor(1).sizes[0]);
  return {TensorType(c.tensor(0).dtype, sizes)};
}
Types packed_linear_rows(const Call& c) {
  Sizes sizes = c.tensor(0).sizes;
  sizes.at(sizes.size() - 1) = c.tensor(3).sizes.at(0);
  return {TensorType(c.tensor(1).dtype, sizes)};
}
Types looked_up(const Call& c) {
  Sizes sizes = c.tensor(0).sizes;
  sizes.at(sizes.size() - 1) = sizes.back() * c.tensor(1).sizes.at(1);
  return {TensorType(c.tensor(1).dtype, sizes)};
}
Types quantized_rows(const Call& c) {
  Sizes each = c.tensor(0).sizes;
  each.at(each.size() - 1) = Sym(1);
  return {TensorType(ScalarType::kChar, c.tensor(0).sizes), TensorType(c.tensor(0).dtype, each),
          TensorType(ScalarType::kChar, each)};
}
// Attention over tensors of the same rank, whose batch dimensions broadcast.
Types attention(const Call& c) {
  Sizes sizes = c.tensor("query").sizes;
  const Sizes &key = c.tensor("key").sizes, &value = c.tensor("value").sizes;
  for (size_t d = 0; d + 2 < sizes.size(); ++d) {
    if (sizes[d] == Sym(1)) sizes[d] = key.at(d);
    if (sizes[d] == Sym(1)) sizes[d] = value.at(d);
  }
  sizes.at(sizes.size() - 1) = value.at(value.size() - 1);
  return {TensorType(c.tensor("query").dtype, sizes)};
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

static Sym conv_length(const Call& c, const Sym& in, size_t axis, int64_t kernel) {
  const auto at = [&](std::string_view name) {
    const std::vector<int64_t> list = to_ints(c.arg(name));
    return list.at(list.size() == 1 ? 0 : axis);
  };
  if (!c.flag("transposed")) {
    return window_length(in, kernel, at("stride"), at("padding"), at("dilation"), false);
  }
  return (in - Sym(1)) * Sym(at("stride")) - Sym(2) * Sym(at("padding")) +
         Sym(at("dilation")) * (Sym(kernel) - Sym(1)) + Sym(at("output_padding")) + Sym(1);
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

static Sizes pooled(const Call& c) {
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

// The output sizes are given by output_size, or by factors of the input's sizes.
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

// ---- linear algebra: sizes without the last `dropped` ----

static TensorType without_last(const TensorType& of, size_t dropped, ScalarType dtype) {
  if (of.rank() < 2) throw Failure("linear algebra needs matrices");
  return TensorType(dtype, Sizes(of.sizes.begin(), of.sizes.end() - static_cast<int>(dropped)));
}
Types linalg_det(const Call& c) {
  const TensorType& a = c.tensor(0);
  return {without_last(a, 2, a.dtype), TensorType(a.dtype, a.sizes),
          without_last(a, 1, ScalarType::kInt)};
}
Types linalg_slogdet(const Call& c) {
  Types types = linalg_det(c);
  types.insert(types.begin(), types[0]);
  return types;
}
Types linalg_solve(const Call& c) {
  const TensorType& a = c.tensor(0);
  return {TensorType(c.tensor(1).dtype, c.tensor(1).sizes), TensorType(a.dtype, a.sizes),
          without_last(a, 1, ScalarType::kInt), without_last(a, 2, ScalarType::kInt)};
}
Types linalg_cholesky(const Call& c) {
  const TensorType& a = c.tensor(0);
  return {TensorType(a.dtype, a.sizes), without_last(a, 2, ScalarType::kInt)};
}
// A [..., m, n] gives matrices [..., m, inner] and [..., inner, n].
Types linalg_qr(const Call& c) {
  const TensorType& a = c.tensor(0);
  TensorType q = without_last(a, 0, a.dtype), r = q;
  const Sym rows = q.sizes[q.rank() - 2], columns = q.sizes[q.rank() - 1];
  const Sym inner = c.arg("mode").text() == "complete" ? rows : min(rows, columns);
  q.sizes.back() = r.sizes[r.rank() - 2] = inner;
  return {q, r};
}
Types linalg_svd(const Call& c) {
  const TensorType& a = c.tensor(0);
  TensorType u = without_last(a, 0, a.dtype), vh = u, s = without_last(a, 1, a.dtype);
  const Sym rows = u.sizes[u.rank() - 2], columns = u.sizes[u.rank() - 1];
  s.sizes.back() = min(rows, columns);
  const bool full = c.arg("full_matrices").to_bool();
  u.sizes.back() = full ? rows : s.sizes.back();
  vh.sizes[vh.rank() - 2] = full ? columns : s.sizes.back();
  return {u, s, vh};
}
Types linalg_eigh(const Call& c) {
  const TensorType& a = c.tensor(0);
  return {without_last(a, 1, a.dtype), TensorType(a.dtype, a.sizes)};
}
Types linalg_triangular(const Call& c) {
  return {TensorType(c.tensor(1).dtype, c.tensor(1).sizes)};
}

// ---- Fourier transforms; complex numbers are pairs in a last dimension ----

Types fft_r2c(const Call& c) {
  TensorType out = c.tensor("self");
  const Sym n = out.sizes.at(out.rank() - 1);
  if (c.arg("onesided").to_bool()) out.sizes.back() = floor_div(n, Sym(2)) + Sym(1);
  out.sizes.emplace_back(2);
  return {TensorType(out.dtype, out.sizes)};
}
Types fft_c2r(const Call& c) {
  Sizes sizes = c.tensor("self").sizes;
  sizes.pop_back();
  sizes.at(sizes.size() - 1) = c.tensor("turns").sizes.at(0);
  return {TensorType(c.tensor("self").dtype, sizes)};
}

// ---- recurrent layers ----

Types gru(const Call& c) {
  Sizes out = c.tensor("gates").sizes;
  out.at(2) = c.tensor("weight").sizes.at(0) * c.tensor("h0").sizes.at(2);
  const ScalarType dtype = c.tensor("gates").dtype;
  return {TensorType(dtype, out), TensorType(dtype, c.tensor("h0").sizes)};
}

Types lstm(const Call& c) {
  Types types = gru(c);
  types.emplace_back(types[0].dtype, c.tensor("c0").sizes);
  return types;
}

}  // namespace taper::exir::rules
